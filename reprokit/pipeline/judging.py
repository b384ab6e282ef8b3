"""Verdicts from the runs a kit holds. Nothing is run here, and nothing is remembered: it is derived again each time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reprokit.analyze import candidates as judge_candidates
from reprokit.analyze import verdict as judge_verdict
from reprokit.model.kit import Candidate, KitDeclaration, RunDeclaration
from reprokit.model.run import Run
from reprokit.model.verdict import CandidateVerdict, Verdict
from reprokit.pipeline.facts import Facts
from reprokit.store.kit import Kit


def trials(found: Facts, key: str, cluster: str | None = None) -> list[Run]:
    """Sealed trials of one arm in the order they were made; only those from `cluster` where one is given."""
    return [
        found.runs[run_id]
        for run_id, declared in sorted(found.declared.items(), key=lambda item: _order(item[0]))
        if declared.arm == key
        and found.runs[run_id].state == "sealed"
        and (cluster is None or declared.cluster == cluster)
    ]


def verdict_of(found: Facts, runs: Sequence[Run]) -> Verdict:
    """Several trials of one arm against the subject, as one verdict."""
    if found.subject is None:
        return Verdict(outcome="inconclusive", reasons=("The kit has no subject run.",))
    single = [judge_verdict.judge(found.subject, run, found.pass_iterations) for run in runs]
    return judge_verdict.combine(single)


def without_subject(found: Facts, run: Run) -> Verdict:
    """What a first recording shows that cannot be a subject: it passed, or nothing in it can be recognised."""
    return judge_verdict.judge(run, run, found.pass_iterations)


def unexpected(declaration: KitDeclaration, subject: Run) -> tuple[str, ...]:
    """Where the recorded failure is not the one that the recipe says its job has."""
    if declaration.expect is None or subject.failure is None:
        return ()
    wanted: dict[str, tuple[str | None, str | None]] = {
        "failure kind": (declaration.expect.kind, subject.failure.kind),
        "site": (declaration.expect.site, subject.failure.site),
    }
    return tuple(
        f"the recipe expects the {name} {expected}; {subject.id} shows {seen or 'none'}"
        for name, (expected, seen) in wanted.items()
        if expected is not None and expected != seen
    )


def decisive(found: Facts, runs: Sequence[Run]) -> list[Run]:
    """Runs whose own verdict is not inconclusive."""
    return [run for run in runs if verdict_of(found, [run]).outcome != "inconclusive"]


def base_trials(found: Facts) -> list[Run]:
    """Trials of the unpatched, unvaried arm, whatever executor ran them."""
    return [
        found.runs[run_id]
        for run_id, declared in found.declared.items()
        if _is_base(declared) and found.runs[run_id].state == "sealed"
    ]


def _is_base(declared: RunDeclaration) -> bool:
    spec = declared.arm_spec
    return spec is not None and not spec.patches and not spec.overrides and declared.role == "control"


def reproduction(found: Facts) -> Verdict:
    """Does the kit's failure come back? From all trials of its base arm."""
    return verdict_of(found, base_trials(found))


def candidate_verdicts(kit: Kit, found: Facts) -> list[CandidateVerdict]:
    """Each candidate that was tried, from all its runs of one arm and place; of several arms the last decided one."""
    verdicts = []
    for candidate in found.declaration.candidates:
        judged = [judge_arm(kit, found, candidate, runs) for runs in _tried(found, candidate)]
        decided = [verdict for verdict in judged if verdict.outcome != "inconclusive"]
        if judged:
            verdicts.append((decided or judged)[-1])
    return verdicts


def _tried(found: Facts, candidate: Candidate) -> list[list[Run]]:
    """Sealed runs with the candidate's patch alone: those of one arm and place together, in the order made."""
    groups: dict[tuple[str | None, str | None], list[Run]] = {}
    for run_id in sorted(found.declared, key=_order):
        declared = found.declared[run_id]
        spec = declared.arm_spec
        if spec is None or [patch.sha256 for patch in spec.patches] != [candidate.sha256]:
            continue
        if found.runs[run_id].state == "sealed":
            groups.setdefault((declared.arm, declared.cluster), []).append(found.runs[run_id])
    return list(groups.values())


def _order(run_id: str) -> tuple[str, int]:
    """`control-local-10` after `control-local-9`."""
    stem, _, number = run_id.rpartition("-")
    return (stem, int(number)) if number.isascii() and number.isdecimal() else (run_id, 0)


def judge_arm(kit: Kit, found: Facts, candidate: Candidate, patched: list[Run]) -> CandidateVerdict:
    """All runs of one candidate arm against all of its control arm: attempts that disagree decide nothing."""
    declared = found.declared[patched[-1].id]
    base = declared.base or found.declaration.base
    if patched[-1].patch_applied is False:
        return judge_candidates.does_not_apply(candidate, base, f"{patched[-1].not_started}.")
    controls = _controls(found, declared)
    if not controls or found.subject is None:
        return judge_candidates.without_control(candidate, base, patched[-1])
    held = verdict_of(found, controls)
    if held.outcome != "reproduced":
        return judge_candidates.unsound_control(candidate, base, controls[-1], patched[-1], held)
    control = decisive(found, controls)[-1]
    verdict = judge_candidates.combined(
        [
            judge_candidates.judge_candidate(
                candidate, base, found.subject, control, run, found.pass_iterations
            )
            for run in patched
        ]
    )
    return _with_proof(kit, verdict)


def _with_proof(kit: Kit, verdict: CandidateVerdict) -> CandidateVerdict:
    """A patch counts only if what it changes was run: a fix of which nothing is proven to have run is none."""
    proof = proven_files(kit, verdict.patched) if verdict.patched else {}
    wanting = sorted(name for name, seen in proof.items() if not seen)
    if not wanting:
        return verdict
    said = f"That {', '.join(wanting)} was run from the patched tree was not observed."
    if verdict.outcome == "fixes" and not any(proof.values()):
        return msgspec.structs.replace(verdict, outcome="inconclusive", reasons=(said, *verdict.reasons))
    return msgspec.structs.replace(verdict, limitations=(*verdict.limitations, said))


def judge_stated(found: Facts, candidate: Candidate, control: Run, patched: Run) -> CandidateVerdict:
    """Two runs of which a person says what they are. Without the patch in the run's arm that stays stated."""
    base = found.declared[patched.id].base or found.declaration.base
    subject = found.subject or control
    verdict = judge_candidates.judge_candidate(
        candidate, base, subject, control, patched, found.pass_iterations
    )
    spec = found.declared[patched.id].arm_spec
    ran_here = spec is not None and [patch.sha256 for patch in spec.patches] == [candidate.sha256]
    return verdict if ran_here else msgspec.structs.replace(verdict, how="stated")


def _controls(found: Facts, declared: RunDeclaration) -> list[Run]:
    """Runs from the same place that differ from `declared` in its patches alone, in the order they were made."""
    if declared.arm_spec is None:
        return []
    wanted = msgspec.structs.replace(declared.arm_spec, patches=()).key
    return trials(found, wanted, declared.cluster)


def proven_files(kit: Kit, run_id: str) -> dict[str, bool]:
    """Files that a trial's patches changed, and whether something proves that the run used them."""
    path = kit.run(run_id).folder / "launch" / "patched-files.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, bool])
    except (OSError, msgspec.MsgspecError):
        return {}

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
    """Sealed trials of one arm, in id order; only those from `cluster` where one is given."""
    return [
        found.runs[run_id]
        for run_id, declared in found.declared.items()
        if declared.arm == key
        and found.runs[run_id].state == "sealed"
        and (cluster is None or declared.cluster == cluster)
    ]


def verdict_of(found: Facts, runs: Sequence[Run]) -> Verdict:
    """Several trials of one arm against the subject, as one verdict."""
    if found.subject is None:
        return Verdict(outcome="inconclusive", reasons=("The kit has no subject run.",))
    single = [judge_verdict.judge(found.subject, run, found.pass_iterations) for run in runs]
    decided = [verdict for verdict in single if verdict.outcome != "inconclusive"]
    return judge_verdict.combine(decided or single)


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
    """Each candidate that was tried, with its newest decisive run against a control of the same arm otherwise."""
    verdicts = []
    for candidate in found.declaration.candidates:
        judged = [judge_one(kit, found, candidate, run) for run in _tried(found, candidate)]
        decided = [verdict for verdict in judged if verdict.outcome != "inconclusive"]
        if judged:
            verdicts.append((decided or judged)[-1])
    return verdicts


def _tried(found: Facts, candidate: Candidate) -> list[Run]:
    return [
        found.runs[run_id]
        for run_id, declared in found.declared.items()
        if declared.arm_spec is not None
        and [patch.sha256 for patch in declared.arm_spec.patches] == [candidate.sha256]
        and found.runs[run_id].state == "sealed"
    ]


def judge_one(kit: Kit, found: Facts, candidate: Candidate, patched: Run) -> CandidateVerdict:
    """One candidate run against its control."""
    declared = found.declared[patched.id]
    base = declared.base or found.declaration.base
    if patched.patch_applied is False:
        return judge_candidates.does_not_apply(candidate, base, f"{patched.not_started}.")
    control = _control(found, declared)
    if control is None or found.subject is None:
        return judge_candidates.without_control(candidate, base, patched)
    verdict = judge_candidates.judge_candidate(
        candidate, base, found.subject, control, patched, found.pass_iterations
    )
    proof = unproven_imports(kit, patched.id)
    if proof:
        said = f"That {', '.join(proof)} was imported from the patched tree was not observed."
        verdict = msgspec.structs.replace(verdict, limitations=(*verdict.limitations, said))
    return verdict


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


def _control(found: Facts, declared: RunDeclaration) -> Run | None:
    """The newest run that differs from `declared` in its patches alone; a decisive one if there is any."""
    if declared.arm_spec is None:
        return None
    wanted = msgspec.structs.replace(declared.arm_spec, patches=()).key
    same = [run for run in trials(found, wanted) if found.declared[run.id].cluster == declared.cluster]
    sure = decisive(found, same)
    known = sure or same
    return known[-1] if known else None


def unproven_imports(kit: Kit, run_id: str) -> list[str]:
    """Patched Python files of a trial that nothing proves to have been imported."""
    path = kit.run(run_id).folder / "launch" / "patched-files.json"
    try:
        proof = msgspec.json.decode(path.read_bytes(), type=dict[str, bool])
    except (OSError, msgspec.MsgspecError):
        return []
    return sorted(name for name, seen in proof.items() if not seen)

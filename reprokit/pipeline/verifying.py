"""Candidates on the fixed base against a control: run what is missing, then judge from evidence."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from reprokit.errors import InputError
from reprokit.launch import scratch
from reprokit.launch.executor import Executor
from reprokit.model.kit import Candidate
from reprokit.model.verdict import CandidateVerdict
from reprokit.pipeline import adopting, judging, launches, running, sealing
from reprokit.pipeline.facts import facts, require_sound
from reprokit.pipeline.launches import Variation, kit_recipe
from reprokit.pipeline.progress import Progress
from reprokit.probe import git
from reprokit.probe.host import here
from reprokit.store.kit import Kit


class Verified(Struct, frozen=True, kw_only=True):
    """The judged candidates, and the runs that were made for them."""

    candidates: tuple[CandidateVerdict, ...]
    new: tuple[str, ...]


def base_variation(kit: Kit, base: str | None) -> Variation:
    """The base arm, at another revision of the kit's code where `base` names one."""
    if base is None:
        return Variation()
    with scratch.folder() as own:
        try:
            commit = git.resolve(kit.layout.bundle, own, base)
        except git.GitError:
            raise InputError(f"--base {base}: the kit's code has no such revision") from None
    if commit == kit_recipe(kit).source.commit:
        return Variation()
    return Variation(overrides={"source.commit": f'"{commit}"'})


def verify(
    kit: Kit, candidates: tuple[Candidate, ...], on: Executor, progress: Progress, base: str | None = None
) -> Verified:
    """Run the control and each candidate where no decisive run of that arm exists yet, and judge them."""
    plain = base_variation(kit, base)
    new = list(running.ensure(kit, plain, on, 1, progress).new)
    verdicts = []
    for candidate in candidates:
        patch = kit.root / candidate.patch
        variation = Variation(overrides=plain.overrides, patches=(patch,))
        ran = running.ensure(kit, variation, on, 1, progress)
        new += ran.new
        found = facts(kit)
        verdicts.append(judging.judge_arm(kit, found, candidate, [found.runs[run_id] for run_id in ran.runs]))
    return Verified(candidates=tuple(verdicts), new=tuple(new))


def verify_patches(
    kit: Kit, patches: tuple[Path, ...], on: Executor, progress: Progress, base: str | None = None
) -> tuple[CandidateVerdict, ...]:
    """`verify`: patch files as candidates of the kit, each run and judged."""
    sealing.refuse_live(kit)
    sealing.seal_finished(kit)
    require_sound(kit)
    candidates = tuple(adopting.adopt(kit, patch) for patch in patches)
    return verify(kit, candidates, on, progress, base).candidates


def plan(kit: Kit, patches: tuple[Path, ...], on: Executor, base: str | None) -> list[str]:
    """Which runs `verify` would make."""
    found = facts(kit, cache=False)
    plain = base_variation(kit, base)
    arms = [("control", plain)]
    arms += [(patch.stem, Variation(overrides=plain.overrides, patches=(patch,))) for patch in patches]
    lines = []
    for name, variation in arms:
        key = launches.arm_of(kit, variation, on.kind).key
        done = judging.decisive(found, judging.trials(found, key, here()))
        lines.append(f"{name:<24} {'done: ' + done[-1].id if done else 'one run on ' + on.kind}  (arm {key})")
    return lines


def judge_existing(kit: Kit, candidate_id: str, control: str, patched: str) -> CandidateVerdict:
    """Judge two runs that exist, as a person says that they are control and patched."""
    found = facts(kit)
    by_id = {candidate.id: candidate for candidate in kit.declaration.candidates}
    if candidate_id not in by_id:
        raise InputError(f"no candidate {candidate_id!r}", hint="candidates: " + (", ".join(by_id) or "none"))
    for run_id in (control, patched):
        if run_id not in found.runs:
            raise InputError(f"no run {run_id!r}", hint="runs: " + ", ".join(found.runs))
    return judging.judge_stated(found, by_id[candidate_id], found.runs[control], found.runs[patched])

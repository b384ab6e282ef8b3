"""As many decisive trials of an arm as asked for, counting those that exist."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from reprokit.errors import UsageError
from reprokit.launch.executor import Executor
from reprokit.launch.table import EXECUTORS
from reprokit.model.run import Run
from reprokit.model.verdict import Verdict
from reprokit.pipeline import adopting, judging, launches, sealing
from reprokit.pipeline.facts import Facts, facts, need_subject, require_sound
from reprokit.pipeline.launches import Variation
from reprokit.pipeline.progress import Progress
from reprokit.pipeline.trial import trial
from reprokit.probe.host import here
from reprokit.redact import secrets
from reprokit.store.kit import Kit


class Ran(Struct, frozen=True, kw_only=True):
    """What came of it: the arm's trials, which of them are new, and their verdict together."""

    verdict: Verdict
    runs: tuple[str, ...]
    new: tuple[str, ...]


class Asked(Struct, frozen=True, kw_only=True):
    """An arm as words on a command line."""

    env: dict[str, str] = {}
    overrides: dict[str, str] = {}
    patches: tuple[Path, ...] = ()


def run(kit: Kit, asked: Asked, on: Executor, times: int, progress: Progress) -> Ran:
    """`run`: adopt the patches, seal what was left open, and make the trials that are missing."""
    sealing.refuse_live(kit)
    sealing.seal_finished(kit)
    require_sound(kit)
    patches = tuple(kit.root / adopting.adopt(kit, patch).patch for patch in asked.patches)
    variation = Variation(env=asked.env, overrides=asked.overrides, patches=patches)
    return ensure(kit, variation, on, times, progress)


def script_text(kit: Kit, asked: Asked) -> str:
    """The launch script of an arm, secrets left out. Patches are applied to its working tree and do not show in it."""
    launch = launches.launch_of(kit, Variation(env=asked.env, overrides=asked.overrides))
    text = launches.script(kit, launch, "reprokit run")
    return secrets.redact(text.encode()).data.decode()


def executor(name: str) -> Executor:
    """The executor of that name. Raises UsageError naming those there are."""
    if name not in EXECUTORS:
        raise UsageError(f"--on {name}: not one of {', '.join(EXECUTORS)}")
    return EXECUTORS[name]


def ensure(kit: Kit, variation: Variation, on: Executor, times: int, progress: Progress) -> Ran:
    """Run the arm until it has `times` decisive trials from here; a trial that decides nothing is not repeated.

    A patch that was refused by git counts as tried: it cannot apply better the second time.
    """
    role, stem = naming(kit, variation)
    key = launches.arm_of(kit, variation, on.kind).key
    found = facts(kit)
    need_subject(found)
    new: list[str] = []
    missing = times - len(_decisive(found, key))
    for number in range(max(0, missing)):
        progress.begin(stage_name(stem, number, missing))
        try:
            run_id = trial(kit, variation, role, stem, on, progress)
        finally:
            progress.stop()
        new.append(run_id)
        found = facts(kit)
        progress.end(_result(found, run_id))
    runs = judging.trials(found, key, here())
    decided = _decisive(found, key)
    verdict = judging.verdict_of(found, [run for run in runs if run in decided or run.id in new])
    if len(decided) < times and verdict.outcome != "inconclusive":
        said = f"Only {len(decided)} of the {times} trials asked for decided anything."
        verdict = msgspec.structs.replace(verdict, outcome="inconclusive", reasons=(said, *verdict.reasons))
    return Ran(verdict=verdict, runs=tuple(run.id for run in runs), new=tuple(new))


def _result(found: Facts, run_id: str) -> str:
    """A trial's outcome in a word."""
    if found.runs[run_id].patch_applied is False:
        return "the patch does not apply"
    return judging.verdict_of(found, [found.runs[run_id]]).outcome


def _decisive(found: Facts, key: str) -> list[Run]:
    runs = judging.trials(found, key, here())
    return [run for run in runs if run.patch_applied is False or judging.decisive(found, [run])]


def stage_name(stem: str, number: int, of: int) -> str:
    """What the person at the terminal reads."""
    return f"run {stem}" if of == 1 else f"run {stem} ({number + 1} of {of})"


def naming(kit: Kit, variation: Variation) -> tuple[str, str]:
    """Role and id stem of an arm's runs: control for the base, the candidate's id for a patch, else `varied`."""
    if variation.patches:
        return "patched", "+".join(path.stem for path in variation.patches).replace("+", "-and-")[:60]
    if variation.env or variation.overrides:
        return "varied", "varied"
    return "control", "control"

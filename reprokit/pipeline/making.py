"""`make`: record, emit, run, verify, report. A stage whose result is there is said to be done and not repeated."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from reprokit.errors import INCONCLUSIVE, NO, OK
from reprokit.launch.executor import Executor
from reprokit.model.run import Run
from reprokit.model.verdict import CandidateVerdict, Verdict
from reprokit.pipeline import (
    create,
    emitting,
    judging,
    launches,
    reporting,
    running,
    sealing,
    showing,
    verifying,
)
from reprokit.pipeline.facts import facts, require_sound
from reprokit.pipeline.progress import Progress
from reprokit.pipeline.trial import record_subject
from reprokit.probe.host import here
from reprokit.store import kit as store_kit
from reprokit.store import recipes
from reprokit.store.kit import Kit

DEMO = "host-oom"
"""The shipped recipe that `demo` makes."""

NAMES = ("record", "emit", "run", "verify", "report")

BLOCKS = {"record": frozenset(NAMES), "run": frozenset({"verify"})}
"""What makes no sense after a stage failed. A failure that did not come back is still worth a report."""

State = Literal["done", "ran", "failed", "skipped"]


class Stage(Struct, frozen=True, kw_only=True):
    """One stage of `make --json`. `run`: the newest run it made or found, if it is about runs."""

    name: str
    state: State
    seconds: float
    run: str | None = None


class Made(Struct, frozen=True, kw_only=True):
    """What `make --json` prints."""

    kit: str
    stages: tuple[Stage, ...]
    verdict: Verdict | None
    candidates: tuple[CandidateVerdict, ...]
    wrote: tuple[str, ...]
    unexpected: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0: reproduced, as the recipe expects, each candidate too; 1: the answer is no; 125: undecided."""
        if self.verdict is None or self.verdict.outcome == "inconclusive":
            return INCONCLUSIVE
        if self.verdict.outcome != "reproduced" or self.unexpected:
            return NO
        return candidates_code(self.candidates)


def candidates_code(candidates: tuple[CandidateVerdict, ...]) -> int:
    """0 if each was judged and any expected outcome was met, 125 if one is inconclusive, else 1."""
    if any(candidate.outcome == "inconclusive" for candidate in candidates):
        return INCONCLUSIVE
    return OK if all(candidate.as_expected for candidate in candidates) else NO


class Maker:
    """One call of `make` on one kit. Holds what the stages hand on."""

    def __init__(self, kit: Kit, on: Executor, progress: Progress) -> None:
        self.kit, self.on, self.progress = kit, on, progress
        self.stages: list[Stage] = []
        self.wrote: list[Path] = []
        self.verdict: Verdict | None = None
        self.candidates: tuple[CandidateVerdict, ...] = ()
        self.unexpected: tuple[str, ...] = ()

    def make(self) -> Made:
        """All stages in order; the first that settles the answer skips the rest."""
        sealing.refuse_live(self.kit)
        sealing.seal_finished(self.kit)
        require_sound(self.kit)
        actions: dict[str, Callable[[], tuple[State, str | None]]] = {
            "record": self._record,
            "emit": self._emit,
            "run": self._run,
            "verify": self._verify,
            "report": self._report,
        }
        blocked: set[str] = set()
        for name in NAMES:
            begun = time.monotonic()
            state, run_id = ("skipped", None) if name in blocked else actions[name]()
            self.stages.append(
                Stage(name=name, state=state, seconds=round(time.monotonic() - begun, 3), run=run_id)
            )
            if state == "failed":
                blocked |= BLOCKS[name]
        return Made(
            kit=str(self.kit.root),
            stages=tuple(self.stages),
            verdict=self.verdict,
            candidates=self.candidates,
            wrote=tuple(str(path) for path in self.wrote),
            unexpected=self.unexpected,
        )

    def _record(self) -> tuple[State, str | None]:
        """Done iff the kit has a subject run that failed in a way that can be recognised."""
        subject = facts(self.kit).subject
        if subject is not None and subject.fingerprint is not None:
            self.unexpected = judging.unexpected(self.kit.declaration, subject)
            self.progress.begin("record")
            self.progress.end(f"done before ({subject.id})")
            return "done", subject.id
        run_id = self._orphan()
        state: State = "done"
        if run_id is None:
            state = "ran"
            self.progress.begin("record")
            try:
                run_id = record_subject(self.kit, self.on, self.progress)
            finally:
                self.progress.stop()
        found = facts(self.kit)
        run = found.runs[run_id]
        if state == "ran":
            self.progress.end(_recorded(run))
        if run.fingerprint is None:
            self.verdict = judging.without_subject(found, run)
            return "failed", run_id
        self.unexpected = judging.unexpected(self.kit.declaration, run)
        self.kit.declare(subject=run_id)
        return state, run_id

    def _orphan(self) -> str | None:
        """A failing recording whose `make` ended before it could name it the subject; not one that was stopped."""
        found = facts(self.kit)
        for run_id, declared in found.declared.items():
            run = found.runs[run_id]
            own = declared.role == "failing" and declared.origin == "recorded" and run.state == "sealed"
            if own and run.fingerprint is not None and run.ended_by != "cancelled":
                return run_id
        return None

    def _emit(self) -> tuple[State, str | None]:
        self.progress.begin("emit")
        written = emitting.emit(self.kit)
        self.wrote += written
        self.progress.end(f"{len(written)} files" if written else "done before")
        return ("ran" if written else "done"), None

    def _run(self) -> tuple[State, str | None]:
        ran = running.ensure(self.kit, launches.BASE_ARM, self.on, 1, self.progress)
        self.verdict = ran.verdict
        if not ran.new:
            self.progress.begin("run control")
            self.progress.end(f"done before ({ran.runs[-1]}: {ran.verdict.outcome})")
        if ran.verdict.outcome != "reproduced":
            return "failed", ran.runs[-1] if ran.runs else None
        return ("ran" if ran.new else "done"), ran.runs[-1]

    def _verify(self) -> tuple[State, str | None]:
        declared = self.kit.declaration.candidates
        if not declared:
            return "skipped", None
        verified = verifying.verify(self.kit, declared, self.on, self.progress)
        self.candidates = verified.candidates
        for candidate in verified.candidates:
            if candidate.patched not in verified.new:
                self.progress.begin(f"run {candidate.id}")
                self.progress.end(f"done before ({candidate.outcome})")
        return ("ran" if verified.new else "done"), verified.new[-1] if verified.new else None

    def _report(self) -> tuple[State, str | None]:
        self.progress.begin("report")
        path, changed = reporting.write(self.kit)
        self.wrote += [path] if changed else []
        self.progress.end("written" if changed else "done before")
        return ("ran" if changed else "done"), None


def _recorded(run: Run) -> str:
    """The recording's result in a few words."""
    if run.not_started is not None:
        return f"did not start: {run.not_started}"
    if run.failure is None:
        code = "" if run.exit_code is None else f" with exit code {run.exit_code}"
        return run.outcome if run.outcome == "passed" else f"no failure: the job ended{code}"
    hung = ", then hung" if run.failure.hang_after_failure else ""
    return f"{run.failure.kind} in {run.failure.site or 'an unknown place'}{hung}"


def open_or_create(source: str, target: Path | None) -> Kit:
    """The kit that `source` is, or the one made from the recipe that it names."""
    if store_kit.is_kit(Path(source)):
        return store_kit.open_kit(Path(source))
    return create.create(create.find_recipe(source), target or create.default_target(source))


def make(kit: Kit, on: str, progress: Progress) -> Made:
    """All stages. Raises SafetyError while another process writes to the kit or records into it."""
    with kit.lock():
        try:
            return Maker(kit, running.executor(on), progress).make()
        finally:
            progress.stop()


def summary(made: Made) -> list[str]:
    """The end of `make` for a person: the answer, what was written, what to do next."""
    lines = [f"unexpected: {text}" for text in made.unexpected]
    lines += showing.verdict_text(made.verdict) if made.verdict else []
    lines += showing.candidates_text(made.candidates)
    lines += [f"wrote {path}" for path in made.wrote if not path.endswith(".py")]
    kit = shlex.quote(made.kit)
    done = any(stage.name == "report" and stage.state in {"ran", "done"} for stage in made.stages)
    if done:
        lines.append(
            f"next: read {shlex.quote(made.kit + '/report/issue.md')}; reprokit show {kit}; reprokit check {kit}"
        )
    else:
        lines.append(f"next: reprokit show {kit}")
    return lines


def plan(source: str, target: Path | None, on: Executor) -> list[tuple[str, str]]:
    """Stage and what `make` would do about it now. Creates nothing."""
    place = Path(source) if store_kit.is_kit(Path(source)) else target or create.default_target(source)
    if store_kit.is_kit(place):
        return _plan_of(store_kit.open_kit(place), on)
    recipe = recipes.load(create.find_recipe(source))
    return _lines(on, False, False, [candidate.id for candidate in recipe.candidates])


def _plan_of(kit: Kit, on: Executor) -> list[tuple[str, str]]:
    found = facts(kit, cache=False)
    subject = found.subject is not None and found.subject.fingerprint is not None
    key = launches.arm_of(kit, launches.BASE_ARM, on.kind).key
    control = subject and bool(judging.decisive(found, judging.trials(found, key, here())))
    judged = {verdict.id for verdict in judging.candidate_verdicts(kit, found)}
    waiting = [candidate.id for candidate in kit.declaration.candidates if candidate.id not in judged]
    return _lines(on, subject, control, waiting)


def _lines(on: Executor, subject: bool, control: bool, waiting: list[str]) -> list[tuple[str, str]]:
    return [
        ("record", "done" if subject else f"run the job once ({on.kind})"),
        ("emit", "write launch/, container/ and README.md"),
        ("run", "done" if control else f"run the job once more ({on.kind})"),
        ("verify", f"run the job with each of: {', '.join(waiting)}" if waiting else "done"),
        ("report", "write report/issue.md"),
    ]

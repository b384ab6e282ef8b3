"""Events of one run -> the Run record. Pure: the same events give the same record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeVar

from reprokit.analyze import failures
from reprokit.analyze.rules.table import RULES
from reprokit.model.facts import Where
from reprokit.model.fingerprint import Fingerprint, fingerprint_id
from reprokit.model.kit import RunDeclaration
from reprokit.model.run import (
    EndedBy,
    Failure,
    Hang,
    MemoryFigures,
    Outcome,
    Progress,
    Rank,
    RankFailure,
    Run,
)
from reprokit.model.trace import Ended, Event, Iteration, MemoryLine, PartFacts, Phase, Raised

E = TypeVar("E", bound=Event)


class Evidence:
    """The events of one run, by kind."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = tuple(events)

    def of(self, kind: type[E]) -> list[E]:
        """Events of one kind, in file and line order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def roots(self) -> tuple[str, ...]:
        """Folders known to hold the job's code: the working directories that agents wrote down."""
        return tuple(part.cwd for part in self.of(PartFacts) if part.cwd)


def assemble(
    declaration: RunDeclaration, sources: Iterable[str], events: Sequence[Event], state: str = "sealed"
) -> Run:
    """The run that `events` tell of. `sources`: the files that were read."""
    evidence = Evidence(events)
    progress = _progress(evidence)
    ended = _deciding_end(evidence.of(Ended))
    failed = failures.by_rank(evidence.of(Raised), evidence.roots, evidence.of(Iteration))
    cause = failures.first_cause(failed)
    hang = _hang(ended)
    hung_after = _hung_after(ended, cause is not None)
    failure = (
        failures.describe(cause, failed, progress.last, hung_after, evidence.roots, progress.planned)
        if cause
        else _silent(ended, hang, progress)
    )
    outcome, outcome_evidence = _outcome(evidence, ended, failure)
    parts = evidence.of(PartFacts)
    run = Run(
        id=declaration.id,
        sources=tuple(sorted(sources)),
        role=declaration.role,
        cluster=declaration.cluster or (parts[0].host if parts else None),
        date=parts[0].started if parts else None,
        command=parts[0].argv if parts else (declaration.command or None),
        commits={"base": declaration.base} if declaration.base else {},
        patches=declaration.patches,
        progress=progress,
        outcome=outcome,
        outcome_evidence=outcome_evidence,
        exit_code=ended.exit_code if ended else None,
        ended_by=_ended_by(ended),
        ended_evidence=(ended.where,) if ended else (),
        hang=hang,
        failure=None if outcome == "passed" else failure,
        ranks=_ranks(evidence, failed),
        unranked=tuple(failure for raised, failure in failed if raised.rank is None),
        versions=_versions(parts),
        version_sources=_version_sources(parts),
        memory=_memory(evidence),
        not_started=ended.not_started if ended else None,
        arm=declaration.arm,
        state="open" if state == "open" else "sealed",
    )
    run = _with(run, fingerprint=_fingerprint(run, cause, evidence))
    findings = tuple(finding for rule in RULES for finding in rule.look(run, evidence.events))
    return _with(run, findings=findings)


def _deciding_end(ends: list[Ended]) -> Ended | None:
    """Of several places that recorded an end (one a node) the one that did not go well; a hang before an exit code."""
    hung = [end for end in ends if end.hang_since is not None]
    bad = [end for end in ends if end.exit_code != 0 or end.signal is not None or end.not_started is not None]
    return next(iter((*hung, *bad, *ends)), None)


def _with(run: Run, **changes: object) -> Run:
    """A copy of `run` with some fields replaced."""
    from msgspec.structs import replace

    return replace(run, **changes)


def _progress(evidence: Evidence) -> Progress:
    done = evidence.of(Iteration)
    if not done:
        return Progress()
    last = max(done, key=lambda event: event.iteration)
    capture_at, capture_where = _capture(evidence, done)
    return Progress(
        first=min(event.iteration for event in done),
        last=last.iteration,
        planned=next((event.planned for event in reversed(done) if event.planned), None),
        last_time=last.time,
        capture_at=capture_at,
        went_back=any(
            one.where.path == two.where.path and two.iteration < one.iteration for one, two in pairwise(done)
        ),
        evidence=(last.where,),
        capture_evidence=(capture_where,) if capture_where else (),
    )


def _capture(evidence: Evidence, done: list[Iteration]) -> tuple[int | None, Where | None]:
    """The iteration in progress at the first capture, and the line that shows it.

    It is one more than the last iteration reported before the line in its file. Every rank prints the capture line,
    one rank the iteration line: ranks ahead of that one print theirs too early by one iteration, so of the first two
    answers the later one is right.
    """
    answers = []
    for phase in evidence.of(Phase):
        if phase.name == "capture_begin":
            path, line = phase.where.path, phase.where.line
            before = [
                event.iteration for event in done if event.where.path == path and event.where.line < line
            ]
            answers.append((max(before, default=done[0].iteration - 1) + 1, phase.where))
    if not answers:
        return None, None
    first = min(answer for answer, _ in answers)
    return max((pair for pair in answers if pair[0] <= first + 1), key=lambda pair: pair[0])


def _hang(ended: Ended | None) -> Hang | None:
    if ended is None or ended.hang_since is None:
        return None
    return Hang(since=ended.hang_since, seconds=ended.hang_seconds, evidence=(ended.where,))


def _hung_after(ended: Ended | None, failed: bool) -> bool | None:
    """True if processes stayed on after the failure, False if the job ended by itself, None if nothing says."""
    if ended is None or not failed:
        return None
    if ended.hang_since is not None and ended.failure_seen:
        return True
    return False if ended.ended_by == "exit" else None


def _silent(ended: Ended | None, hang: Hang | None, progress: Progress) -> Failure | None:
    """The failure of a run whose ranks printed none."""
    if ended is None:
        return None
    iteration = failures.in_progress(progress.last, progress.planned)
    if hang is not None:
        return Failure(kind="hang", iteration=iteration, last_completed_iteration=progress.last)
    if ended.ended_by == "time_limit":
        return Failure(kind="time_limit", iteration=iteration, last_completed_iteration=progress.last)
    if ended.exit_code == 0 or ended.ended_by == "cancelled":
        return None
    return Failure(kind="unknown", iteration=iteration, last_completed_iteration=progress.last)


def _outcome(
    evidence: Evidence, ended: Ended | None, failure: Failure | None
) -> tuple[Outcome, tuple[Where, ...]]:
    """Passed needs the end-of-training line, and where an agent waited for the job, its exit code 0."""
    done = [phase.where for phase in evidence.of(Phase) if phase.name == "training_done"]
    if failure is not None and failure.kind in {"hang", "time_limit"}:
        return "unfinished", (ended.where,) if ended else ()
    if done and (ended is None or ended.exit_code == 0):
        return "passed", (*done, *((ended.where,) if ended else ()))
    if failure is not None:
        return "failed", ()
    return "unknown", ()


def _ended_by(ended: Ended | None) -> EndedBy:
    known: tuple[EndedBy, ...] = ("exit", "signal", "time_limit", "cancelled", "agent")
    for word in known:
        if ended is not None and ended.ended_by == word:
            return word
    return "unknown"


def _ranks(evidence: Evidence, failed: list[tuple[Raised, RankFailure]]) -> tuple[Rank, ...]:
    """Every rank that a line or a stack names, with its failure."""
    by_rank = {raised.rank: failure for raised, failure in failed if raised.rank is not None}
    named = {event.rank for event in evidence.events if event.rank is not None} | set(by_rank)
    return tuple(Rank(rank=rank, failure=by_rank.get(rank)) for rank in sorted(named))


def _memory(evidence: Evidence) -> tuple[MemoryFigures, ...]:
    return tuple(
        MemoryFigures(
            rank=line.rank, after_iteration=line.after_iteration, values=line.values, where=line.where
        )
        for line in evidence.of(MemoryLine)
    )


def _versions(parts: list[PartFacts]) -> dict[str, str]:
    """What the agent saw of the machine it ran on."""
    if not parts:
        return {}
    found = dict(parts[0].facts)
    if parts[0].python:
        found["python"] = parts[0].python
    return found


def _version_sources(parts: list[PartFacts]) -> dict[str, str]:
    return dict.fromkeys(_versions(parts), parts[0].where.path) if parts else {}


def _phase(run: Run, cause: Raised | None, evidence: Evidence) -> str | None:
    """How far the run was when the failing rank failed. Lines of one file only can be ordered."""
    if cause is None:
        return None
    before = {
        phase.name
        for phase in evidence.of(Phase)
        if phase.where.path == cause.first.path
        and phase.where.line < cause.first.line
        and (phase.rank is None or cause.rank is None or phase.rank == cause.rank)
    }
    if "capture_done" in before:
        return "after_capture"
    if "capture_begin" in before:
        return "capture"
    if run.progress.last is not None or "loop_start" in before:
        return "training"
    return "startup"


def _fingerprint(
    run: Run, cause: tuple[Raised, RankFailure] | None, evidence: Evidence
) -> Fingerprint | None:
    """None where nothing identifies a failure: no site, no exception, and no kind that says something by itself."""
    failure = run.failure
    if failure is None or failure.kind == "time_limit":
        return None
    if failure.kind == "unknown" and not failure.site and not failure.exception:
        return None
    return Fingerprint(
        id=fingerprint_id(failure.kind, failure.site, failure.exception),
        kind=failure.kind,
        site=failure.site,
        exception=failure.exception,
        statement=cause[1].statement if cause else None,
        phase=_phase(run, cause[0] if cause else None, evidence),
        iteration=failure.iteration,
        ranks=failure.failing_ranks,
        then_hung=failure.hang_after_failure,
    )

"""The answer of `show` for a person: ten seconds to read, each figure with its place."""

from __future__ import annotations

from collections.abc import Sequence

from reprokit.model.run import Run
from reprokit.model.units import gib
from reprokit.model.verdict import CandidateVerdict, Verdict
from reprokit.report.material import ranks_text


def run_lines(run: Run, *, subject: bool = False) -> list[str]:
    """One run. Says first what failed, then when, where, who, and what followed."""
    mark = ", the subject" if subject else ""
    opened = " (open: not sealed yet)" if run.state == "open" else ""
    lines = [f"{run.id} [{run.role or 'no role'}{mark}]{opened}: {_headline(run)}"]
    failure = run.failure
    if failure is not None:
        if failure.exception:
            lines.append(_line("exception", failure.exception, _place(run, "exception")))
        if failure.site or failure.exception:
            lines.append(_line("site", failure.site or "unknown", _place(run, "site")))
        statement = run.fingerprint.statement if run.fingerprint else None
        if statement:
            lines.append(_line("statement", statement))
        if failure.failing_ranks:
            lines.append(_line("ranks", _ranks(run), _place(run, "failing_ranks")))
        if failure.iteration is not None:
            lines.append(_line("iteration", _iteration(run)))
        if failure.requested_bytes is not None:
            asked = f"{gib(failure.requested_bytes)} ({failure.requested_bytes} bytes)"
            lines.append(_line("asked for", asked, _place(run, "requested_bytes")))
    elif run.progress.last is not None:
        of = f" of {run.progress.planned}" if run.progress.planned else ""
        lines.append(_line("iterations", f"{run.progress.last}{of} done"))
    if run.not_started:
        lines.append(_line("not started", run.not_started))
    for finding in run.findings:
        word = (
            finding.rule.replace("_", " ")
            if finding.holds
            else f"ruled out: {finding.rule.replace('_', ' ')}"
        )
        where = finding.evidence[0] if finding.evidence else None
        place = f"{where.path}:{where.line}" if where and where.line else (where.path if where else "")
        lines.append(_line(word, f"{finding.statement} ({finding.confidence})", place))
    return lines


def _line(name: str, value: str, place: str = "") -> str:
    value = "".join(character if character.isprintable() else "?" for character in value)
    return f"  {name:<20} {value}" + (f"  [{place}]" if place else "")


def _headline(run: Run) -> str:
    if run.not_started is not None:
        return "never started"
    if run.failure is None:
        code = "" if run.exit_code is None else f", exit code {run.exit_code}"
        return f"{run.outcome}{code}"
    hung = ", then hung" if run.failure.hang_after_failure else ""
    code = "" if run.exit_code is None else f" with exit code {run.exit_code}"
    kind = run.failure.kind
    if kind == "unknown":
        kind = "failed; the cause is unknown" if not run.failure.exception else "failed; the kind is unknown"
    return f"{kind}{hung}; ended by {run.ended_by}{code}"


def _ranks(run: Run) -> str:
    failure = run.failure
    if failure is None or not failure.failing_ranks:
        return "no line names one"
    of = f" of {len(run.ranks)} seen" if len(run.ranks) > len(failure.failing_ranks) else ""
    several = len(failure.failing_ranks) > 1 and failure.first_printed_rank is not None
    first = f"; printed first: {failure.first_printed_rank}" if several else ""
    return f"{ranks_text(failure.failing_ranks).removeprefix('ranks ').removeprefix('rank ')}{of}{first}"


def _iteration(run: Run) -> str:
    failure = run.failure
    if failure is None or failure.iteration is None:
        return "unknown: no iteration line"
    capture = f"; buffers captured in iteration {run.progress.capture_at}" if run.progress.capture_at else ""
    return f"{failure.iteration} (inferred; {failure.last_completed_iteration} was the last done){capture}"


def _place(run: Run, field: str) -> str:
    detail = run.failure.details.get(field) if run.failure else None
    return f"{detail.path}:{detail.line}" if detail and detail.path and detail.line else ""


def verdict_lines(verdict: Verdict) -> list[str]:
    """What re-runs showed; nothing where none was made."""
    if not verdict.attempts:
        return []
    return [f"verdict: {verdict.outcome}", *(f"  {reason}" for reason in verdict.reasons)]


def candidate_lines(candidates: Sequence[CandidateVerdict]) -> list[str]:
    """What candidate patches did."""
    lines = []
    for candidate in candidates:
        met = (
            ""
            if candidate.expected is None
            else (" (as expected)" if candidate.as_expected else f" (expected: {candidate.expected})")
        )
        lines.append(f"candidate {candidate.id}: {candidate.outcome}{met}")
        lines += [f"  {reason}" for reason in candidate.reasons]
    return lines

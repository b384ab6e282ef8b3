"""Did the failure come back? Every answer but INCONCLUSIVE needs positive evidence."""

from __future__ import annotations

from collections.abc import Sequence

from reprokit.analyze.compare import TITLES, compare, words
from reprokit.model.fingerprint import Fingerprint
from reprokit.model.run import Run
from reprokit.model.verdict import Attempt, TrialOutcome, Verdict

PROVEN_KINDS = frozenset(
    {"gpu_oom", "cpu_oom", "host_oom_kill", "nccl_timeout", "cuda_error", "capture_error", "hang"}
)
"""Kinds that say by themselves what happened. Any other failure counts as CHANGED only once training had begun."""


def judge(subject: Run, trial: Run, pass_iterations: int | None) -> Verdict:
    """One trial against the subject run. `pass_iterations`: the pass criterion, None if none was declared."""
    outcome, reasons = _judge(subject, trial, pass_iterations)
    return Verdict(outcome=outcome, reasons=reasons, attempts=(Attempt(run=trial.id, outcome=outcome),))


def _judge(subject: Run, trial: Run, pass_iterations: int | None) -> tuple[TrialOutcome, tuple[str, ...]]:
    if trial.not_started is not None:
        return "inconclusive", (f"{trial.id} did not start: {trial.not_started}.",)
    if trial.ended_by == "cancelled" and (trial.failure is None or trial.failure.kind not in PROVEN_KINDS):
        # What a job prints when it is stopped (KeyboardInterrupt, say) is no failure of its own.
        return "inconclusive", (
            f"{trial.id} was stopped by a signal to the recorder before it showed anything.",
        )
    if trial.failure is None:
        return _without_failure(trial, pass_iterations)
    if trial.failure.kind == "time_limit":
        return "inconclusive", (f"{trial.id} was still running at the time limit.",)
    return _with_failure(subject, trial)


def _without_failure(trial: Run, pass_iterations: int | None) -> tuple[TrialOutcome, tuple[str, ...]]:
    """PASSED = the pass criterion was seen, and a clean exit."""
    last = trial.progress.last
    if trial.exit_code is None:
        return "inconclusive", (f"{trial.id} has no recorded end.",)
    if trial.exit_code != 0:
        return "inconclusive", (
            f"{trial.id} exited with {trial.exit_code} and printed no failure that is understood.",
        )
    if pass_iterations is None:
        return "inconclusive", (f"{trial.id} exited with 0, but the kit declares no pass criterion.",)
    if last is None or last < pass_iterations:
        done = "no iteration was" if last is None else f"only {last} of {pass_iterations} iterations were"
        return "inconclusive", (f"{trial.id} exited with 0, but {done} seen in its output.",)
    if trial.progress.went_back:
        said = f"{trial.id} exited with 0, but the count of iterations in its output began anew."
        return "inconclusive", (said,)
    return "passed", (f"{trial.id} completed {last} iterations and exited with 0.",)


def _with_failure(subject: Run, trial: Run) -> tuple[TrialOutcome, tuple[str, ...]]:
    old, new = subject.fingerprint, trial.fingerprint
    if old is None:
        return "inconclusive", (f"{subject.id} has no fingerprint, so nothing can be matched with it.",)
    if new is None:
        code = "" if trial.exit_code is None else f" with exit code {trial.exit_code}"
        return "inconclusive", (f"{trial.id} failed{code} without an exception or a site to compare.",)
    if old.id == new.id:
        return "reproduced", (_match(new, subject.id, trial.id), *_differences(subject, trial))
    if (
        new.kind not in PROVEN_KINDS - {"hang"}
        and trial.progress.last is None
        and subject.progress.last is not None
    ):
        what = new.exception or ("a hang" if new.kind == "hang" else "an error")
        early = f"{trial.id} failed with {what} in {_place(new)} before its first iteration"
        return "inconclusive", (f"{early}, so it never came to the point where {subject.id} failed.",)
    return "changed", (_change(old, new, subject.id, trial.id), *_differences(subject, trial))


def _match(new: Fingerprint, subject: str, trial: str) -> str:
    """What was equal. A hang without a site is a weak match, and said so."""
    if new.site:
        return f"{trial} failed in {new.site} ({new.kind}), as {subject} did."
    if new.exception:
        return f"{trial} failed with {new.exception} ({new.kind}), as {subject} did; the site is unknown."
    return f"{trial} ended as {new.kind}, as {subject} did; where is unknown, so this match is weak."


def _change(old: Fingerprint, new: Fingerprint, subject: str, trial: str) -> str:
    """The deciding difference first: the kind, else the site."""
    if old.kind != new.kind:
        return f"{trial} failed as {new.kind} in {_place(new)}; {subject} as {old.kind} in {_place(old)}."
    said = f"{trial} failed in {_place(new)}, {subject} in {_place(old)}"
    if old.statement and old.statement == new.statement:
        return f"{said}: another function, but the same statement `{new.statement}`."
    return f"{said}."


def _place(fingerprint: Fingerprint) -> str:
    return fingerprint.site or "an unknown place"


def _differences(subject: Run, trial: Run) -> list[str]:
    """Each compared field that differs, said beside the verdict."""
    return [
        f"{TITLES[name]}: {a} in {subject.id}, {b} in {trial.id}."
        for name, (a, b) in compare(subject, trial).differs_in.items()
        if name not in {"kind", "site"}
    ]


def combine(verdicts: Sequence[Verdict]) -> Verdict:
    """Several attempts of one arm as one verdict: decided attempts must agree, else it is inconclusive."""
    attempts = tuple(attempt for verdict in verdicts for attempt in verdict.attempts)
    reasons = tuple(reason for verdict in verdicts for reason in verdict.reasons)
    decided = {attempt.outcome for attempt in attempts if attempt.outcome != "inconclusive"}
    if not decided:
        return Verdict(outcome="inconclusive", reasons=reasons or ("Nothing was run.",), attempts=attempts)
    if len(decided) > 1:
        found = words(sorted(f"{sum(a.outcome == o for a in attempts)} x {o}" for o in decided))
        return Verdict(
            outcome="inconclusive", reasons=(f"The attempts disagree: {found}.", *reasons), attempts=attempts
        )
    return Verdict(outcome=decided.pop(), reasons=reasons, attempts=attempts)

"""What a candidate patch did: its run on the fixed base, against a control run of the same base without it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from reprokit.analyze.compare import delta_sentence, headline, memory_deltas, words
from reprokit.analyze.verdict import judge
from reprokit.model.kit import Candidate
from reprokit.model.run import Run
from reprokit.model.verdict import CandidateOutcome, CandidateVerdict, Delta, TrialOutcome, Verdict

OUTCOMES: dict[TrialOutcome, CandidateOutcome] = {
    "passed": "fixes",
    "reproduced": "does_not_fix",
    "changed": "changes_failure",
    "inconclusive": "inconclusive",
}


def does_not_apply(candidate: Candidate, base: str | None, why: str) -> CandidateVerdict:
    """The patch does not fit the base, so nothing was run."""
    return _verdict(candidate, base, "does_not_apply", None, None, reasons=(why,))


def without_control(candidate: Candidate, base: str | None, patched: Run) -> CandidateVerdict:
    """There is no run of the base without the patch, so nothing follows from this one."""
    reasons = ("There is no control run of the same base and arm without the patch.",)
    return _verdict(candidate, base, "inconclusive", None, patched, reasons=reasons)


def unsound_control(
    candidate: Candidate, base: str | None, control: Run, patched: Run, held: Verdict
) -> CandidateVerdict:
    """The base without the patch does not reliably show the failure, so nothing follows from a run with it."""
    said = f"The control run {control.id} is {held.outcome}, not reproduced, so the candidate proves nothing."
    return _verdict(candidate, base, "inconclusive", control, patched, reasons=(said, *held.reasons))


def combined(verdicts: Sequence[CandidateVerdict]) -> CandidateVerdict:
    """Several attempts of one candidate as one: the last that decided, unless the decided ones disagree."""
    decided = [verdict for verdict in verdicts if verdict.outcome != "inconclusive"]
    last = (decided or list(verdicts))[-1]
    outcomes = [verdict.outcome for verdict in decided]
    if len(set(outcomes)) < 2:
        return last
    counts = ", ".join(
        f"{outcomes.count(outcome)} x {outcome}" for outcome in dict.fromkeys(sorted(outcomes))
    )
    return replace(last, outcome="inconclusive", reasons=(f"The attempts disagree: {counts}.",), deltas=())


def judge_candidate(
    candidate: Candidate,
    base: str | None,
    subject: Run,
    control: Run,
    patched: Run,
    pass_iterations: int | None,
) -> CandidateVerdict:
    """The candidate's outcome. The control must itself reproduce the subject, else nothing follows.

    A saving is measured at an equal point before the failure: at an OOM memory is full in both runs.
    """
    held = judge(subject, control, pass_iterations)
    if held.outcome != "reproduced":
        return unsound_control(candidate, base, control, patched, held)
    verdict = judge(control, patched, pass_iterations)
    deltas = memory_deltas(control, patched)
    return _verdict(
        candidate,
        base,
        OUTCOMES[verdict.outcome],
        control,
        patched,
        reasons=(*verdict.reasons, *_saving(deltas)),
        deltas=deltas,
    )


def _saving(deltas: tuple[Delta, ...]) -> tuple[str, ...]:
    """One sentence on the peak at the latest equal point, if both runs printed it."""
    delta = headline(deltas)
    if delta is None:
        return ()
    return (f"At an equal, earlier point, {delta_sentence(delta)}.",)


def _verdict(
    candidate: Candidate,
    base: str | None,
    outcome: CandidateOutcome,
    control: Run | None,
    patched: Run | None,
    *,
    reasons: tuple[str, ...] = (),
    deltas: tuple[Delta, ...] = (),
) -> CandidateVerdict:
    return CandidateVerdict(
        id=candidate.id,
        kind="code patch",
        base=base,
        outcome=outcome,
        how="run",
        control=control.id if control else None,
        patched=patched.id if patched else None,
        title=candidate.title,
        expected=candidate.expect,
        reasons=reasons,
        deltas=deltas,
        side_effects=_side_effects(control, patched),
        limitations=candidate.limitations,
    )


def _side_effects(control: Run | None, patched: Run | None) -> tuple[str, ...]:
    """Differences beside the outcome that a reader should know of."""
    if control is None or patched is None or control.failure is None or patched.failure is None:
        return ()
    before, after = control.failure.failing_ranks, patched.failure.failing_ranks
    if before == after:
        return ()
    return (f"Failing ranks {words(before)} became {words(after)}.",)

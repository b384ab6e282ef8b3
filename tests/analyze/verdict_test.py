"""Every branch of a verdict, and what it says."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprokit.analyze.verdict import combine, judge
from reprokit.model.run import Run
from reprokit.model.verdict import Attempt, TrialOutcome, Verdict


@pytest.fixture(scope="session")
def subject(by_hand: SimpleNamespace) -> Run:
    run: Run = by_hand.oom(run_id="s")
    return run


def frames(by_hand: SimpleNamespace, function: str, statement: str | None = None, path: str = "a.py") -> Any:
    return (by_hand.frame(f"{by_hand.work}/{path}", function, statement or by_hand.statement),)


def trial(by_hand: SimpleNamespace, *events: Any) -> Run:
    """Two iterations, then what is given."""
    run: Run = by_hand.run(
        by_hand.part(), by_hand.iteration(1, 1), by_hand.iteration(2, 2), *events, run_id="t"
    )
    return run


def test_the_same_failure(by_hand: SimpleNamespace, subject: Run) -> None:
    verdict = judge(subject, by_hand.oom(run_id="t"), 30)
    assert verdict == Verdict(
        outcome="reproduced",
        reasons=("t failed in host_oom/optimizer.py:copy_group_grads (cpu_oom), as s did.",),
        attempts=(Attempt(run="t", outcome="reproduced"),),
    )


def test_each_difference_beside_it_is_said(by_hand: SimpleNamespace, subject: Run) -> None:
    """Exception, statement, phase, iteration, ranks and the hang do not decide, and are not kept quiet."""
    place = (by_hand.frame(f"{by_hand.work}/host_oom/optimizer.py", "copy_group_grads", "x = y"),)
    other = by_hand.run(
        by_hand.iteration(1, 1),
        by_hand.raised(1, 20, "MemoryError", frames=place),
        by_hand.ended("exit", 1),
        run_id="t",
    )
    verdict = judge(subject, other, 30)
    assert verdict.outcome == "reproduced"
    assert verdict.reasons[1:] == (
        "exception class: numpy._core._exceptions._ArrayMemoryError in s, MemoryError in t.",
        f"failing statement: {by_hand.statement} in s, x = y in t.",
        "phase: after_capture in s, training in t.",
        "iteration in progress: 3 in s, 2 in t.",
        "failing ranks: 0, 2 in s, 1 in t.",
        "hang after the failure: yes in s, no in t.",
    )


def test_elsewhere(by_hand: SimpleNamespace, subject: Run) -> None:
    verdict = judge(
        subject, trial(by_hand, by_hand.raised(0, 20, frames=frames(by_hand, "step", "x = y"))), 30
    )
    assert verdict.outcome == "changed"
    assert verdict.reasons[0] == "t failed in a.py:step, s in host_oom/optimizer.py:copy_group_grads."
    assert any(reason.startswith("failing statement: ") for reason in verdict.reasons)


def test_the_same_statement_in_another_function(by_hand: SimpleNamespace, subject: Run) -> None:
    """A renamed function is not a new bug, and a reader must see that."""
    verdict = judge(subject, trial(by_hand, by_hand.raised(0, 20, frames=frames(by_hand, "renamed"))), 30)
    assert verdict.outcome == "changed"
    assert verdict.reasons[0] == (
        "t failed in a.py:renamed, s in host_oom/optimizer.py:copy_group_grads: another function, "
        f"but the same statement `{by_hand.statement}`."
    )


def test_another_kind(by_hand: SimpleNamespace, subject: Run) -> None:
    verdict = judge(subject, trial(by_hand, by_hand.error(0, 20, frames=frames(by_hand, "step"))), 30)
    assert verdict.outcome == "changed"
    assert verdict.reasons[0] == (
        "t failed as unknown in a.py:step; s as cpu_oom in host_oom/optimizer.py:copy_group_grads."
    )


def test_a_silence_instead_of_a_failure(by_hand: SimpleNamespace, subject: Run) -> None:
    verdict = judge(subject, trial(by_hand, by_hand.hung(failure_seen=False)), 30)
    assert verdict.outcome == "changed"
    assert verdict.reasons[0].startswith("t failed as hang in an unknown place; s as cpu_oom in ")


def test_two_silences_match_weakly(by_hand: SimpleNamespace) -> None:
    one = by_hand.run(by_hand.iteration(2, 2), by_hand.hung(failure_seen=False), run_id="s")
    verdict = judge(one, trial(by_hand, by_hand.hung(failure_seen=False)), 30)
    assert verdict.outcome == "reproduced"
    assert verdict.reasons[0] == "t ended as hang, as s did; where is unknown, so this match is weak."


def test_the_same_exception_without_a_site(by_hand: SimpleNamespace) -> None:
    one = by_hand.run(by_hand.error(0, 9, "ValueError", frames=()), run_id="s")
    verdict = judge(one, by_hand.run(by_hand.error(0, 9, "ValueError", frames=()), run_id="t"), 30)
    assert verdict.outcome == "reproduced"
    assert verdict.reasons[0] == "t failed with ValueError (unknown), as s did; the site is unknown."
    assert judge(one, by_hand.run(by_hand.error(0, 9, "KeyError", frames=())), 30).outcome == "changed"


def test_before_the_first_iteration_an_unproven_failure_decides_nothing(
    by_hand: SimpleNamespace, subject: Run
) -> None:
    """Such as a module that is not installed here."""
    broken = by_hand.run(
        by_hand.part(),
        by_hand.error(0, 9, "ModuleNotFoundError", frames=frames(by_hand, "<module>")),
        run_id="t",
    )
    verdict = judge(subject, broken, 30)
    assert verdict.outcome == "inconclusive"
    (reason,) = verdict.reasons
    assert reason == (
        "t failed with ModuleNotFoundError in a.py:<module> before its first iteration, "
        "so it never came to the point where s failed."
    )


def test_before_the_first_iteration_a_proven_kind_decides(by_hand: SimpleNamespace, subject: Run) -> None:
    early = by_hand.run(by_hand.raised(0, 9, frames=frames(by_hand, "build")), run_id="t")
    assert judge(subject, early, 30).outcome == "changed"


def test_where_the_subject_had_no_iteration_either(by_hand: SimpleNamespace) -> None:
    one = by_hand.run(by_hand.error(0, 9, "ImportError", frames=frames(by_hand, "<module>")), run_id="s")
    two = by_hand.run(by_hand.error(0, 9, "ImportError", frames=frames(by_hand, "load")), run_id="t")
    assert judge(one, two, 30).outcome == "changed"
    assert judge(one, one, 30).outcome == "reproduced"


def test_passed(by_hand: SimpleNamespace, subject: Run) -> None:
    done = by_hand.run(
        by_hand.iteration(30, 9), by_hand.phase("training_done", 10), by_hand.ended(exit_code=0)
    )
    assert judge(subject, done, 30) == Verdict(
        outcome="passed",
        reasons=("r1 completed 30 iterations and exited with 0.",),
        attempts=(Attempt(run="r1", outcome="passed"),),
    )
    assert judge(subject, done, 29).outcome == "passed"


NOT_PASSED: dict[str, tuple[Any, int | None, str]] = {
    "no criterion": (
        lambda b: [b.iteration(30, 9), b.phase("training_done", 10), b.ended(exit_code=0)],
        None,
        "r1 exited with 0, but the kit declares no pass criterion.",
    ),
    "too few": (
        lambda b: [b.iteration(29, 9), b.ended(exit_code=0)],
        30,
        "r1 exited with 0, but only 29 of 30 iterations were seen in its output.",
    ),
    "none": (
        lambda b: [b.ended(exit_code=0)],
        1,
        "r1 exited with 0, but no iteration was seen in its output.",
    ),
    "no end": (lambda b: [b.iteration(30, 9)], 30, "r1 has no recorded end."),
    "a bare log": (
        lambda b: [b.iteration(30, 9), b.phase("training_done", 10)],
        30,
        "r1 has no recorded end.",
    ),
    "exit 1": (
        lambda b: [b.iteration(30, 9), b.ended(exit_code=1)],
        30,
        "r1 failed with exit code 1 without an exception or a site to compare.",
    ),
    "a signal": (
        lambda b: [b.iteration(30, 9), b.ended("signal", None, signal=9)],
        30,
        "r1 failed without an exception or a site to compare.",
    ),
    "the time limit": (
        lambda b: [b.iteration(30, 9), b.ended("time_limit", None)],
        30,
        "r1 was still running at the time limit.",
    ),
    "cancelled": (
        lambda b: [b.iteration(30, 9), b.ended("cancelled", None)],
        30,
        "r1 was stopped by a signal to the recorder before it showed anything.",
    ),
    "not started": (
        lambda b: [b.ended("unknown", 127, not_started="No such file")],
        30,
        "r1 did not start: No such file.",
    ),
}


@pytest.mark.parametrize("name", NOT_PASSED)
def test_anything_else_is_inconclusive(by_hand: SimpleNamespace, subject: Run, name: str) -> None:
    make, criterion, reason = NOT_PASSED[name]
    verdict = judge(subject, by_hand.run(*make(by_hand)), criterion)
    assert (verdict.outcome, verdict.reasons) == ("inconclusive", (reason,))


def test_a_run_that_was_stopped_after_it_failed_had_shown_something(
    by_hand: SimpleNamespace, subject: Run
) -> None:
    verdict = judge(subject, by_hand.oom(by_hand.ended("cancelled", None), run_id="t"), 30)
    assert "before it showed anything" not in verdict.reasons[0]


def test_a_subject_that_cannot_be_recognised(by_hand: SimpleNamespace) -> None:
    silent = by_hand.run(by_hand.ended(exit_code=1), run_id="s")
    verdict = judge(silent, by_hand.oom(run_id="t"), 30)
    assert verdict.outcome == "inconclusive"
    assert verdict.reasons == ("s has no fingerprint, so nothing can be matched with it.",)


def test_a_failure_after_the_pass_criterion_is_no_pass(by_hand: SimpleNamespace, subject: Run) -> None:
    late = by_hand.run(by_hand.iteration(30, 1), by_hand.raised(0, 9), by_hand.ended(exit_code=1))
    assert judge(subject, late, 30).outcome == "reproduced"


def single(outcome: TrialOutcome, number: int = 1) -> Verdict:
    return Verdict(
        outcome=outcome, reasons=(f"{number}.",), attempts=(Attempt(run=f"t{number}", outcome=outcome),)
    )


def test_attempts_that_agree() -> None:
    both = combine([single("reproduced", 1), single("reproduced", 2)])
    assert (both.outcome, both.reasons) == ("reproduced", ("1.", "2."))
    assert [attempt.run for attempt in both.attempts] == ["t1", "t2"]


def test_attempts_that_disagree() -> None:
    three = combine([single("reproduced", 1), single("passed", 2), single("reproduced", 3)])
    assert three.outcome == "inconclusive"
    assert three.reasons[0] == "The attempts disagree: 1 x passed, 2 x reproduced."
    assert three.reasons[1:] == ("1.", "2.", "3.") and len(three.attempts) == 3


def test_an_attempt_that_decides_nothing_is_kept_beside_one_that_does() -> None:
    both = combine([single("inconclusive", 1), single("passed", 2)])
    assert (both.outcome, len(both.attempts)) == ("passed", 2)


def test_nothing_was_run() -> None:
    assert combine([]) == Verdict(outcome="inconclusive", reasons=("Nothing was run.",))
    assert combine([single("inconclusive")]).reasons == ("1.",)


OUTCOMES: tuple[TrialOutcome, ...] = ("reproduced", "changed", "passed", "inconclusive")


@given(st.lists(st.sampled_from(OUTCOMES), max_size=6))
def test_one_verdict_of_many(outcomes: list[TrialOutcome]) -> None:
    verdicts = [single(outcome, number) for number, outcome in enumerate(outcomes)]
    whole = combine(verdicts)
    assert whole.outcome == combine(verdicts[::-1]).outcome, "the order means nothing"
    assert whole.attempts == tuple(attempt for verdict in verdicts for attempt in verdict.attempts)
    decided = set(outcomes) - {"inconclusive"}
    assert whole.outcome == (decided.pop() if len(decided) == 1 else "inconclusive")
    assert whole.reasons

"""What a candidate patch did, against a control."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reprokit.analyze.candidates import does_not_apply, judge_candidate, without_control
from reprokit.model.kit import Candidate
from reprokit.model.run import Run
from reprokit.model.verdict import CandidateVerdict

CANDIDATE = Candidate(
    id="p",
    patch="inputs/patches/p.patch",
    sha256="0" * 64,
    title="A patch",
    expect="fixes",
    limitations=("One rank.",),
)
BASE = "0" * 40


def peak(by_hand: SimpleNamespace, after: int, text: str, rank: int | None = 0) -> Any:
    return by_hand.memory(after, after, rank, mem_max_allocated_gigabytes=text)


def judged(by_hand: SimpleNamespace, patched: Run, control: Run | None = None) -> CandidateVerdict:
    subject = by_hand.oom(run_id="s")
    return judge_candidate(CANDIDATE, BASE, subject, control or by_hand.oom(run_id="c"), patched, 30)


def passed(by_hand: SimpleNamespace, *more: Any) -> Run:
    run: Run = by_hand.run(by_hand.iteration(30, 90), *more, by_hand.ended(exit_code=0), run_id="p")
    return run


def test_it_fixes(by_hand: SimpleNamespace) -> None:
    verdict = judged(by_hand, passed(by_hand))
    assert (verdict.outcome, verdict.control, verdict.patched, verdict.how) == ("fixes", "c", "p", "run")
    assert (verdict.id, verdict.kind, verdict.base, verdict.title) == ("p", "code patch", BASE, "A patch")
    assert verdict.as_expected and verdict.limitations == ("One rank.",)
    assert verdict.reasons == ("p completed 30 iterations and exited with 0.",)


def test_it_does_not_fix(by_hand: SimpleNamespace) -> None:
    verdict = judged(by_hand, by_hand.oom(run_id="p"))
    assert verdict.outcome == "does_not_fix" and not verdict.as_expected
    assert verdict.reasons[0].startswith("p failed in host_oom/optimizer.py:copy_group_grads")
    assert verdict.side_effects == ()


def test_it_changes_the_failure(by_hand: SimpleNamespace) -> None:
    elsewhere = by_hand.run(
        by_hand.iteration(2, 1), by_hand.raised(0, 9, frames=(by_hand.frame("x.py", "f"),)), run_id="p"
    )
    assert judged(by_hand, elsewhere).outcome == "changes_failure"


def test_it_decides_nothing(by_hand: SimpleNamespace) -> None:
    assert (
        judged(by_hand, by_hand.run(by_hand.ended("cancelled", None), run_id="p")).outcome == "inconclusive"
    )


@pytest.mark.parametrize("how", ["passed", "changed", "inconclusive"])
def test_a_control_that_does_not_reproduce_proves_nothing(by_hand: SimpleNamespace, how: str) -> None:
    """Even where the patched run passes."""
    controls = {
        "passed": by_hand.run(by_hand.iteration(30, 1), by_hand.ended(exit_code=0), run_id="c"),
        "changed": by_hand.run(
            by_hand.iteration(2, 1), by_hand.raised(0, 9, frames=(by_hand.frame("x.py", "f"),)), run_id="c"
        ),
        "inconclusive": by_hand.run(run_id="c"),
    }
    verdict = judged(by_hand, passed(by_hand), controls[how])
    assert verdict.outcome == "inconclusive"
    assert (
        verdict.reasons[0] == f"The control run c is {how}, not reproduced, so the candidate proves nothing."
    )
    assert len(verdict.reasons) > 1 and verdict.deltas == ()


def test_the_patched_run_is_compared_with_the_control(by_hand: SimpleNamespace) -> None:
    """Figures of the subject, from another machine perhaps, stay out of it."""
    control = by_hand.oom(by_hand.hung(), peak(by_hand, 2, "0.2"), run_id="c")
    verdict = judged(by_hand, by_hand.oom(by_hand.hung(), peak(by_hand, 2, "0.1"), run_id="p"), control)
    (delta,) = verdict.deltas
    assert (delta.a_printed, delta.b_printed, delta.delta_bytes) == ("0.2", "0.1", -(10**8))


def test_what_differs_is_said_against_the_control(by_hand: SimpleNamespace) -> None:
    """A difference that the control shows too is not the patch's."""
    control, patched = by_hand.oom(run_id="c", ranks=(1,)), by_hand.oom(run_id="p", ranks=(1,))
    verdict = judged(by_hand, patched, control)
    assert verdict.reasons == ("p failed in host_oom/optimizer.py:copy_group_grads (cpu_oom), as c did.",)


def test_a_saving_is_said_at_an_equal_earlier_point(by_hand: SimpleNamespace) -> None:
    control = by_hand.oom(by_hand.hung(), peak(by_hand, 1, "0.3"), peak(by_hand, 2, "0.2"), run_id="c")
    patched = by_hand.oom(by_hand.hung(), peak(by_hand, 1, "0.3"), peak(by_hand, 2, "0.1"), run_id="p")
    verdict = judged(by_hand, patched, control)
    assert verdict.outcome == "does_not_fix"
    assert verdict.reasons[-1] == (
        "At an equal, earlier point, rank 0, after iteration 2: mem-max-allocated-gigabytes "
        "from 0.2 to 0.1 (-95.37 MiB)."
    )


@pytest.mark.parametrize("rank", [1, None])
def test_other_points_are_no_saving(by_hand: SimpleNamespace, rank: int | None) -> None:
    control = by_hand.oom(by_hand.hung(), peak(by_hand, 2, "0.2"), run_id="c")
    patched = by_hand.oom(by_hand.hung(), peak(by_hand, 2, "0.1", rank), peak(by_hand, 1, "0.1"), run_id="p")
    verdict = judged(by_hand, patched, control)
    assert verdict.deltas == () and not any("earlier point" in reason for reason in verdict.reasons)


def test_other_ranks_fail(by_hand: SimpleNamespace) -> None:
    verdict = judged(by_hand, by_hand.oom(run_id="p", ranks=(1,)))
    assert verdict.side_effects == ("Failing ranks 0, 2 became 1.",)


def test_no_line_names_the_failing_rank_any_more(by_hand: SimpleNamespace) -> None:
    unnamed = by_hand.run(by_hand.iteration(2, 1), by_hand.raised(None, 20), by_hand.hung(), run_id="p")
    assert judged(by_hand, unnamed).side_effects == ("Failing ranks 0, 2 became none named.",)


def test_a_patch_that_does_not_apply(by_hand: SimpleNamespace) -> None:
    verdict = does_not_apply(CANDIDATE, BASE, "error: patch failed")
    assert (verdict.outcome, verdict.reasons) == ("does_not_apply", ("error: patch failed",))
    assert (verdict.control, verdict.patched, verdict.side_effects) == (None, None, ())


def test_without_a_control(by_hand: SimpleNamespace) -> None:
    verdict = without_control(CANDIDATE, BASE, passed(by_hand))
    assert (verdict.outcome, verdict.control, verdict.patched) == ("inconclusive", None, "p")
    assert verdict.reasons == ("There is no control run of the same base and arm without the patch.",)


@pytest.mark.parametrize(("expected", "met"), [(None, True), ("fixes", True), ("does_not_fix", False)])
def test_what_was_expected(by_hand: SimpleNamespace, expected: Any, met: bool) -> None:
    import msgspec

    candidate = msgspec.structs.replace(CANDIDATE, expect=expected)
    verdict = judge_candidate(
        candidate, BASE, by_hand.oom(run_id="s"), by_hand.oom(run_id="c"), passed(by_hand), 30
    )
    assert verdict.as_expected is met

"""The answer of `show` for a person."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from reprokit.model.run import Failure, Progress, Run
from reprokit.model.verdict import Attempt, Verdict
from reprokit.report.material import Material
from reprokit.report.show import candidate_lines, run_lines, verdict_lines

WithRun = Callable[..., Material]


def test_a_failure_in_ten_seconds(material: Material) -> None:
    lines = run_lines(material.subject, subject=True)
    assert lines[0] == (
        "recorded-1 [first-failing, the subject]: cpu_oom, then hung; ended by agent with exit code 143"
    )
    text = "\n".join(lines)
    for words in (
        "numpy._core._exceptions._ArrayMemoryError",
        "host_oom/optimizer.py:copy_group_grads",
        "0, 2 and 4 of 8 seen; printed first: 2",
        "3 (inferred; 2 was the last done); buffers captured in iteration 3",
        "24.00 MiB (25165824 bytes)  [node-0/output.log:40]",
        "hang after failure",
        "ruled out: fragmentation",
    ):
        assert words in text
    assert "None" not in text


def test_a_pass() -> None:
    run = Run(id="r1", role="control", outcome="passed", exit_code=0, progress=Progress(last=30, planned=30))
    assert run_lines(run) == ["r1 [control]: passed, exit code 0", "  iterations           30 of 30 done"]


def test_what_is_not_known_is_not_shown() -> None:
    lines = run_lines(Run(id="r1"))
    assert lines == ["r1 [no role]: unknown"]
    assert run_lines(Run(id="r1", state="open"))[0] == "r1 [no role] (open: not sealed yet): unknown"
    failed = Run(id="r1", outcome="failed", exit_code=1, ended_by="exit", failure=Failure(kind="unknown"))
    assert run_lines(failed) == ["r1 [no role]: failed; the cause is unknown; ended by exit with exit code 1"]


def test_a_start_that_failed() -> None:
    assert "  not started          No such file" in run_lines(Run(id="r1", not_started="No such file"))


def test_the_first_print_came_from_no_rank(material: Material, with_run: WithRun) -> None:
    """A launcher's own traceback before those of the ranks."""
    failure = msgspec.structs.replace(material.subject.failure, first_printed_rank=None)
    assert "None" not in "\n".join(run_lines(with_run(failure=failure).subject))


def test_a_failure_that_no_rank_claims(material: Material, with_run: WithRun) -> None:
    failure = msgspec.structs.replace(
        material.subject.failure, failing_ranks=(), first_failing_rank=None, first_printed_rank=None
    )
    text = "\n".join(run_lines(with_run(failure=failure, ranks=()).subject))
    assert "None" not in text and "  ranks " not in text


def test_nothing_of_a_log_takes_over_the_terminal(material: Material, with_run: WithRun) -> None:
    failure = msgspec.structs.replace(
        material.subject.failure, exception="\x1b]0;title\x07Error", site="a\x1b[2J.py:f"
    )
    assert not any("\x1b" in line or "\x07" in line for line in run_lines(with_run(failure=failure).subject))


def test_a_verdict() -> None:
    verdict = Verdict(
        outcome="reproduced", reasons=("Same.", "Phase."), attempts=(Attempt(run="t", outcome="reproduced"),)
    )
    assert verdict_lines(verdict) == ["verdict: reproduced", "  Same.", "  Phase."]
    assert verdict_lines(Verdict(outcome="inconclusive", reasons=("Nothing was run.",))) == []


def test_candidates(material: Material) -> None:
    lines = candidate_lines(material.candidates)
    assert lines[0] == "candidate chunked: fixes (as expected)"
    assert "candidate release-early: does_not_fix" in lines
    unmet = msgspec.structs.replace(material.candidates[0], outcome="does_not_fix")
    assert candidate_lines([unmet])[0] == "candidate chunked: does_not_fix (expected: fixes)"


@pytest.mark.parametrize("candidates", [(), []])
def test_no_candidates(candidates: tuple[()]) -> None:
    assert candidate_lines(candidates) == []

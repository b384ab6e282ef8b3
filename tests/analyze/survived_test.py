"""Exceptions that a job lived through, and failures of several kinds in one job."""

from __future__ import annotations

from types import SimpleNamespace

from reprokit.analyze.assemble import assemble


def run_of(by_hand: SimpleNamespace, *events: object):  # type: ignore[no-untyped-def]
    return assemble(by_hand.declaration(), ["node-0/output.log"], list(events))


def test_an_exception_that_was_caught_is_no_failure(by_hand: SimpleNamespace) -> None:
    """Rank 1 retries after a MemoryError; rank 0 ends the job three iterations later."""
    run = run_of(
        by_hand,
        by_hand.iteration(1, 5),
        by_hand.raised(1, 10),
        by_hand.iteration(2, 20),
        by_hand.iteration(3, 30),
        by_hand.error(0, 40, "ValueError"),
        by_hand.ended(exit_code=1),
    )
    assert run.failure is not None
    assert (run.failure.kind, run.failure.exception) == ("unknown", "ValueError")
    assert (run.failure.failing_ranks, run.failure.iteration) == ((0,), 4)
    assert [rank.rank for rank in run.ranks if rank.failure] == [0]


def test_one_line_of_a_rank_that_lags_behind_is_no_sign_of_life(by_hand: SimpleNamespace) -> None:
    run = run_of(by_hand, by_hand.iteration(1, 5), by_hand.raised(0, 10), by_hand.iteration(2, 20))
    assert run.failure is not None
    assert (run.failure.kind, run.failure.iteration) == ("cpu_oom", 3)


def test_only_lines_of_the_same_file_can_be_ordered(by_hand: SimpleNamespace) -> None:
    late = [by_hand.iteration(number, 50 + number, path="node-1/output.log") for number in (1, 2, 3)]
    run = run_of(by_hand, *late, by_hand.raised(0, 10))
    assert run.failure is not None and run.failure.kind == "cpu_oom"


def test_a_failure_without_a_rank_is_kept_beside_the_ranks(by_hand: SimpleNamespace) -> None:
    run = run_of(by_hand, by_hand.raised(None, 10), by_hand.ended(exit_code=1))
    assert run.ranks == () and [failure.kind for failure in run.unranked] == ["cpu_oom"]
    assert run.failure is not None and run.failure.failing_ranks == ()


def test_the_site_is_read_off_the_frames_own_line(by_hand: SimpleNamespace) -> None:
    from msgspec.structs import replace

    raised = replace(by_hand.raised(0, 30), frame_lines=(21, 24))
    run = run_of(by_hand, raised)
    assert run.failure is not None
    site = run.failure.details["site"]
    assert (site.path, site.line) == ("node-0/output.log", 24)
    assert run.failure.details["failing_ranks"].printed is None


def test_after_the_last_planned_iteration_none_is_in_progress(by_hand: SimpleNamespace) -> None:
    run = run_of(by_hand, by_hand.iteration(3, 5, planned=3), by_hand.raised(0, 10))
    assert run.failure is not None
    assert (run.failure.iteration, run.failure.last_completed_iteration) == (None, 3)
    assert run.failure.details["iteration"].unknown == "all planned iterations were done"


def test_a_count_that_begins_anew_is_no_pass(by_hand: SimpleNamespace) -> None:
    from reprokit.analyze.verdict import judge

    lines = [by_hand.iteration(number, 10 + place, planned=3) for place, number in enumerate((1, 2, 3, 1))]
    run = run_of(by_hand, *lines, by_hand.phase("training_done", 40), by_hand.ended(exit_code=0))
    assert run.progress.went_back
    assert judge(run, run, 3).outcome == "inconclusive"


def test_a_hang_before_the_first_iteration_decides_nothing(by_hand: SimpleNamespace) -> None:
    from reprokit.analyze.verdict import judge

    subject = run_of(by_hand, by_hand.iteration(1, 5), by_hand.raised(0, 10))
    silent = run_of(by_hand, by_hand.ended("agent", None, hang_since="x", hang_seconds=5.0))
    assert silent.failure is not None and silent.failure.kind == "hang"
    assert judge(subject, silent, 3).outcome == "inconclusive"

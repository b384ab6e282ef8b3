"""Which iteration was in progress, when buffers were captured, how far the job was."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest


def test_the_iteration_in_progress_is_one_more_than_the_last(by_hand: SimpleNamespace) -> None:
    events = [by_hand.iteration(number, number) for number in (7, 5, 6)]
    run = by_hand.run(*events, by_hand.raised(1, 20))
    assert (run.progress.first, run.progress.last, run.failure.iteration) == (5, 7, 8)
    assert run.fingerprint.iteration == 8


def test_without_iterations_none_is_inferred(by_hand: SimpleNamespace) -> None:
    failure = by_hand.run(by_hand.raised(1, 20)).failure
    assert (failure.iteration, failure.last_completed_iteration) == (None, None)
    assert failure.details["iteration"].unknown == "no iteration line in the evidence"


CAPTURES = {
    "all ranks in time": ([2, 3, 4, 5], 3),
    "some ranks a line too early": ([2, 2, 4, 5], 3),
    "one rank a line too early": ([2, 4, 4, 4], 3),
    "only early ones": ([2, 2], 2),
    "again in a later iteration": ([4, 4, 9, 9], 3),
}


@pytest.mark.parametrize("name", CAPTURES)
def test_the_iteration_of_the_capture(by_hand: SimpleNamespace, name: str) -> None:
    """Iterations 1 to 4 are reported on lines 1, 3, 6 and 8; ranks print their capture lines around them."""
    lines, expected = CAPTURES[name]
    done = [by_hand.iteration(number, line) for number, line in ((1, 1), (2, 3), (3, 6), (4, 8))]
    begins = [by_hand.phase("capture_begin", line, rank) for rank, line in enumerate(lines)]
    assert by_hand.run(*done, *begins).progress.capture_at == expected


def test_a_capture_before_the_first_iteration(by_hand: SimpleNamespace) -> None:
    run = by_hand.run(by_hand.phase("capture_begin", 1), by_hand.iteration(5, 3), by_hand.iteration(6, 4))
    assert run.progress.capture_at == 5


def test_no_capture(by_hand: SimpleNamespace) -> None:
    assert by_hand.run(by_hand.iteration(1, 1), by_hand.raised(0, 9)).progress.capture_at is None


PHASES: dict[str, tuple[Any, str]] = {
    "nothing before": (lambda b: [], "startup"),
    "loop": (lambda b: [b.phase("loop_start", 1)], "training"),
    "iterations": (lambda b: [b.iteration(1, 1)], "training"),
    "in the capture": (lambda b: [b.iteration(1, 1), b.phase("capture_begin", 2)], "capture"),
    "after the capture": (
        lambda b: [b.iteration(1, 1), b.phase("capture_begin", 2), b.phase("capture_done", 3)],
        "after_capture",
    ),
    "own rank still captures": (
        lambda b: [
            b.iteration(1, 1), b.phase("capture_begin", 2, 0), b.phase("capture_begin", 3, 1),
            b.phase("capture_done", 4, 1),
        ],
        "capture",
    ),
    "in another file": (lambda b: [b.iteration(1, 1), b.phase("capture_begin", 2, path="node-1/x.log")], "training"),
    "later in the log": (lambda b: [b.iteration(1, 1), b.phase("capture_begin", 90)], "training"),
}  # fmt: skip


@pytest.mark.parametrize("name", PHASES)
def test_how_far_it_was(by_hand: SimpleNamespace, name: str) -> None:
    make, expected = PHASES[name]
    assert by_hand.run(*make(by_hand), by_hand.raised(0, 50)).fingerprint.phase == expected

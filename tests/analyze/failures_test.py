"""Cause before consequence."""

from __future__ import annotations

from itertools import permutations
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprokit.analyze import failures
from reprokit.model.run import RankFailure
from reprokit.model.trace import Raised


def ranks_and_kinds(found: list[tuple[Raised, RankFailure]]) -> list[tuple[int | None, str]]:
    return [(raised.rank, failure.kind) for raised, failure in found]


def test_the_first_traceback_of_a_rank_decides(by_hand: SimpleNamespace) -> None:
    events = [by_hand.error(0, 10, "ValueError"), by_hand.error(0, 20, "SystemExit"), by_hand.error(1, 5)]
    found = failures.by_rank(events, [])
    assert [(raised.rank, failure.exception) for raised, failure in found] == [
        (1, "RuntimeError"),
        (0, "ValueError"),
    ]


def test_a_proven_cause_beats_what_was_printed_before_it(by_hand: SimpleNamespace) -> None:
    events = [by_hand.error(0, 10), by_hand.raised(0, 20), by_hand.error(0, 30)]
    assert ranks_and_kinds(failures.by_rank(events, [])) == [(0, "cpu_oom")]


def test_a_consequence_on_another_rank_is_not_the_cause(by_hand: SimpleNamespace) -> None:
    """A collective times out first where another rank has run out of memory."""
    events = [by_hand.error(3, 10, "DistBackendError"), by_hand.raised(5, 20)]
    found = failures.by_rank(events, [])
    cause = failures.first_cause(found)
    assert cause is not None and cause[0].rank == 5
    failure = failures.describe(cause, found, 2, None, ())
    assert (failure.first_failing_rank, failure.first_printed_rank, failure.failing_ranks) == (5, 3, (3, 5))
    assert failure.kind == "cpu_oom"


def test_every_kind_has_its_place(by_hand: SimpleNamespace) -> None:
    """In all pairs of kinds, in both orders of print, the one that stands earlier in the table decides."""
    for index, cause in enumerate(failures.PRECEDENCE):
        for consequence in failures.PRECEDENCE[index + 1 :]:
            for first, second in permutations((cause, consequence)):
                events = [by_hand.raised(0, 10, kind=first), by_hand.raised(1, 20, kind=second)]
                found = failures.first_cause(failures.by_rank(events, []))
                assert found is not None and found[1].kind == cause, (first, second)
                one = failures.by_rank(
                    [by_hand.raised(0, 10, kind=first), by_hand.raised(0, 20, kind=second)], []
                )
                assert ranks_and_kinds(one) == [(0, cause)]


def test_of_equal_kinds_the_first_printed(by_hand: SimpleNamespace) -> None:
    found = failures.by_rank([by_hand.raised(4, 30), by_hand.raised(2, 20)], [])
    cause = failures.first_cause(found)
    assert cause is not None and cause[0].rank == 2


def test_noise_before_it_does_not_make_a_rank_the_first(by_hand: SimpleNamespace) -> None:
    """Rank 4 complains of something else, rank 2 runs out of memory, then rank 4 does."""
    events = [by_hand.error(4, 10), by_hand.raised(2, 20), by_hand.raised(4, 30)]
    cause = failures.first_cause(failures.by_rank(events, []))
    assert cause is not None and cause[0].rank == 2


def test_without_a_rank_each_place_stands_alone(by_hand: SimpleNamespace) -> None:
    found = failures.by_rank([by_hand.error(None, 10), by_hand.error(None, 20), by_hand.error(None, 10)], [])
    assert [raised.where.line for raised, _ in found] == [10, 20]
    failure = failures.describe(found[0], found, None, None, ())
    assert (failure.failing_ranks, failure.first_failing_rank) == ((), None)
    assert failure.details["failing_ranks"].unknown == "no line of the failure names a rank"
    assert failure.details["first_failing_rank"].unknown


def test_one_rank_alone_is_observed(by_hand: SimpleNamespace) -> None:
    found = failures.by_rank([by_hand.raised(4, 30)], [])
    assert failures.describe(found[0], found, None, None, ()).details["first_failing_rank"].how == "observed"


def test_a_log_that_is_cut(by_hand: SimpleNamespace) -> None:
    found = failures.by_rank([by_hand.raised(0, 10, exception=None, kind=None, message="")], [])
    failure = failures.describe(found[0], found, None, None, ())
    assert (failure.kind, failure.exception) == ("unknown", None)
    assert failure.details["exception"].unknown == "no exception was printed"


def test_a_traceback_of_libraries_only(by_hand: SimpleNamespace) -> None:
    frames = (by_hand.frame("<frozen runpy>", "run"), by_hand.frame("/usr/lib/python3.12/runpy.py", "x"))
    found = failures.by_rank([by_hand.raised(0, 10, frames=frames)], [])
    failure = failures.describe(found[0], found, None, None, ())
    assert failure.site is None
    assert failure.details["site"].unknown == "the traceback has no frame outside libraries"


def test_a_size_that_is_not_said_is_null(by_hand: SimpleNamespace) -> None:
    found = failures.by_rank([by_hand.raised(0, 10, requested=None)], [])
    failure = failures.describe(found[0], found, None, None, ())
    assert failure.requested_bytes is None
    assert failure.details["requested_bytes"].unknown == "the message does not say how much was asked for"


def test_no_failure_no_cause() -> None:
    assert failures.by_rank([], []) == [] and failures.first_cause([]) is None


@pytest.mark.parametrize("last", [0, 2])
def test_the_iteration_is_inferred(by_hand: SimpleNamespace, last: int) -> None:
    found = failures.by_rank([by_hand.raised(0, 10)], [])
    assert failures.describe(found[0], found, last, None, ()).iteration == last + 1


@given(st.data())
def test_the_order_of_events_means_nothing(by_hand: SimpleNamespace, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 6))
    kind = st.sampled_from([None, *failures.PRECEDENCE[:-1]])
    rank = st.one_of(st.none(), st.integers(0, 3))
    path = st.sampled_from(["a.log", "b.log"])
    events = [
        by_hand.raised(data.draw(rank), 10 + 3 * number, kind=data.draw(kind), path=data.draw(path))
        for number in range(count)
    ]
    mixed = data.draw(st.permutations(events))
    straight = failures.by_rank(events, [])
    assert failures.by_rank(mixed, []) == straight
    assert failures.by_rank([raised for raised, _ in straight], []) == straight, (
        "a second time changes nothing"
    )

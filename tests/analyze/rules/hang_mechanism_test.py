from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from reprokit.model.finding import Finding
from reprokit.model.run import Run


def found(run: Run) -> list[Finding]:
    return [finding for finding in run.findings if finding.rule == "hang_mechanism"]


def at(by_hand: SimpleNamespace, *names: str) -> Any:
    """Frames innermost first, as py-spy gives them; below the job's folder unless absolute."""
    frames = []
    for name in names:
        path, _, function = name.partition(":")
        frames.append(by_hand.frame(path if path.startswith("/") else f"{by_hand.work}/{path}", function))
    return frames


def hung_with(
    by_hand: SimpleNamespace, stacks: dict[int, tuple[str, ...]], failed: tuple[int, ...] = (0, 2)
) -> Run:
    """Rank -> its stack, innermost first."""
    run: Run = by_hand.oom(
        by_hand.hung(),
        *(by_hand.stack(100 + rank, *at(by_hand, *names), rank=rank) for rank, names in stacks.items()),
        ranks=failed,
    )
    return run


BARRIER = ("/usr/lib/python3.12/socket.py:recv", "comm.py:barrier", "rank.py:shut_down", "rank.py:main")
REDUCE = ("/usr/lib/python3.12/socket.py:recv", "comm.py:all_reduce", "rank.py:train", "rank.py:main")


def test_two_groups_that_wait_for_each_other(by_hand: SimpleNamespace) -> None:
    run = hung_with(by_hand, {0: BARRIER, 1: REDUCE, 2: BARRIER, 3: REDUCE})
    (finding,) = found(run)
    assert finding.holds and finding.confidence == "likely"
    assert finding.statement == (
        "Stacks taken during the silence show ranks 0 and 2, the failed ones, in rank.py:shut_down, innermost "
        "comm.py:barrier; ranks 1 and 3 in rank.py:train, innermost comm.py:all_reduce. "
        "So the failed ranks and the others each wait for the other group."
    )
    assert [where.path for where in finding.evidence] == ["node-0/stacks/100.txt", "node-0/stacks/101.txt"]
    assert finding.numbers == {"ranks_with_stacks": 4}


def test_all_in_one_place(by_hand: SimpleNamespace) -> None:
    (finding,) = found(hung_with(by_hand, {0: REDUCE, 1: REDUCE}))
    assert finding.confidence == "established"
    assert finding.statement == "Stacks taken during the silence show ranks 0 and 1 in comm.py:all_reduce."


def test_groups_that_are_not_the_failed_ones_explain_nothing(by_hand: SimpleNamespace) -> None:
    (finding,) = found(hung_with(by_hand, {0: BARRIER, 1: BARRIER, 2: REDUCE, 3: REDUCE}))
    assert finding.confidence == "established"
    assert "wait for the other" not in finding.statement and "the failed ones" not in finding.statement


def test_one_path_that_is_the_beginning_of_the_other(by_hand: SimpleNamespace) -> None:
    (finding,) = found(hung_with(by_hand, {0: REDUCE[2:], 1: REDUCE}, failed=(0,)))
    assert "rank 0, the failed ones, in rank.py:train" in finding.statement
    assert "rank 1 in comm.py:all_reduce" in finding.statement


def test_helper_threads_do_not_count(by_hand: SimpleNamespace) -> None:
    helper = by_hand.stack(101, *at(by_hand, "comm.py:poll"), rank=1, thread="Thread-7")
    run = by_hand.oom(by_hand.hung(), helper, by_hand.stack(100, *at(by_hand, *BARRIER), rank=0))
    assert found(run) == []


def test_the_rank_of_a_process_is_known_from_any_of_its_stacks(by_hand: SimpleNamespace) -> None:
    stacks = [
        by_hand.stack(100, *at(by_hand, *BARRIER)),
        by_hand.stack(100, *at(by_hand, "comm.py:poll"), rank=0, thread="Thread-7"),
        by_hand.stack(101, *at(by_hand, *REDUCE), rank=1),
    ]
    (finding,) = found(by_hand.oom(by_hand.hung(), *stacks))
    assert finding.numbers == {"ranks_with_stacks": 2}


def test_the_order_of_stacks_means_nothing(by_hand: SimpleNamespace) -> None:
    stacks = {0: BARRIER, 1: REDUCE, 2: BARRIER, 3: REDUCE}
    assert found(hung_with(by_hand, stacks)) == found(hung_with(by_hand, dict(reversed(stacks.items()))))


def test_where_nothing_says_it_is_silent(by_hand: SimpleNamespace) -> None:
    one = by_hand.stack(100, *at(by_hand, *BARRIER), rank=0)
    two = by_hand.stack(101, *at(by_hand, *REDUCE), rank=1)
    assert found(by_hand.oom(by_hand.hung(), one)) == [], "one stack shows no groups"
    assert found(by_hand.oom(by_hand.ended("exit", 1), one, two)) == [], "it did not hang"
    nameless = by_hand.stack(102, *at(by_hand, *REDUCE))
    assert found(by_hand.oom(by_hand.hung(), one, nameless)) == [], "no rank is known"
    library = by_hand.stack(101, *at(by_hand, "/usr/lib/python3.12/socket.py:recv"), rank=1)
    assert found(by_hand.oom(by_hand.hung(), one, library)) == [], "nothing of the job's own"
    assert found(by_hand.oom(by_hand.hung(), one, by_hand.stack(101, rank=1))) == [], "no stack was taken"

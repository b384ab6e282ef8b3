from __future__ import annotations

from types import SimpleNamespace

import pytest

from reprokit.model.facts import Where
from reprokit.model.finding import Finding
from reprokit.model.run import Run


def found(run: Run) -> list[Finding]:
    return [finding for finding in run.findings if finding.rule == "hang_after_failure"]


def test_it_hung(by_hand: SimpleNamespace) -> None:
    (finding,) = found(by_hand.oom(ranks=(0, 2, 4)))
    assert finding.holds and finding.confidence == "established"
    assert finding.statement == (
        "After the failure of ranks 0, 2 and 4, nothing moved for 5.2 s and no process exited; "
        "the recording agent ended the processes."
    )
    assert (finding.evidence, finding.numbers) == ((Where("node-0/end.json", 0),), {"quiet_seconds": 5.2})
    assert finding.suggests


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("time_limit", "the time limit ended the processes."),
        ("cancelled", "a signal to the recorder ended the processes."),
        ("signal", "a signal ended the processes."),
        ("earthquake", "what ended the processes is not known."),
    ],
)
def test_what_ended_it(by_hand: SimpleNamespace, by: str, words: str) -> None:
    (finding,) = found(by_hand.oom(by_hand.hung(by)))
    assert finding.statement.endswith(words)


def test_a_rank_that_is_not_named(by_hand: SimpleNamespace) -> None:
    (finding,) = found(by_hand.run(by_hand.raised(None, 9), by_hand.hung()))
    assert finding.statement.startswith("After the failure, nothing moved")


def test_a_silence_of_unknown_length(by_hand: SimpleNamespace) -> None:
    (finding,) = found(by_hand.oom(by_hand.hung(hang_seconds=None)))
    assert "nothing moved and no process exited" in finding.statement
    assert "None" not in finding.statement


def test_it_did_not_hang(by_hand: SimpleNamespace) -> None:
    (finding,) = found(by_hand.oom(by_hand.ended("exit", 7)))
    assert not finding.holds and finding.confidence == "established"
    assert finding.statement == "The job ended by itself after the failure, with exit code 7."
    assert finding.evidence == (Where("node-0/end.json", 0),) and finding.suggests is None


def test_where_nothing_says_it_is_silent(by_hand: SimpleNamespace) -> None:
    assert found(by_hand.run(by_hand.raised(0, 9))) == []
    assert found(by_hand.oom(by_hand.ended("signal", None, signal=9))) == []
    assert found(by_hand.run(by_hand.ended(exit_code=0))) == []
    assert found(by_hand.run(by_hand.hung(failure_seen=False))) == []

"""Events of one run become the Run record."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprokit.analyze.assemble import assemble
from reprokit.model.facts import Where
from reprokit.model.fingerprint import fingerprint_id
from reprokit.model.trace import Event

SITE = "host_oom/optimizer.py:copy_group_grads"


def test_no_event_no_claim(by_hand: SimpleNamespace) -> None:
    run = by_hand.run()
    assert (run.outcome, run.ended_by, run.failure, run.hang) == ("unknown", "unknown", None, None)
    assert (run.fingerprint, run.ranks, run.findings, run.exit_code) == (None, (), (), None)
    assert run.progress.last is None and run.command is None and run.cluster is None


def test_the_seed_in_miniature(by_hand: SimpleNamespace) -> None:
    """Two iterations, static buffers in the third, two ranks out of memory, then silence."""
    run = by_hand.oom()
    failure = run.failure
    assert failure is not None and run.fingerprint is not None and run.hang is not None
    assert (run.outcome, run.ended_by, run.exit_code) == ("failed", "agent", None)
    assert (failure.kind, failure.site) == ("cpu_oom", SITE)
    assert (failure.first_failing_rank, failure.first_printed_rank, failure.failing_ranks) == (0, 0, (0, 2))
    assert (failure.iteration, failure.last_completed_iteration, failure.requested_bytes) == (
        3,
        2,
        24 * 2**20,
    )
    assert (run.progress.first, run.progress.last, run.progress.planned, run.progress.capture_at) == (
        1,
        2,
        30,
        3,
    )
    assert run.fingerprint == type(run.fingerprint)(
        id=fingerprint_id("cpu_oom", SITE, "ignored"),
        kind="cpu_oom",
        site=SITE,
        exception="numpy._core._exceptions._ArrayMemoryError",
        statement=by_hand.statement,
        phase="after_capture",
        iteration=3,
        ranks=(0, 2),
        then_hung=True,
    )
    assert (run.hang.seconds, run.hang.evidence) == (5.2, (Where("node-0/end.json", 0),))
    assert [finding.rule for finding in run.findings] == ["hang_after_failure"]


def test_what_the_declaration_says(by_hand: SimpleNamespace) -> None:
    run = by_hand.oom(role="control", cluster="c1", base="0" * 40, patches=("p",), arm="a" * 16)
    assert (run.role, run.cluster, run.commits, run.patches, run.arm) == (
        "control",
        "c1",
        {"base": "0" * 40},
        ("p",),
        "a" * 16,
    )


def test_what_the_recorder_saw(by_hand: SimpleNamespace) -> None:
    run = by_hand.oom()
    assert (run.cluster, run.command, run.date) == ("node-a", ("python", "train.py"), "2026-10-02T03:04:04Z")
    assert run.versions == {"os": "Linux", "python": "3.11.7"}
    assert set(run.version_sources.values()) == {"node-0/part.json"}
    assert run.sources == ("node-0/end.json", by_hand.log, "node-0/part.json")


def test_what_a_cpu_failure_cannot_say_is_null_with_a_reason(by_hand: SimpleNamespace) -> None:
    failure = by_hand.oom().failure
    for name in (
        "capacity_bytes",
        "free_bytes",
        "pytorch_allocated_bytes",
        "private_pool_bytes",
        "process_bytes",
    ):
        assert getattr(failure, name) is None
        assert failure.details[name].unknown


def test_every_known_field_says_where_it_stands(by_hand: SimpleNamespace) -> None:
    failure = by_hand.oom().failure
    for name in (
        "kind",
        "exception",
        "site",
        "failing_ranks",
        "first_failing_rank",
        "requested_bytes",
        "iteration",
    ):
        detail = failure.details[name]
        assert (detail.path, detail.unknown) == (by_hand.log, None) and detail.line in {18, 20}, name
    assert failure.details["requested_bytes"].printed == "24.0 MiB"
    assert failure.details["iteration"].how == failure.details["first_failing_rank"].how == "inferred"


def test_the_site_is_shown_at_the_frame_it_was_read_from(by_hand: SimpleNamespace) -> None:
    """Also where the job's folder is called like a library."""
    frames = (by_hand.frame("/jobs/torch/train.py", "step"),)
    run = by_hand.run(by_hand.part(cwd="/jobs/torch"), by_hand.raised(0, 9, frames=frames))
    assert run.failure.site == "train.py:step"
    assert run.failure.details["site"].printed == 'File "/jobs/torch/train.py", line 1, in step'


OUTCOMES: dict[str, tuple[Any, str, str | None]] = {
    "bare log with the last line": (lambda b: [b.phase("training_done", 9)], "passed", None),
    "last line and exit 0": (lambda b: [b.phase("training_done", 9), b.ended(exit_code=0)], "passed", None),
    "last line and exit 1": (
        lambda b: [b.phase("training_done", 9), b.ended(exit_code=1)],
        "failed",
        "unknown",
    ),
    "last line and a signal": (
        lambda b: [b.phase("training_done", 9), b.ended("signal", None, signal=9)],
        "failed",
        "unknown",
    ),
    "exit 0 alone": (lambda b: [b.iteration(1, 1), b.ended(exit_code=0)], "unknown", None),
    "exit 1 alone": (lambda b: [b.ended(exit_code=1)], "failed", "unknown"),
    "a traceback and exit 0": (lambda b: [b.raised(0, 9), b.ended(exit_code=0)], "failed", "cpu_oom"),
    "a traceback that was caught": (
        lambda b: [b.raised(0, 5), b.phase("training_done", 9), b.ended(exit_code=0)],
        "passed",
        None,
    ),
    "a traceback alone": (lambda b: [b.error(0, 9)], "failed", "unknown"),
    "silence": (lambda b: [b.iteration(2, 1), b.hung(failure_seen=False)], "unfinished", "hang"),
    "silence after the last line": (
        lambda b: [b.phase("training_done", 1), b.hung(failure_seen=False)],
        "unfinished",
        "hang",
    ),
    "silence after a failure": (lambda b: [b.raised(0, 9), b.hung()], "failed", "cpu_oom"),
    "time limit": (lambda b: [b.iteration(2, 1), b.ended("time_limit", None)], "unfinished", "time_limit"),
    "cancelled": (lambda b: [b.iteration(2, 1), b.ended("cancelled", None)], "unknown", None),
    "cancelled after a failure": (
        lambda b: [b.raised(0, 9), b.ended("cancelled", None)],
        "failed",
        "cpu_oom",
    ),
    "iterations and no end": (lambda b: [b.iteration(2, 1)], "unknown", None),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes(by_hand: SimpleNamespace, name: str) -> None:
    make, outcome, kind = OUTCOMES[name]
    run = by_hand.run(*make(by_hand))
    assert (run.outcome, run.failure.kind if run.failure else None) == (outcome, kind)
    if outcome == "passed":
        assert run.fingerprint is None and run.outcome_evidence


@pytest.mark.parametrize("word", ["exit", "signal", "time_limit", "cancelled", "agent"])
def test_how_it_ended(by_hand: SimpleNamespace, word: str) -> None:
    run = by_hand.run(by_hand.ended(word))
    assert (run.ended_by, run.ended_evidence) == (word, (Where("node-0/end.json", 0),))


def test_an_unknown_word_for_the_end(by_hand: SimpleNamespace) -> None:
    assert by_hand.run(by_hand.ended("earthquake")).ended_by == "unknown"


@pytest.mark.parametrize(
    ("end", "hung"),
    [
        (lambda b: b.hung(), True),
        (lambda b: b.ended("exit", 1), False),
        (lambda b: b.ended("signal", None, signal=9), None),
        (lambda b: b.ended("time_limit", None), None),
        (lambda b: b.hung(failure_seen=False), None),
        (None, None),
    ],
)
def test_did_it_hang_after_the_failure(by_hand: SimpleNamespace, end: Any, hung: bool | None) -> None:
    run = by_hand.run(by_hand.raised(0, 9), *([end(by_hand)] if end else []))
    assert run.failure.hang_after_failure is hung
    assert run.fingerprint.then_hung is hung


def test_a_job_that_never_started(by_hand: SimpleNamespace) -> None:
    run = by_hand.run(by_hand.part(), by_hand.ended("unknown", 127, not_started="No such file"))
    assert (run.not_started, run.exit_code, run.fingerprint) == ("No such file", 127, None)


@pytest.mark.parametrize("name", ["node-0", "node-1"])
def test_one_place_that_failed_is_not_a_pass(by_hand: SimpleNamespace, name: str) -> None:
    """Whichever place is read last."""
    codes = {"node-0": 0, "node-1": 0} | {name: 1}
    ends = [by_hand.ended(exit_code=code, path=f"{place}/end.json") for place, code in codes.items()]
    run = by_hand.run(by_hand.phase("training_done", 9), *ends)
    assert run.outcome != "passed"
    assert run.exit_code != 0


def test_a_silent_end_has_no_phase(by_hand: SimpleNamespace) -> None:
    run = by_hand.run(by_hand.iteration(1, 1), by_hand.hung(failure_seen=False))
    assert (run.fingerprint.kind, run.fingerprint.site, run.fingerprint.phase) == ("hang", None, None)
    assert run.failure.iteration == 2


@pytest.mark.parametrize("by", ["time_limit", "cancelled"])
def test_nothing_to_recognise_no_fingerprint(by_hand: SimpleNamespace, by: str) -> None:
    assert by_hand.run(by_hand.iteration(1, 1), by_hand.ended(by, None)).fingerprint is None


def test_memory_lines_stay_with_their_rank(by_hand: SimpleNamespace) -> None:
    run = by_hand.run(
        by_hand.memory(1, 1, 0, mem_allocated_gigabytes="0.1"),
        by_hand.memory(1, 2, 1, mem_allocated_gigabytes="0.2"),
    )
    assert [(line.rank, line.values["mem-allocated-gigabytes"].bytes) for line in run.memory] == [
        (0, 10**8),
        (1, 2 * 10**8),
    ]
    assert [rank.rank for rank in run.ranks] == [0, 1]


def pieces(by_hand: SimpleNamespace) -> list[list[Event]]:
    """One run's events by file: rank files, node logs and records of two nodes."""
    files = [
        [by_hand.part(), by_hand.hung()],
        [
            by_hand.iteration(1, 10, time="a"),
            by_hand.memory(1, 11, mem_max_allocated_gigabytes="0.1"),
            by_hand.iteration(2, 12, time="b"),
            by_hand.phase("capture_begin", 13),
            by_hand.raised(0, 20),
        ],
        [
            by_hand.phase("capture_begin", 1, 1, "node-0/rank-1.log"),
            by_hand.raised(2, 9, path="node-0/rank-1.log"),
        ],
        [by_hand.error(3, 5, path="node-1/output.log"), by_hand.memory(2, 7, 3, "node-1/output.log", x="1")],
    ]
    return [list(events) for events in files]


@given(st.permutations(range(4)))
def test_the_order_of_files_means_nothing(by_hand: SimpleNamespace, order: list[int]) -> None:
    files = pieces(by_hand)
    straight = by_hand.run(*(event for events in files for event in events))
    mixed = by_hand.run(*(event for index in order for event in files[index]))
    assert by_rank(mixed) == by_rank(straight)


def by_rank(run: Any) -> Any:
    """The run with its memory lines in an order of their own."""
    from msgspec.structs import replace

    return replace(run, memory=tuple(sorted(run.memory, key=lambda line: (line.where.path, line.where.line))))


def test_the_same_events_give_the_same_record(by_hand: SimpleNamespace) -> None:
    assert by_hand.oom() == by_hand.oom()


def test_a_line_that_two_files_hold_counts_once(by_hand: SimpleNamespace) -> None:
    once = by_hand.oom()
    twice = by_hand.oom(
        by_hand.hung(), by_hand.raised(0, 4, path="node-0/rank-0.log"), by_hand.iteration(2, 1, path="x")
    )
    assert twice.failure.failing_ranks == once.failure.failing_ranks
    assert (twice.fingerprint, twice.progress) == (once.fingerprint, once.progress)


def test_an_open_run_says_so(by_hand: SimpleNamespace) -> None:
    assert assemble(by_hand.declaration(), [], [], "open").state == "open"
    assert assemble(by_hand.declaration(), [], []).state == "sealed"

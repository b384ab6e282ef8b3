"""When a job hangs: the rule alone with made-up times, then real jobs."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reprokit.agent.hang import NOTHING_MOVES, SILENT_AFTER_FAILURE, Detector, Verdict

FAILS_THEN_HANGS = """
    import sys, time
    print(" iteration        1/      30 | loss", flush=True)
    print("[rank0]: Traceback (most recent call last):", file=sys.stderr)
    print("[rank0]: torch.OutOfMemoryError: CUDA out of memory.", file=sys.stderr, flush=True)
    while True:
        {doing}
"""


def first_hang(
    detector: Detector, start: float, end: float, cpu_share: float | None
) -> tuple[float, Verdict] | None:
    """Look four times a second; a share of one core is used all the time (None: unknown)."""
    now = start
    while now <= end:
        if now == int(now):
            detector.cpu(now, None if cpu_share is None else cpu_share * now)
        verdict = detector.judge(now)
        if verdict:
            return now, verdict
        now += 0.25
    return None


def test_silence_after_a_failure_is_a_hang_however_busy() -> None:
    detector = Detector(20)
    detector.output(5.0, failed=True, iterations=[])
    now, verdict = first_hang(detector, 5.0, 100.0, cpu_share=8.0) or (0, None)
    assert (now, verdict) == (25.0, (SILENT_AFTER_FAILURE, 5.0))


def test_silence_alone_is_none() -> None:
    detector = Detector(20)
    detector.output(5.0, failed=False, iterations=[])
    assert first_hang(detector, 5.0, 500.0, cpu_share=0.03) is None


def test_silence_without_cpu_is_a_hang() -> None:
    detector = Detector(20)
    detector.output(5.0, failed=False, iterations=[])
    now, verdict = first_hang(detector, 5.0, 500.0, cpu_share=0.01) or (0, None)
    assert verdict is not None and verdict.reason == NOTHING_MOVES
    assert 25 <= now <= 27 and 5 <= verdict.since <= 6


def test_unknown_cpu_is_not_no_cpu() -> None:
    detector = Detector(20)
    detector.output(5.0, failed=False, iterations=[])
    assert first_hang(detector, 5.0, 500.0, cpu_share=None) is None
    detector.output(500.0, failed=True, iterations=[])
    assert first_hang(detector, 500.0, 600.0, cpu_share=None)


def test_nothing_is_said_in_the_first_half_minute_without_output() -> None:
    now, verdict = first_hang(Detector(1), 0.0, 100.0, cpu_share=0.0) or (0, None)
    assert now == 30.0 and verdict is not None and verdict.reason == NOTHING_MOVES


def test_window_follows_slow_iterations() -> None:
    detector = Detector(20)
    for number in range(5):
        detector.output(100.0 * number, failed=False, iterations=[number])
    assert detector.window() == 300
    detector.output(401.0, failed=True, iterations=[])
    now, _ = first_hang(detector, 401.0, 1000.0, cpu_share=1.0) or (0, None)
    assert now == 701.0


def test_same_iteration_from_several_ranks_is_one() -> None:
    detector = Detector(1)
    for number in range(4):
        detector.output(10.0 * number, failed=False, iterations=[number, number])
        detector.output(10.0 * number + 0.1, failed=False, iterations=[number])
    assert detector.window() == pytest.approx(30)


def test_job_that_goes_on_has_survived_its_failure() -> None:
    detector = Detector(20)
    detector.output(1.0, failed=True, iterations=[7])
    assert [detector.output(2.0 + n, failed=False, iterations=[8 + n]) for n in range(3)] == [
        False,
        False,
        True,
    ]
    assert not detector.failure_seen
    assert first_hang(detector, 4.0, 200.0, cpu_share=1.0) is None


def test_agent_that_was_stopped_has_seen_nothing() -> None:
    detector = Detector(20)
    detector.output(1.0, failed=True, iterations=[])
    assert detector.judge(2.0) is None
    assert detector.judge(500.0) is None  # it did not look for eight minutes
    now, verdict = first_hang(detector, 500.25, 600.0, cpu_share=1.0) or (0, None)
    assert (now, verdict) == (520.0, (SILENT_AFTER_FAILURE, 500.0))


def test_output_ends_a_hang() -> None:
    detector = Detector(2)
    detector.output(1.0, failed=True, iterations=[])
    assert detector.judge(2.0) is None
    assert detector.judge(3.0)
    detector.output(3.5, failed=False, iterations=[])
    assert detector.judge(3.5) is None


@pytest.mark.job
@pytest.mark.parametrize("doing", ["time.sleep(1)", "pass"])
def test_hang_after_failure_is_ended(record: Callable[..., Any], doing: str) -> None:
    run = record(FAILS_THEN_HANGS.format(doing=doing), options=("--end-hang", "1"))
    assert run.finish() == 128 + signal.SIGTERM
    end = run.json("end.json")
    assert (end["ended_by"], end["signal"], end["returned"]) == ("agent", 15, 143)
    hang = end["hang"]
    assert (hang["reason"], hang["failure_seen"], hang["over"]) == (SILENT_AFTER_FAILURE, True, False)
    assert 1 <= hang["seconds"] < 8
    [failure] = run.events("failure_seen")
    assert (failure["line"], failure["offset"]) == (2, run.output.index(b"Traceback"))
    [seen] = run.events("hang_seen")
    child = run.json("part.json")["child_pid"]
    assert [process["pid"] for process in seen["processes"]] == [child]
    assert {"pid", "rank", "state", "cpu_s", "wchan", "vm_bytes", "rss_bytes"} <= seen["processes"][0].keys()
    assert [event["event"] for event in run.events()] == [
        *("started", "failure_seen", "hang_seen", "stacks", "ending", "ended"),
    ]
    [stack] = run.json("stacks/index.json")
    assert stack["pid"] == child and stack["tool"] in ("py-spy", "proc")
    assert (run.spool / stack["file"]).read_text()


@pytest.mark.job
def test_job_where_nothing_moves_is_ended(record: Callable[..., Any]) -> None:
    run = record("\nprint('training')\nimport time\ntime.sleep(100)\n", options=("--end-hang", "1.5"))
    assert run.finish() == 128 + signal.SIGTERM
    end = run.json("end.json")
    assert end["ended_by"] == "agent"
    assert (end["hang"]["reason"], end["hang"]["failure_seen"]) == (NOTHING_MOVES, False)


@pytest.mark.job
def test_silent_but_busy_job_is_no_hang(record: Callable[..., Any]) -> None:
    run = record(
        """
        import time
        print("compiling", flush=True)
        until = time.monotonic() + 2.5
        while time.monotonic() < until:
            sum(range(10_000))
            time.sleep(0.001)
        """,
        options=("--end-hang", "1"),
    )
    assert run.finish() == 0
    assert run.json("end.json")["hang"] is None


@pytest.mark.job
def test_failure_that_ends_the_job_is_no_hang(record: Callable[..., Any]) -> None:
    run = record("\nraise ValueError('x')\n", options=("--end-hang", "1"))
    assert run.finish() == 1
    assert run.json("end.json")["hang"] is None
    assert run.events("failure_seen")


@pytest.mark.job
def test_success_after_the_agents_signal_is_not_returned(record: Callable[..., Any]) -> None:
    program = FAILS_THEN_HANGS.format(doing="time.sleep(1)")
    program = program.replace(
        "import sys, time", "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(0))"
    )
    run = record(program, options=("--end-hang", "1"))
    assert run.finish() == 124
    end = run.json("end.json")
    assert (end["exit_code"], end["returned"], end["ended_by"]) == (0, 124, "agent")


@pytest.mark.job
@pytest.mark.parametrize("lives_on", [0, 0.4])
def test_hang_that_moves_again_is_over(record: Callable[..., Any], lives_on: float) -> None:
    run = record(
        f"""
        import time
        print("ValueError: no good", flush=True)
        time.sleep(1.2)
        print("after all", flush=True)
        time.sleep({lives_on})
        """,
        start=[sys.executable, "-c", EARLY_NOTE],
    )
    assert run.finish() == 0
    assert [event["event"] for event in run.events()] == [
        *("started", "failure_seen", "hang_seen", "stacks", "hang_over", "ended"),
    ]
    end = run.json("end.json")
    assert (end["ended_by"], end["hang"]["over"]) == ("exit", True)
    assert 1.1 < end["hang"]["seconds"] < 3


@pytest.mark.job
def test_without_end_hang_it_is_noted_and_left_alone(
    record: Callable[..., Any], lives: Callable[[int], bool], wait_for: Callable[..., None]
) -> None:
    run = record(FAILS_THEN_HANGS.format(doing="time.sleep(1)"), start=[sys.executable, "-c", EARLY_NOTE])
    child = run.child_pid()
    wait_for(lambda: bool(run.events("stacks")))
    time.sleep(0.5)
    assert lives(child) and run.process.poll() is None
    assert run.events("ending") == []
    run.signal(signal.SIGTERM)
    run.signal(signal.SIGTERM)
    assert run.finish() == 143
    end = run.json("end.json")
    assert end["ended_by"] == "cancelled" and end["hang"]["reason"] == SILENT_AFTER_FAILURE
    assert not lives(child)


# Five minutes of silence are too long for a test.
EARLY_NOTE = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import reprokit.agent.options as options
options.NOTE_AFTER_S = 0.7
from reprokit.agent.main import main
sys.exit(main(sys.argv[1:]))
"""

"""The job's output: complete, in order, whatever happens to the agent or to its reader."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.job


def test_both_streams_in_order(record: Callable[..., Any]) -> None:
    run = record(
        """
        import sys
        for number in range(200):
            print("out", number, flush=True)
            print("err", number, file=sys.stderr, flush=True)
        """
    )
    assert run.finish() == 0
    assert run.output.decode() == "".join(f"out {n}\nerr {n}\n" for n in range(200))
    assert run.stdout == run.output
    assert run.json("end.json")["output_bytes"] == len(run.output)


def test_quiet_copies_nothing(record: Callable[..., Any]) -> None:
    run = record("echo", "x", options=("--quiet",))
    assert run.finish() == 0
    assert (run.stdout, run.output) == (b"", b"x\n")


def test_binary_output_without_newline(record: Callable[..., Any]) -> None:
    run = record("\nimport os\nfor i in range(64): os.write(1 + i % 2, bytes(range(256)))\n")
    assert run.finish() == 0
    assert run.output == bytes(range(256)) * 64 == run.stdout


def test_many_lines_quickly(record: Callable[..., Any]) -> None:
    begun = time.monotonic()
    run = record("\nfor n in range(200_000): print('line', n, 'x' * 60)\n")
    assert run.finish() == 0
    assert time.monotonic() - begun < 10
    assert run.stdout == run.output
    assert run.output.count(b"\n") == 200_000


def test_output_comes_while_the_job_runs(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "echo first; sleep 30")
    begun = time.monotonic()
    assert run.process.stdout.readline() == b"first\n"
    assert time.monotonic() - begun < 3


def test_killed_agent_does_not_harm_the_job(
    record: Callable[..., Any], lives: Callable[[int], bool], wait_for: Callable[..., None]
) -> None:
    run = record(
        """
        import time
        for number in range(20):
            print("step", number, flush=True)
            time.sleep(0.05)
        print("finished", flush=True)
        """
    )
    run.wait_output(b"step 2")
    child = run.child_pid()
    run.process.kill()
    run.finish()
    assert lives(child)
    run.wait_output(b"finished")
    wait_for(lambda: not lives(child))
    assert run.output.count(b"\n") == 21
    assert not (run.spool / "end.json").exists()


def test_lock_is_held_for_the_agents_life(record: Callable[..., Any]) -> None:
    import fcntl

    run = record("sleep", "30")
    run.child_pid()
    with open(run.spool / "lock", "rb+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raise AssertionError("not locked")
        except BlockingIOError:
            pass
        run.process.kill()
        run.process.wait()
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the job, still alive, does not hold it


def test_gone_reader_does_not_harm_the_job(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.1; done; exit 9")
    assert run.process.stdout.readline()
    run.process.stdout.close()
    assert run.process.wait(10) == 9
    assert run.output.count(b"\n") == 8


def test_stuck_reader_does_not_stop_the_watching(
    record: Callable[..., Any], wait_for: Callable[..., None]
) -> None:
    run = record(
        "\nimport time\nprint('x' * 300_000, flush=True)\ntime.sleep(60)\n", options=("--time-limit", "1")
    )
    # nobody reads: the pipe is full, and the limit holds all the same
    wait_for((run.spool / "end.json").exists, 10)
    assert run.json("end.json")["ended_by"] == "time_limit"
    assert run.finish() == 128 + signal.SIGTERM
    assert len(run.stdout) == 300_001


def test_quiet_job_costs_little(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "echo started; sleep 60")
    run.wait_output(b"started")
    time.sleep(0.5)

    def ticks() -> int:
        with open(f"/proc/{run.process.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    before, seconds = ticks(), 2.0
    time.sleep(seconds)
    # one per cent, and two ticks for the clock's coarseness
    assert (ticks() - before) / os.sysconf("SC_CLK_TCK") <= 0.01 * seconds + 0.02


def test_stdin_is_the_callers(agent: Path) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(agent), "--spool", f"{folder}/spool", "--", "cat"]
        done = subprocess.run(command, input=b"typed", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"typed")

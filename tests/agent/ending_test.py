"""Ending a job: signals, the time limit, processes that try to get away."""

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

# A tree with a grandchild in a session of its own whose parent is gone, and a child that ignores SIGTERM.
FAMILY = """
    import os, signal, subprocess, sys, time
    subprocess.run(["sh", "-c", "setsid sleep 1000 &"])
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(1000)"
    subprocess.Popen([sys.executable, "-c", deaf])
    time.sleep(0.5)
    print("ready", flush=True)
    time.sleep(1000)
"""


def test_whole_tree_is_ended_on_a_signal(record: Callable[..., Any], lives: Callable[[int], bool]) -> None:
    run = record(FAMILY, options=("--end-on-signal",))
    run.wait_output(b"ready")
    begun = time.monotonic()
    run.signal(signal.SIGTERM)
    assert run.finish() == 128 + signal.SIGTERM
    assert 2.9 < time.monotonic() - begun < 6  # the deaf one got its grace
    first, *rest = run.events("ending")
    assert first["signal"] == "SIGTERM" and len(first["pids"]) == 3
    assert rest and rest[0]["signal"] == "SIGKILL"
    assert not any(lives(pid) for pid in first["pids"])
    end = run.json("end.json")
    assert (end["ended_by"], end["signal"], end["left_processes"]) == ("cancelled", 15, [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_each_of_the_three_signals_ends_the_tree(
    record: Callable[..., Any], lives: Callable[[int], bool], number: signal.Signals
) -> None:
    run = record("sh", "-c", "sleep 1000 & echo ready; wait", options=("--end-on-signal",))
    run.wait_output(b"ready")
    run.signal(number)
    assert run.finish() == 128 + signal.SIGTERM
    [ending] = run.events("ending")
    assert len(ending["pids"]) == 2 and not any(lives(pid) for pid in ending["pids"])
    assert [event["signal"] for event in run.events("signal_received")] == [signal.Signals(number).name]
    assert run.json("end.json")["ended_by"] == "cancelled"


def test_time_limit(record: Callable[..., Any], lives: Callable[[int], bool]) -> None:
    run = record("sh", "-c", "echo x; sleep 1000 & wait", options=("--time-limit", "0.5"))
    begun = time.monotonic()
    assert run.finish() == 143
    assert time.monotonic() - begun < 3
    end = run.json("end.json")
    assert (end["ended_by"], end["hang"]) == ("time_limit", None)
    assert run.json("part.json")["time_limit_s"] == 0.5
    assert not any(lives(pid) for event in run.events("ending") for pid in event["pids"])


def test_ctrl_c_goes_to_the_job_which_may_ignore_it(
    record: Callable[..., Any], lives: Callable[[int], bool]
) -> None:
    run = record(
        """
        import signal, time
        got = []
        signal.signal(signal.SIGINT, lambda *_: (got.append(1), print("got it", flush=True)))
        print("ready", flush=True)
        until = time.monotonic() + 20
        while time.monotonic() < until and not got:
            time.sleep(0.05)
        time.sleep(0.3)
        print("saved", flush=True)
        """
    )
    run.wait_output(b"ready")
    run.signal(signal.SIGINT)
    assert run.finish() == 0
    assert run.output == b"ready\ngot it\nsaved\n"
    assert run.json("end.json")["ended_by"] == "exit"


def test_ctrl_c_ends_a_job_that_does_not_mind_it(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "echo ready; exec sleep 1000")
    run.wait_output(b"ready")
    run.signal(signal.SIGINT)
    assert run.finish() == 130
    end = run.json("end.json")
    assert (end["ended_by"], end["signal"]) == ("cancelled", 2)


def test_second_ctrl_c_ends_the_tree(record: Callable[..., Any], lives: Callable[[int], bool]) -> None:
    run = record(
        """
        import signal, time
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("ready", flush=True)
        time.sleep(1000)
        """
    )
    run.wait_output(b"ready")
    child = run.child_pid()
    run.signal(signal.SIGINT)
    time.sleep(0.5)
    assert lives(child)
    run.signal(signal.SIGINT)
    assert run.finish() == 143
    assert not lives(child)


def test_other_signals_are_handed_on(record: Callable[..., Any]) -> None:
    run = record(
        """
        import signal
        signal.signal(signal.SIGUSR1, lambda *_: print("checkpoint", flush=True))
        print("ready", flush=True)
        signal.pause()
        """,
        options=("--end-on-signal",),
    )
    run.wait_output(b"ready")
    run.signal(signal.SIGUSR1)
    assert run.finish() == 0
    assert run.output == b"ready\ncheckpoint\n"


def test_ignored_signals_stay_ignored(record: Callable[..., Any], agent: Path) -> None:
    start = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]
    run = record("sh", "-c", "kill -HUP $$ $PPID; echo alive", start=[*start, sys.executable, str(agent)])
    assert run.finish() == 0
    assert run.output == b"alive\n"


def test_processes_that_outlive_the_job_are_named_and_left_alone(
    record: Callable[..., Any], lives: Callable[[int], bool]
) -> None:
    run = record("sh", "-c", "setsid sleep 1000 & echo $!")
    assert run.finish() == 0
    pid = int(run.output)
    try:
        [left] = run.json("end.json")["left_processes"]
        assert (left["pid"], left["name"]) == (pid, "sleep")
        assert lives(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


def test_short_pipeline_leaves_nothing(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "(sleep 0.1; echo late) & exit 0")
    assert run.finish() == 0
    assert run.json("end.json")["left_processes"] == []


def test_orphans_are_reaped(record: Callable[..., Any], wait_for: Callable[..., None]) -> None:
    run = record("sh", "-c", "(sleep 0.1 &) ; sleep 100")
    run.child_pid()
    time.sleep(0.5)
    own = str(run.process.pid)
    wait_for(lambda: all(line.split()[1] != own for line in zombies()))
    run.signal(signal.SIGTERM)
    assert run.finish() == 143


def zombies() -> list[str]:
    table = subprocess.run(["ps", "-eo", "pid,ppid,stat"], capture_output=True, text=True, check=True).stdout
    return [line for line in table.splitlines() if line.split()[2].startswith("Z")]

"""Trouble of the agent's own: the job must never notice."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.job

CHECKOUT = Path(__file__).parents[2]


def broken(patch: str) -> list[str]:
    """Start the agent with something in it replaced."""
    head = f"import sys\nsys.path.insert(0, {str(CHECKOUT)!r})\n"
    tail = "\nfrom reprokit.agent.main import main\nsys.exit(main(sys.argv[1:]))\n"
    return [sys.executable, "-c", head + textwrap.dedent(patch) + tail]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def fill(disk: Path) -> None:
    """Leave not one byte free."""
    with open(disk / "other", "ab", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass


def test_full_disk_before_the_start_is_4(
    record: Callable[..., Any], small_disk: Path, tmp_path: Path
) -> None:
    fill(small_disk)
    run = record("touch", str(tmp_path / "ran"), spool=small_disk / "spool")
    assert run.finish() == 4
    assert "nothing was started" in run.stderr
    assert not (tmp_path / "ran").exists()


def test_disk_filled_by_others_stops_the_recording_only(record: Callable[..., Any], small_disk: Path) -> None:
    run = record("sh", "-c", "echo started; sleep 1.5; exit 5", spool=small_disk / "spool")
    run.wait_output(b"started")
    fill(small_disk)
    assert run.finish() == 5
    assert run.stdout == b"started\n"
    assert run.stderr.count("recording stopped") == 1


def test_job_that_fills_the_disk_goes_on(record: Callable[..., Any], small_disk: Path) -> None:
    run = record(
        """
        import os, time
        for number in range(800):
            os.write(1, b"%06d" % number + b"." * 4089 + b"\\n")
            time.sleep(0.003)
        """,
        spool=small_disk / "spool",
    )
    assert run.finish() == 0, run.stderr
    assert run.stderr.count("recording stopped (disk nearly full)") == 1
    # the reader at stdout got all of it, the file has its beginning and its end
    assert [line[:6] for line in run.stdout.splitlines()] == [b"%06d" % number for number in range(800)]
    end = run.json("end.json")
    first, last = end["output_hole"]
    assert end["output_bytes"] == 800 * 4096 and end["recording_stopped"] == "disk nearly full"
    assert 0 < first < last < end["output_bytes"]
    kept = run.output
    assert kept[:first] == run.stdout[:first] and kept[last:] == run.stdout[last:]
    assert not any(kept[first:last])


def test_records_that_cannot_be_written_before_the_start_are_4(
    record: Callable[..., Any], tmp_path: Path
) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    run = record("touch", str(tmp_path / "ran"), preexec_fn=limit)
    assert run.finish() == 4
    assert not (tmp_path / "ran").exists()


def test_records_that_cannot_be_written_any_more_stop(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "echo started; sleep 1.3; echo done; exit 5", options=("--end-hang", "60"))
    run.wait_output(b"started")
    run.child_pid()
    resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (10, 10))  # the agent's, not the job's
    assert run.finish() == 5
    assert run.stdout == run.output == b"started\ndone\n"
    assert run.stderr.count("recording stopped (EFBIG") == 1
    assert not (run.spool / "end.json").exists()
    lines = b"".join(file.read_bytes() for file in run.spool.glob("*.jsonl"))
    assert lines.count(b"\n") == lines.count(b'"s": ')  # no half lines
    assert not list(run.spool.glob("*.tmp"))


def test_hang_is_ended_without_records_too(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "echo 'ValueError: x'; sleep 100", options=("--end-hang", "1.5"))
    run.wait_output(b"ValueError")
    run.child_pid()
    resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (10, 10))
    assert run.finish() == 143


BUGS = {
    "in the loop": "import reprokit.agent.watch as w\nw.Watch._look = lambda *_: 1 / 0",
    "while reading": "import reprokit.agent.tail as t\nt.Tail.read = lambda *_, **__: 1 / 0",
    "at the start": "import reprokit.agent.watch as w\nw.Watch.__init__ = lambda *_: 1 / 0",
    "in the record of the end": "import reprokit.agent.outcome as o\no.record = lambda *_: 1 / 0",
    "in the room": "import reprokit.agent.room as r\nr.Room.make = r.Room.hole = None",
    "without threads": """
        import threading
        def start(self):
            raise RuntimeError("can't start new thread")
        threading.Thread.start = start
        """,
}


@pytest.mark.parametrize("bug", BUGS)
def test_bug_in_the_agent_does_not_reach_the_job(record: Callable[..., Any], bug: str) -> None:
    run = record("sh", "-c", "echo a; sleep 0.3; echo b; exit 3", start=broken(BUGS[bug]))
    assert run.finish() == 3
    assert run.output == b"a\nb\n" == run.stdout
    assert "Traceback" not in run.stderr


def test_last_words_are_read_however_many_they_are(record: Callable[..., Any]) -> None:
    few = "import reprokit.agent.tail as t\nt._MOST = t._CHUNK = 5000"
    run = record("head", "-c", "3000000", "/dev/zero", start=broken(few))
    assert run.finish() == 0
    assert len(run.stdout) == run.json("end.json")["output_bytes"] == 3_000_000


def test_bug_while_collecting_facts_is_said_before_the_start(
    record: Callable[..., Any], tmp_path: Path
) -> None:
    patch = "import reprokit.agent.facts as f\nf.gather = lambda *_: 1 / 0"
    run = record("touch", str(tmp_path / "ran"), start=broken(patch))
    assert run.finish() == 3
    assert "nothing was started" in run.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("option", [("--time-limit", "1"), ("--end-on-signal",)])
def test_limits_hold_after_a_bug(
    record: Callable[..., Any], lives: Callable[[int], bool], option: tuple[str, ...]
) -> None:
    run = record("sh", "-c", "echo up; sleep 100; echo no", options=option, start=broken(BUGS["in the loop"]))
    run.wait_output(b"up")
    time.sleep(0.5)
    if option == ("--end-on-signal",):
        run.signal(signal.SIGTERM)
    assert run.finish() == 143
    assert run.json("end.json")["recording_stopped"].startswith("trouble in the agent: ZeroDivisionError")


NO_PROC = "import reprokit.agent.procs as p\np.everything = lambda root='/proc': {}\np.read = lambda *_: None"


def test_system_without_proc_gives_less(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "echo x; sleep 1.2", start=broken(NO_PROC))
    assert run.finish() == 0
    sample = run.lines("samples.jsonl")[0]
    assert (sample["processes"], sample["cpu_s"], sample["rss_bytes"], sample["ranks"]) == (
        None,
        None,
        None,
        {},
    )


@pytest.mark.parametrize("ignore", ["", "import signal; signal.signal(15, signal.SIG_IGN)"])
def test_hang_is_ended_without_proc(
    record: Callable[..., Any], lives: Callable[[int], bool], ignore: str
) -> None:
    run = record(
        f"\n{ignore}\nimport os, time\nprint('ValueError:', os.getpid(), flush=True)\ntime.sleep(100)\n",
        options=("--end-hang", "0.5"),
        start=broken(NO_PROC + "\nimport reprokit.agent.ending as e\ne.GRACE_S = 0.5"),
    )
    assert run.finish() == 128 + (signal.SIGKILL if ignore else signal.SIGTERM)
    assert not lives(int(run.output.split()[1]))
    assert run.json("end.json")["hang"]["reason"] == "silent_after_failure"


def test_stopped_agent_does_not_hold_up_the_job(
    record: Callable[..., Any], lives: Callable[[int], bool]
) -> None:
    run = record(
        "\nimport os\nfor n in range(3000): os.write(1, b'x' * 1000 + b'\\n')\nos.write(1, b'end')\n"
    )
    child = run.child_pid()
    run.signal(signal.SIGSTOP)
    run.wait_output(b"end")
    until = time.monotonic() + 5
    while lives(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not lives(child)
    run.signal(signal.SIGCONT)
    assert run.finish() == 0
    assert len(run.stdout) == 3000 * 1001 + 3


def test_spool_that_vanishes(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "echo a; sleep 1.5; echo b; exit 2")
    run.wait_output(b"a")
    run.child_pid()
    os.rename(run.spool, run.spool.with_name("gone"))
    assert run.finish() == 2
    assert run.stdout == b"a\nb\n"

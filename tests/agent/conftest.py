"""Runs the agent as users do: as a folder, in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]
AGENT = CHECKOUT / "reprokit" / "agent"
PATIENCE_S = 30.0


class Recording:
    """One start of the agent and what it left behind."""

    def __init__(self, spool: Path, command: list[str], options: list[str], **how: Any) -> None:
        self.spool = spool
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        start = how.pop("start", [sys.executable, str(AGENT)])
        self.process = subprocess.Popen([*start, "--spool", str(spool), *options, "--", *command], **how)
        self.stdout, self.stderr = b"", ""

    def finish(self, patience: float = PATIENCE_S) -> int:
        """Wait for the agent; its exit code."""
        out, err = self.process.communicate(timeout=patience)
        self.stdout, self.stderr = out or b"", (err or b"").decode()
        return self.process.returncode

    def signal(self, number: int) -> None:
        """Send a signal to the agent alone."""
        self.process.send_signal(number)

    @property
    def output(self) -> bytes:
        """output.log"""
        return (self.spool / "output.log").read_bytes()

    def json(self, name: str) -> Any:
        """A JSON file of the spool."""
        return json.loads((self.spool / name).read_text("utf-8"))

    def lines(self, name: str) -> list[Any]:
        """A .jsonl file of the spool."""
        return [json.loads(line) for line in (self.spool / name).read_text("utf-8").splitlines()]

    def events(self, name: str | None = None) -> list[Any]:
        """The timeline, or its events of one name."""
        return [event for event in self.lines("timeline.jsonl") if name in (None, event["event"])]

    def close(self) -> None:
        """End what is left of the agent and of its job."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                stream.close()
        try:
            os.killpg(int(self.json("part.json")["child_pid"]), signal.SIGKILL)
        except (OSError, ValueError, TypeError):
            pass

    def wait_output(self, text: bytes) -> None:
        """Wait until the job has written `text`."""
        wait_until(lambda: (self.spool / "output.log").exists() and text in self.output)

    def child_pid(self) -> int:
        """The pid of the job's main process."""
        wait_until(lambda: (self.spool / "timeline.jsonl").exists() and bool(self.events("started")))
        return int(self.json("part.json")["child_pid"])


def wait_until(true: Callable[[], bool], patience: float = PATIENCE_S) -> None:
    until = time.monotonic() + patience
    while not true():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


@pytest.fixture
def wait_for() -> Callable[..., None]:
    """Wait until something is so: `wait_for(lambda: ..., seconds)`."""
    return wait_until


@pytest.fixture
def lives() -> Callable[[int], bool]:
    """Whether a process runs (a zombie does not)."""

    def check(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        except OSError:
            return False

    return check


@pytest.fixture
def agent() -> Path:
    """The agent's folder."""
    return AGENT


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Callable[..., Recording]]:
    """Start a recording: `record(CMD..., options=[...])`; `CMD` may be one text, a Python program."""
    made: list[Recording] = []

    def start(
        *command: str, options: tuple[str, ...] = (), spool: Path | None = None, **how: Any
    ) -> Recording:
        if len(command) == 1 and "\n" in command[0]:
            program = tmp_path / f"program{len(made)}.py"
            program.write_text(textwrap.dedent(command[0]), "utf-8")
            command = (sys.executable, "-u", str(program))
        recording = Recording(spool or tmp_path / f"spool{len(made)}", list(command), list(options), **how)
        made.append(recording)
        return recording

    yield start
    for recording in made:
        recording.close()

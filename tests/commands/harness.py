"""Runs reprokit as users do, in a process of its own, and looks at what every call must keep to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]
PATIENCE_S = 60.0
ESCAPE = "\x1b"


class Answer:
    """What a finished reprokit said."""

    def __init__(self, words: list[str], code: int, out: str, err: str) -> None:
        self.words, self.code, self.out, self.err = words, code, out, err

    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    def __str__(self) -> str:
        return f"reprokit {' '.join(self.words)} -> {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class Desk:
    """A folder to work in, with a folder for temporary files of its own, so that what is left in it shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir(parents=True)
        self.env = {
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "TMPDIR": str(self.temporary),
            "DESK": str(folder),
        }

    def start(self, *words: str | Path, **how: Any) -> subprocess.Popen[str]:
        """reprokit with these words, in a session and process group of its own."""
        env = {**self.env, **how.pop("env", {})}
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
        command = [sys.executable, "-m", "reprokit", *map(str, words)]
        return subprocess.Popen(
            command, cwd=how.pop("cwd", self.folder), env=env, text=True, start_new_session=True, **how
        )

    def call(self, *words: str | Path, code: int | None = None, **how: Any) -> Answer:
        """Wait for a call's end; `code`: the exit code it must have."""
        with self.start(*words, **how) as process:
            answer = self.finish(process, words)
        assert code is None or answer.code == code, str(answer)
        return answer

    def finish(self, process: subprocess.Popen[str], words: tuple[str | Path, ...] = ()) -> Answer:
        """The answer of a started call. Fails for a traceback, a bug note, or anything meant for a terminal."""
        try:
            out, err = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        answer = Answer([str(word) for word in words], process.returncode, out or "", err or "")
        assert "Traceback (most recent call last)" not in answer.err, str(answer)
        assert answer.code != 3 or words[0] == "record", str(answer)
        assert ESCAPE not in answer.err, str(answer)
        return answer

    def refused(self, *words: str | Path, code: int, says: str = "", **how: Any) -> Answer:
        """A call that ends in an error: nothing on stdout, one line `reprokit: what`, at most one `  next: hint`."""
        answer = self.call(*words, code=code, **how)
        lines = answer.err.splitlines()
        assert answer.out == "", str(answer)
        assert lines and lines[0].startswith("reprokit: "), str(answer)
        assert all(line.startswith("  next: ") for line in lines[1:]) and len(lines) <= 2, str(answer)
        assert says in answer.err, str(answer)
        return answer

    def watch(self, *words: str | Path, **how: Any) -> Watched:
        """Start a call whose progress a test follows."""
        return Watched(self, words, how)

    def tidy(self) -> None:
        """No process of ours is left, and no temporary file."""
        until = time.monotonic() + 3
        while (left := self.processes()) and time.monotonic() < until:
            time.sleep(0.02)
        assert left == []
        # Python itself tries a folder out with a file of eight characters, which a signal may leave there
        names = sorted(path.name for path in self.temporary.iterdir() if path.is_dir() or len(path.name) != 8)
        assert names == []

    def processes(self) -> list[str]:
        """Processes with our mark in their environment, our folder as theirs or in their command line."""
        return [f"{pid}: {words}" for pid, words in self._found()]

    def end_all(self) -> None:
        """Kill what is left, for tests that leave something on purpose."""
        for pid, _ in self._found():
            os.kill(pid, signal.SIGKILL)

    def _found(self) -> Iterator[tuple[int, str]]:
        mine = bytes(self.folder)
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
                words = (entry / "cmdline").read_bytes()
                marks = (entry / "environ").read_bytes().split(b"\0")
                where = os.fsencode(os.readlink(entry / "cwd"))
            except OSError:
                continue
            if state != b"Z" and (b"DESK=" + mine in marks or mine in words or where.startswith(mine)):
                yield int(entry.name), words.replace(b"\0", b" ").decode(errors="replace")


class Watched:
    """A call in progress: what it has said so far, and the job that it runs."""

    def __init__(self, desk: Desk, words: tuple[str | Path, ...], how: dict[str, Any]) -> None:
        self.desk, self.words = desk, words
        self._said = desk.folder / f"said-{len(list(desk.folder.glob('said-*')))}"
        with self._said.open("w") as stderr:
            self.process = desk.start(*words, stderr=stderr, **how)

    @property
    def said(self) -> str:
        """Standard error until now."""
        return self._said.read_text("utf-8")

    def until(self, text: str) -> None:
        """Wait until it has said `text`."""
        wait_until(lambda: text in self.said or self.process.poll() is not None)
        assert text in self.said, self.said

    def until_job_says(self, kit: Path, text: str) -> None:
        """Wait until the job that is being recorded into `kit` has printed `text`."""
        logs = kit.with_name(kit.name + ".open")

        def printed() -> bool:
            return any(
                text in path.read_text("utf-8", "replace") for path in logs.glob("*/node-0/output.log")
            )

        wait_until(lambda: printed() or self.process.poll() is not None)
        assert self.process.poll() is None, self.said

    def signal(self, number: int, *, group: bool = False) -> Answer:
        """Send a signal, to the whole process group as a terminal does or to the process alone; what it says then."""
        (os.killpg if group else os.kill)(self.process.pid, number)
        return self.end()

    def end(self) -> Answer:
        """Wait for its end."""
        answer = self.desk.finish(self.process, self.words)
        answer.err = self.said
        assert "Traceback (most recent call last)" not in answer.err, str(answer)
        return answer


def wait_until(true: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Until `true()` is; fails after a while."""
    until = time.monotonic() + patience_s
    while not true():
        if time.monotonic() > until:
            pytest.fail("waited in vain")
        time.sleep(0.01)

"""The folder a run is recorded into. Strict before the job starts; after that no failure leaves this file."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import threading
from typing import Any, Callable

from .clock import Clock
from .talk import say

_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
OUTPUT = "output.log"


class Refused(Exception):
    """The job must not be started; `code` is the exit code, the text says why."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def encode(value: Any) -> bytes:
    """One JSON text, keys sorted, in UTF-8; bytes of names that are no UTF-8 become U+FFFD."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode("utf-8")


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


class Spool:
    """Files of one recording, all 0600 in a 0700 folder, written by one agent that holds `lock`."""

    def __init__(self, path: str, clock: Clock) -> None:
        """Make and lock the folder; raises Refused."""
        self.path = path
        self.stopped: str | None = None
        self.lock_trouble: str | None = None
        self._clock = clock
        self._appending: dict[str, int] = {}
        self._mutex = threading.Lock()
        try:
            self.path = os.path.abspath(path)
            self._make_folder()
            self._lock_fd = self._lock()
        except OSError as error:
            raise Refused(4, f"cannot record into {self.path}: {error.strerror}") from error

    def _make_folder(self) -> None:
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        try:
            os.mkdir(self.path, 0o700)
        except FileExistsError:
            if not os.path.isdir(self.path):
                raise Refused(6, f"{self.path} is there and is no folder") from None
            if os.listdir(self.path):
                raise Refused(6, f"{self.path} is not empty") from None
        os.chmod(self.path, 0o700)

    def _lock(self) -> int:
        try:
            fd = os.open(os.path.join(self.path, "lock"), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise Refused(6, f"{self.path} is being used by another agent") from None
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            # some cluster file systems have no locks: the pid in the file must do
            self.lock_trouble = error.strerror
        _write_all(fd, str(os.getpid()).encode())
        return fd

    def open_output(self) -> tuple[int, int]:
        """The job's output file: a descriptor to give to the job, one to read from; raises OSError."""
        path = os.path.join(self.path, OUTPUT)
        write_fd = os.open(path, _APPEND | os.O_EXCL, 0o600)
        os.fchmod(write_fd, 0o600)
        return write_fd, os.open(path, os.O_RDONLY)

    def store(self, name: str, data: bytes) -> None:
        """Write a whole file so that it is there complete or not at all; raises OSError."""
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        draft = path + ".tmp"
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            _write_all(fd, data)
        except OSError:
            os.unlink(draft)
            raise
        finally:
            os.close(fd)
        os.replace(draft, path)

    def put(self, name: str, value: Any) -> None:
        """Store a JSON file, unless recording has stopped."""
        self.put_bytes(name, lambda: encode(value) + b"\n")

    def put_bytes(self, name: str, make: Callable[[], bytes]) -> None:
        """Store what `make()` gives, unless recording has stopped."""
        if self.stopped is None:
            try:
                self.store(name, make())
            except Exception as error:  # no trouble of the records may reach the job
                self.stop(_reason(error))

    def put_last(self, name: str, value: Any) -> None:
        """Try to store a JSON file even after recording has stopped: there may be room again."""
        try:
            self.store(name, encode(value) + b"\n")
        except Exception as error:
            if self.stopped is None:
                self.stop(_reason(error))

    def append(self, name: str, value: Any) -> None:
        """Add a line to a .jsonl file, unless recording has stopped."""
        if self.stopped is None:
            try:
                self._append(name, encode(value) + b"\n")
            except Exception as error:
                self.stop(_reason(error))

    def _append(self, name: str, line: bytes) -> None:
        with self._mutex:
            fd = self._appending.get(name)
            if fd is None:
                fd = os.open(os.path.join(self.path, name), _APPEND, 0o600)
                self._appending[name] = fd
            size = os.fstat(fd).st_size
            try:
                _write_all(fd, line)
            except OSError:
                os.ftruncate(fd, size)  # no half line stays behind
                raise

    def event(self, name: str, at: float | None = None, **details: Any) -> None:
        """Add an event to the timeline."""
        self.append("timeline.jsonl", self._event(name, at, details))

    def _event(self, name: str, at: float | None, details: dict[str, Any]) -> dict[str, Any]:
        seconds = self._clock.now() if at is None else at
        return {"t": self._clock.iso(seconds), "s": round(seconds, 3), "event": name, **details}

    def stop(self, why: str) -> None:
        """Record nothing more; said once, to the timeline if it can be, and to stderr."""
        if self.stopped is not None:
            return
        self.stopped = why
        try:
            self._append(
                "timeline.jsonl", encode(self._event("recording_stopped", None, {"why": why})) + b"\n"
            )
        except Exception:
            pass  # this was the trouble itself
        say(f"recording stopped ({why}); the job goes on")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"{errno.errorcode.get(error.errno, error.errno)}: {error.strerror}"
    return f"{type(error).__name__}: {error}"

"""Copies the job's output to the agent's stdout, in a thread: a slow terminal must not stop the watching."""

from __future__ import annotations

import os
import select
import threading

_CHUNK = 1 << 18


class Echo:
    """Follows the output file by its descriptor; ends quietly when stdout goes away."""

    def __init__(self, source_fd: int, target_fd: int = 1) -> None:
        self.position = 0
        self.over = False
        self._source, self._target = source_fd, target_fd
        self._news = threading.Event()
        self._end: int | None = None
        self._thread: threading.Thread | None = threading.Thread(
            target=self._follow, name="echo", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError:
            self._thread = None  # no more threads allowed here: `poke` copies itself

    def poke(self) -> None:
        """There is new output."""
        self._news.set()
        if self._thread is None and not self.over:
            self._step()

    def finish(self, size: int) -> None:
        """The job is over: copy up to `size`, then end."""
        self._end = size
        self.poke()

    def wait(self, seconds: float) -> None:
        """Give the copying some time to end."""
        if self._thread:
            self._thread.join(seconds)

    def _follow(self) -> None:
        while not self.over:
            self._news.wait()
            self._news.clear()
            self._step()

    def _step(self) -> None:
        last = self._end is not None
        try:
            self._copy()
        except OSError:
            last = True  # nobody reads any more; the file has it all
        self.over = last

    def _copy(self) -> None:
        while True:
            end = self._end
            limit = _CHUNK if end is None else min(_CHUNK, end - self.position)
            chunk = os.pread(self._source, limit, self.position) if limit > 0 else b""
            if not chunk:
                return
            self.position += len(chunk)
            while chunk:
                try:
                    chunk = chunk[os.write(self._target, chunk) :]
                except BlockingIOError:
                    select.select([], [self._target], [], 1.0)

"""Signals sent to the agent: kept in order, and able to wake it."""

from __future__ import annotations

import os
import select
import signal
from collections import deque
from types import FrameType

# Asking for an end; the others are the job's business and only handed on.
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
HANDED_ON = (signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


class Inbox:
    """Catches the signals from its making on."""

    def __init__(self) -> None:
        self._arrived: deque[int] = deque()
        self._wake, wake_write = os.pipe()
        for fd in (self._wake, wake_write):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        for number in ENDING + HANDED_ON:
            # what the caller ignores (nohup, background jobs) stays ignored, here and in the job
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._catch)
        signal.signal(signal.SIGCHLD, self._child_changed)

    def _catch(self, number: int, frame: FrameType | None) -> None:
        self._arrived.append(number)

    def _child_changed(self, number: int, frame: FrameType | None) -> None:
        """Nothing to do: that there is a handler wakes the agent when the job ends."""

    def wait(self, seconds: float) -> None:
        """Sleep, but not over a signal."""
        readable, _, _ = select.select([self._wake], [], [], seconds)
        if readable:
            try:
                os.read(self._wake, 4096)
            except BlockingIOError:
                pass

    def take(self) -> int | None:
        """The next signal that arrived, or None."""
        return self._arrived.popleft() if self._arrived else None

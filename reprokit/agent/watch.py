"""The agent's main loop: follows a running job until it is over."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import NamedTuple

from .clock import Clock
from .echo import Echo
from .ending import end_tree
from .hang import Detector
from .hangwatch import HangWatch
from .inbox import ENDING, Inbox
from .options import Options
from .outcome import Cause, Facts
from .procs import Process
from .room import Room
from .spool import OUTPUT, Spool
from .tail import Tail
from .talk import say
from .tree import Tree

# Looks are close together while something happens, and at the start.
_BUSY_S, _START_PAUSE_S, _CALM_S = 0.05, 0.1, 0.25
_START_S = 10.0
_BUSY_FOR_S = 2.0
# Walks over /proc: once a second, less often on a machine with so many processes that this would cost CPU.
_WALK_S, _WALK_MOST_S, _WALK_COST = 1.0, 10.0, 150
_SAMPLE_S, _SAMPLE_LATER_S, _LATER_S = 1.0, 10.0, 120.0
_TWICE_S = 5.0
# Processes of a job that is over get this long to be gone too, before they are called left.
_LEFT_S = 0.5


class Parts(NamedTuple):
    """What the loop works with."""

    options: Options
    clock: Clock
    spool: Spool
    job: subprocess.Popen[bytes]
    tail: Tail
    echo: Echo | None
    inbox: Inbox


class Watch:
    """One job under watch."""

    def __init__(self, parts: Parts) -> None:
        self._options, self._clock, self._spool, self._job, self._tail, self._echo, self._inbox = parts
        self._tree = Tree(self._job.pid)
        self._detector = Detector(self._options.quiet_window)
        self._hang = HangWatch(self._clock, self._spool, self._tree, self._detector)
        self._room = Room(os.path.join(self._spool.path, OUTPUT))
        self._failure_noted = False
        self._last_output = 0.0
        self._next_walk = self._next_sample = 0.0
        self._asked: tuple[int, float] | None = None

    def run(self) -> Facts:
        """Follow the job to its end and say how it ended."""
        cause, left = Cause.OWN, None
        while True:
            self._inbox.wait(self._pause())
            now = self._clock.now()
            over = self._job.poll() is not None
            self._read(now)
            if over:
                break
            found = self._why_end(now)
            if found:
                cause = found
                left = self._end(cause)
                break
        now = self._clock.now()
        outlived: list[Process] = []
        if left is None:
            left = outlived = self._left()
            if outlived and self._options.end_left:
                left = end_tree(self._tree, self._job, self._say_ending, self._read_on)
            elif outlived:
                say(f"the job is over, but processes of it live on: {[process.pid for process in outlived]}")
        size = self._tail.size()
        while self._tail.position < size and self._read(now):
            pass  # one read may stop half-way through a flood
        return Facts(
            code=self._job.poll(),
            cause=cause,
            asked=self._asked,
            ended=now,
            hang=self._hang.close(now),
            left=[self._tree.describe(process) for process in left],
            outlived=[self._tree.describe(process) for process in outlived],
            output_bytes=self._tail.position,
            hole=self._room.hole,
        )

    def _pause(self) -> float:
        now = self._clock.now()
        if now - self._last_output < _BUSY_FOR_S:
            return _BUSY_S
        return _START_PAUSE_S if now < _START_S else _CALM_S

    def _read(self, now: float) -> int:
        """Take in new output; gives how many bytes there were."""
        news = self._tail.read(want_failure=not self._detector.failure_seen)
        if news.new_bytes:
            self._last_output = now
            if self._echo:
                self._echo.poke()
            if self._detector.output(now, news.failure is not None, news.iterations):
                self._spool.event("failure_survived", now)
        if news.failure and not self._failure_noted:
            self._failure_noted = True
            self._spool.event("failure_seen", now, offset=news.failure.offset, line=news.failure.line)
        self._keep_room(now, news.new_bytes > 0)
        return news.new_bytes

    def _keep_room(self, now: float, busy: bool) -> None:
        try:
            if self._room.low(now, busy):
                self._spool.stop("disk nearly full")
                behind = self._echo if self._echo and not self._echo.over else self._tail
                self._room.make(min(behind.position, self._tail.position))
        except OSError:
            pass  # not known here, so nothing to do about it

    def _why_end(self, now: float) -> Cause | None:
        if self._signals(now):
            return Cause.CANCELLED
        if self._options.time_limit is not None and now >= self._options.time_limit:
            return Cause.TIME_LIMIT
        self._look(now)
        if self._hang.step(now) and self._options.end_hang is not None:
            return Cause.HANG
        return None

    def _signals(self, now: float) -> bool:
        """Hand signals on; True when the job is to be ended."""
        while True:
            number = self._inbox.take()
            if number is None:
                return False
            self._spool.event("signal_received", now, signal=signal.Signals(number).name)
            if number in ENDING:
                again = self._asked is not None and now - self._asked[1] <= _TWICE_S
                self._asked = (number, now)
                if self._options.end_on_signal or again:
                    return True
            try:
                os.killpg(self._job.pid, number)
            except OSError as error:
                say(f"could not hand signal {number} on: {error.strerror}")

    def _look(self, now: float) -> None:
        if now < self._next_walk:
            return
        begun = time.thread_time()
        self._tree.look()
        cost = time.thread_time() - begun
        self._next_walk = now + min(max(_WALK_S, _WALK_COST * cost), _WALK_MOST_S)
        self._detector.cpu(now, self._tree.cpu_s)
        if now >= self._next_sample:
            self._next_sample = now + (_SAMPLE_S if now < _LATER_S else _SAMPLE_LATER_S) - 0.05
            figures = {"s": round(now, 3), "output_bytes": self._tail.position}
            self._spool.append("samples.jsonl", {**figures, **self._tree.sample()})

    def _end(self, cause: Cause) -> list[Process]:
        pids = [process.pid for process in self._tree.look()] or [self._job.pid]
        say(f"ending the job ({cause.value}): {len(pids)} processes")
        self._hang.ending(self._clock.now())
        return end_tree(self._tree, self._job, self._say_ending, self._read_on)

    def _say_ending(self, number: signal.Signals, pids: list[int]) -> None:
        self._spool.event("ending", signal=number.name, pids=pids)

    def _read_on(self) -> None:
        try:
            self._read(self._clock.now())
        except Exception as error:  # the end of the job must not stop half-way
            self._spool.stop(f"trouble in the agent: {type(error).__name__}: {error}")

    def _left(self) -> list[Process]:
        """Processes that outlive the main one."""
        until = time.monotonic() + _LEFT_S
        while self._tree.look() and time.monotonic() < until:
            time.sleep(_BUSY_S)
        return list(self._tree.members)

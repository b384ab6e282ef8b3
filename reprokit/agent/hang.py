"""Decides when a job hangs. Pure: times and figures are handed in."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import NamedTuple

SILENT_AFTER_FAILURE = "silent_after_failure"
NOTHING_MOVES = "nothing_moves"

# Share of one core that still counts as nothing: progress threads and heartbeats of a stuck job.
_IDLE_SHARE = 0.02
# Before its first output a job gets this long to start (imports, compilation).
_START_S = 30.0
# This many new iterations after an error mean that the job got over it; one or two may come from ranks
# that were ahead of the failing one.
_SURVIVED = 3
# A gap between two looks that long means that the agent itself did not run: its job may not have, either.
_BLIND_S = 10.0


class Verdict(NamedTuple):
    """A hang: why, and the last moment anything moved (seconds since the start)."""

    reason: str
    since: float


class Detector:
    """Collects signs of life and says whether there are none."""

    def __init__(self, quiet_s: float) -> None:
        self.failure_seen = False
        self._quiet_s = quiet_s
        self._first_output: float | None = None
        self._moved = 0.0
        self._last_look = 0.0
        self._cpu: deque[tuple[float, float]] = deque()
        self._iteration: tuple[int, float] | None = None
        self._gaps: deque[float] = deque(maxlen=64)
        self._after_failure = 0

    def window(self) -> float:
        """Quiet seconds that make a hang: what was asked for, or thrice the usual gap between iterations."""
        return max(self._quiet_s, 3 * median(self._gaps)) if self._gaps else self._quiet_s

    def output(self, now: float, failed: bool, iterations: list[int]) -> bool:
        """New output came. True if it shows that an earlier failure was survived."""
        if self._first_output is None:
            self._first_output = now
        self._moved = now
        if failed:
            self.failure_seen, self._after_failure = True, 0
        fresh = {number for number in iterations if self._iteration is None or number != self._iteration[0]}
        if not fresh:
            return False
        if self._iteration is not None:
            self._gaps.append((now - self._iteration[1]) / len(fresh))
        self._iteration = (iterations[-1], now)
        if self.failure_seen and not failed:
            self._after_failure += len(fresh)
            if self._after_failure >= _SURVIVED:
                self.failure_seen = False
                return True
        return False

    def cpu(self, now: float, total: float | None) -> None:
        """The CPU seconds of the tree so far; None where they are unknown."""
        if total is None:
            self._cpu.clear()
            return
        window = self.window()
        if self._cpu and now - self._cpu[-1][0] < window / 50:
            return
        self._cpu.append((now, total))
        # the oldest one that is kept is the base of the window
        while len(self._cpu) > 1 and self._cpu[1][0] <= now - window:
            self._cpu.popleft()

    def judge(self, now: float) -> Verdict | None:
        """Whether the job hangs at this moment."""
        blind, self._last_look = now - self._last_look > _BLIND_S, now
        if blind:
            self._moved = now
            self._cpu.clear()
        if self._first_output is None and now < _START_S:
            return None
        window = self.window()
        if now - self._moved < window:
            return None
        if self.failure_seen:
            return Verdict(SILENT_AFTER_FAILURE, self._moved)
        return self._idle(now, window)

    def _idle(self, now: float, window: float) -> Verdict | None:
        if not self._cpu or now - self._cpu[0][0] < window:
            return None
        (then, before), (last, total) = self._cpu[0], self._cpu[-1]
        if last <= then or total - before >= _IDLE_SHARE * (last - then):
            return None
        return Verdict(NOTHING_MOVES, max(self._moved, then))

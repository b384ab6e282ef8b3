"""Follows a hang from its first sign to its end: events, stacks, the record for end.json."""

from __future__ import annotations

from typing import Any

from .clock import Clock
from .hang import Detector, Verdict
from .spool import Spool
from .stacks import Stacks
from .tree import Tree

# py-spy stops a process for a moment: a job that stalls again and again is not bothered for ever.
_MOST_ROUNDS = 5


class HangWatch:
    """Asks the detector and acts on its answer."""

    def __init__(self, clock: Clock, spool: Spool, tree: Tree, detector: Detector) -> None:
        self._clock, self._spool, self._tree, self._detector = clock, spool, tree, detector
        self._record: dict[str, Any] | None = None
        self._since = 0.0
        self._stands = False
        self._stacks: Stacks | None = None
        self._rounds = 0

    def step(self, now: float) -> bool:
        """One look; True while a hang stands of which all stacks are taken."""
        verdict = self._detector.judge(now)
        if verdict and not self._stands:
            self._begin(now, verdict)
        elif self._stands and not verdict:
            self._over(now)
        if self._stacks and self._stacks.done:
            self._close_stacks()
        return self._stands and self._stacks is None

    def _begin(self, now: float, verdict: Verdict) -> None:
        self._stands, self._since = True, verdict.since
        members = self._tree.look()
        self._record = {
            "since": self._clock.iso(verdict.since),
            "seconds": None,
            "reason": verdict.reason,
            "failure_seen": self._detector.failure_seen,
            "live_ranks": sorted(self._tree.leaders()),
            "over": False,
        }
        self._spool.event(
            "hang_seen",
            now,
            reason=verdict.reason,
            quiet_s=round(now - verdict.since, 3),
            window_s=round(self._detector.window(), 3),
            processes=[self._tree.describe(process) for process in members],
        )
        if self._stacks is None and self._rounds < _MOST_ROUNDS:
            self._rounds += 1
            self._stacks = Stacks(self._spool, self._tree)

    def ending(self, now: float) -> None:
        """The job is about to be ended: what comes now is our doing, not silence."""
        if self._stands:
            self._finish(now, over=False)

    def _over(self, now: float) -> None:
        self._stands = False
        self._finish(now, over=True)
        self._spool.event("hang_over", now, seconds=round(now - self._since, 3))

    def _finish(self, now: float, over: bool) -> None:
        if self._record is not None and self._record["seconds"] is None:
            self._record.update(seconds=round(now - self._since, 3), over=over)

    def _close_stacks(self) -> None:
        stacks, self._stacks = self._stacks, None
        if stacks:
            index = stacks.close()
            tools = [entry["tool"] for entry in index]
            counts = {tool or "none": tools.count(tool) for tool in sorted(set(tools), key=str)}
            self._spool.event("stacks", tools=counts)

    def close(self, now: float) -> dict[str, Any] | None:
        """The job is over: the last hang, or None."""
        self._close_stacks()
        if self._stands and not self._detector.judge(now):
            self._over(now)  # its last words came after the silence
        self._finish(now, over=False)
        return self._record

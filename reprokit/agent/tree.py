"""The job's process tree: who belongs to it, its ranks, its CPU time."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import procs
from .procs import Process, Rank

_PR_SET_CHILD_SUBREAPER = 36
# A young process may not have run its exec yet: it still shows its parent's environment.
_SETTLED_LOOKS = 5


def become_subreaper() -> bool:
    """Have orphans of the job handed to this process, so that none gets out of sight."""
    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError, ValueError):
        return False


class Tree:
    """All that descends from the job's main process, also what changed its session or lost its parent.

    The job starts in a session of its own and nothing can join a session of others, so every descendant of the
    agent outside the agent's session is the job's; what is inside it is a helper of the agent.
    """

    def __init__(self, main_pid: int, root: str = "/proc") -> None:
        self.main_pid = main_pid
        self.members: list[Process] = []
        self.cpu_s: float | None = None
        self._root = root
        self._agent = os.getpid()
        self._session = os.getsid(0)
        self._known: dict[int, int] = {}
        self._ranks: dict[int, tuple[Rank | None, int]] = {}
        self._cpu_lost = 0.0

    def look(self) -> list[Process]:
        """Read /proc: the members that are alive. Reaps orphans that ended."""
        everyone = procs.everything(self._root)
        found = self._belonging(everyone)
        self._reap([process for process in found if not process.alive])
        self.members = [process for process in found if process.alive]
        self._known = {process.pid: process.start for process in self.members}
        if everyone:
            self._count_cpu(found)
        self._find_ranks()
        return self.members

    def _belonging(self, everyone: dict[int, Process]) -> list[Process]:
        children: dict[int, list[int]] = {}
        seeds = []
        for pid, process in everyone.items():
            children.setdefault(process.parent, []).append(pid)
            ours = process.session == self.main_pid or self._known.get(pid) == process.start
            if ours or process.parent == self._agent:
                seeds.append(pid)
        found: dict[int, Process] = {}
        while seeds:
            pid = seeds.pop()
            process = everyone[pid]
            if pid not in found and pid != self._agent and process.session != self._session:
                found[pid] = process
                seeds.extend(children.get(pid, ()))
        return sorted(found.values())

    def _reap(self, ended: list[Process]) -> None:
        for process in ended:
            # the main process is left to its Popen, other parents reap their own
            if process.parent == self._agent and process.pid != self.main_pid:
                try:
                    os.waitpid(process.pid, os.WNOHANG)
                except OSError:
                    pass

    def _count_cpu(self, found: list[Process]) -> None:
        # What a parent waited for moves into its own figure; what nobody waited for is kept here.
        shown = sum(process.cpu_s + process.waited_cpu_s for process in found) + self._cpu_lost
        before = self.cpu_s or 0.0
        if shown < before:
            self._cpu_lost += before - shown
        self.cpu_s = max(shown, before)

    def _find_ranks(self) -> None:
        ranks = {}
        for process in self.members:
            rank, looks = self._ranks.get(process.pid, (None, 0))
            if looks < _SETTLED_LOOKS:
                rank = procs.rank_of(process.pid, self._root)
            ranks[process.pid] = (rank, looks + 1)
        self._ranks = ranks

    def rank(self, pid: int) -> int | None:
        """The rank of a member, if its environment says one."""
        rank = self._ranks.get(pid, (None, 0))[0]
        return rank.number if rank else None

    def leaders(self) -> dict[int, Process]:
        """One process for each rank: not a launcher that carries a node's number, not a helper forked later."""
        best: dict[int, tuple[int, int, int]] = {}
        chosen: dict[int, Process] = {}
        for process in self.members:
            rank = self._ranks.get(process.pid, (None, 0))[0]
            if rank:
                key = (rank.weight, process.start, process.pid)
                if rank.number not in best or key < best[rank.number]:
                    best[rank.number], chosen[rank.number] = key, process
        return chosen

    def describe(self, process: Process) -> dict[str, Any]:
        """One member as the timeline shows it."""
        wchan = procs.read(f"{self._root}/{process.pid}/wchan", 128)
        return {
            "pid": process.pid,
            "rank": self.rank(process.pid),
            "name": process.name,
            "state": process.state,
            "cpu_s": round(process.cpu_s, 2),
            "wchan": wchan.decode("utf-8", "replace") if wchan and wchan != b"0" else None,
            "vm_bytes": process.vm_bytes,
            "rss_bytes": process.rss_bytes,
        }

    def sample(self) -> dict[str, Any]:
        """The whole tree in figures; null where the machine does not show them."""
        seen = self.cpu_s is not None
        ranks = {
            str(number): {"pid": p.pid, "vm_bytes": p.vm_bytes, "rss_bytes": p.rss_bytes, "state": p.state}
            for number, p in self.leaders().items()
        }
        return {
            "processes": len(self.members) if seen else None,
            "cpu_s": round(self.cpu_s, 2) if self.cpu_s is not None else None,
            "rss_bytes": sum(process.rss_bytes for process in self.members) if seen else None,
            "ranks": ranks,
        }

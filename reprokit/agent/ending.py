"""Ends the job's whole process tree."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import Callable

from .procs import Process
from .tree import Tree

GRACE_S = 3.0
BOUND_S = 10.0
_STEP_S = 0.05

# Called with each signal that is sent for the first time, and the pids it goes to.
Said = Callable[[signal.Signals, "list[int]"], None]


def end_tree(tree: Tree, job: subprocess.Popen[bytes], said: Said, step: Callable[[], None]) -> list[Process]:
    """SIGTERM to all, a grace, then SIGKILL until nothing is left; gives what would not die."""
    begun = time.monotonic()
    terminated: set[int] = set()
    killed: set[int] = set()
    while True:
        job.poll()  # reaps the main process
        left = tree.look()
        late = time.monotonic() - begun
        if (not left and job.poll() is not None) or late > GRACE_S + BOUND_S:
            return left
        # without /proc the main process is all that is known
        pids = {process.pid for process in left} or {job.pid}
        number, told = (signal.SIGTERM, terminated) if late < GRACE_S else (signal.SIGKILL, killed)
        fresh = pids - told
        if fresh:
            said(number, sorted(fresh))
        told |= fresh
        # the main process first: it should end by our signal, not because its children did
        order = sorted(fresh if number == signal.SIGTERM else pids, key=lambda pid: (pid != job.pid, pid))
        _send(number, order, job.pid, not left)
        step()
        time.sleep(_STEP_S)


def _send(number: int, pids: list[int], main_pid: int, blind: bool) -> None:
    for pid in pids:
        try:
            if blind:
                os.killpg(main_pid, number)
            else:
                os.kill(pid, number)
        except OSError:
            pass  # gone, or not ours to end: it shows in what is left

"""Takes the stacks of a hung job: py-spy for Python processes, what /proc shows for the others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from typing import Any

from . import procs
from .procs import Process
from .spool import Spool
from .tree import Tree

_AT_ONCE = 8
_MOST_PROCESSES = 64
_MOST_THREADS = 64
_ONE_S = 10.0
_ALL_S = 15.0


def find_py_spy() -> str | None:
    """py-spy on the path, or beside the Python that runs the agent."""
    return shutil.which("py-spy") or shutil.which("py-spy", path=os.path.dirname(sys.executable))


class Stacks:
    """One round of stack dumps, taken by threads of its own."""

    def __init__(self, spool: Spool, tree: Tree, root: str = "/proc") -> None:
        self._spool, self._root = spool, root
        ranked = {process.pid for process in tree.leaders().values()}
        order = sorted(
            tree.members, key=lambda process: (process.pid not in ranked, process.start, process.pid)
        )
        self._index: dict[int, dict[str, Any]] = {
            process.pid: {
                "pid": process.pid,
                "rank": tree.rank(process.pid),
                "tool": None,
                "file": None,
                "why": "could not, because there was no time left" if place < _MOST_PROCESSES else "left out",
            }
            for place, process in enumerate(order)
        }
        self._waiting = deque(order[:_MOST_PROCESSES])
        self._py_spy = find_py_spy()
        self._deadline = time.monotonic() + _ALL_S
        self._helpers: set[subprocess.Popen[str]] = set()
        self._mutex = threading.Lock()
        count = min(_AT_ONCE, len(self._waiting))
        self._threads = [
            threading.Thread(target=self._work, name="stacks", daemon=True) for _ in range(count)
        ]
        for thread in self._threads:
            try:
                thread.start()
            except RuntimeError:
                break  # no more threads allowed here; those that run share the work

    @property
    def done(self) -> bool:
        """All dumped, or out of time."""
        late = time.monotonic() > self._deadline
        return late or not any(thread.is_alive() for thread in self._threads)

    def close(self) -> list[dict[str, Any]]:
        """End what still runs and write the index."""
        with self._mutex:
            self._waiting.clear()
            helpers = list(self._helpers)
            index = [dict(entry) for entry in self._index.values()]
        for helper in helpers:
            helper.kill()
        self._spool.put("stacks/index.json", index)
        return index

    def _work(self) -> None:
        while time.monotonic() < self._deadline:
            with self._mutex:
                if not self._waiting:
                    return
                process = self._waiting.popleft()
            found = self._dump(process)
            with self._mutex:
                self._index[process.pid].update(found)

    def _dump(self, process: Process) -> dict[str, Any]:
        try:
            text, why = self._ask_py_spy(process)
            tool = "py-spy"
            if text is None:
                text, tool = proc_text(process.pid, self._root), "proc"
            if text is None:
                return {"why": f"could not, because {why}, and /proc shows nothing of it"}
            name = f"stacks/{process.pid}.txt"
            data = text.encode("utf-8", "replace")
            self._spool.put_bytes(name, lambda: data)
            return {"tool": tool, "file": name, "why": why}
        except Exception as error:  # a stack less, and the reason beside it
            return {"why": f"could not, because {type(error).__name__}: {error}"}

    def _ask_py_spy(self, process: Process) -> tuple[str | None, str | None]:
        """The dump, or why there is none."""
        if not procs.is_python(process, self._root):
            return None, "not a Python process"
        if self._py_spy is None:
            return None, "py-spy was not found"
        command = [self._py_spy, "dump", "--pid", str(process.pid)]
        with self._mutex:
            helper = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
            self._helpers.add(helper)
        try:
            left = max(0.1, min(_ONE_S, self._deadline - time.monotonic()))
            text, complaint = helper.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            helper.kill()
            helper.communicate()
            return None, "py-spy took too long"
        finally:
            with self._mutex:
                self._helpers.discard(helper)
        if helper.returncode == 0 and text.strip():
            return text, None
        reason = " ".join(complaint.split())[-300:] or f"code {helper.returncode}"
        return None, f"py-spy failed: {reason}"


def proc_text(pid: int, root: str = "/proc") -> str | None:
    """What the kernel says of a process and of its threads, or None when it is gone."""
    folder = f"{root}/{pid}"
    status = procs.read(f"{folder}/status")
    if status is None:
        return None
    parts = [f"== {name}\n{_text(f'{folder}/{name}')}" for name in ("status", "wchan", "syscall", "stack")]
    try:
        threads = sorted(os.listdir(f"{folder}/task"), key=int)
    except (OSError, ValueError):
        threads = []
    for thread in threads[:_MOST_THREADS]:
        if thread == str(pid):
            continue
        stat = procs.parse_stat(procs.read(f"{folder}/task/{thread}/stat") or b"")
        if stat:
            wait = _text(f"{folder}/task/{thread}/wchan")
            parts.append(
                f"== thread {thread} {stat.name}\nstate {stat.state}, cpu {stat.cpu_s:.2f} s, wchan {wait}"
            )
    children = [p for p in procs.everything(root).values() if p.parent == pid]
    parts += [f"== child {p.pid} {p.name}\nstate {p.state}" for p in sorted(children)]
    return "\n".join(parts) + "\n"


def _text(path: str) -> str:
    data = procs.read(path)
    return "not readable" if data is None else data.decode("utf-8", "replace").strip()

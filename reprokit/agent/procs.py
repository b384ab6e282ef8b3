"""Processes as /proc shows them. Without /proc there are none to see, and callers must say "unknown"."""

from __future__ import annotations

import os
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
# Names that say the rank, the most telling first; nothing else is kept of a process's environment.
RANK_NAMES = (b"RANK", b"OMPI_COMM_WORLD_RANK", b"SLURM_PROCID")
PYTHON_NAMES = ("python", "pypy", "pt_main_thread", "ray::")


class Process(NamedTuple):
    """One line of /proc/PID/stat."""

    pid: int
    name: str
    state: str
    parent: int
    group: int
    session: int
    cpu_s: float
    waited_cpu_s: float
    threads: int
    start: int
    vm_bytes: int
    rss_bytes: int

    @property
    def alive(self) -> bool:
        """Not a zombie, not dead."""
        return self.state not in "ZXx"


class Rank(NamedTuple):
    """A rank and how telling the name was that said so (0 is best)."""

    number: int
    weight: int


def read(path: str, limit: int = 1 << 16) -> bytes | None:
    """The start of a small file, or None when it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return os.read(fd, limit)
    except OSError:
        return None
    finally:
        os.close(fd)


def parse_stat(data: bytes) -> Process | None:
    """Read a stat line; the name may hold blanks and brackets, so it is cut at the last one."""
    head, bracket, tail = data.rpartition(b")")
    pid, opened, name = head.partition(b" (")
    fields = tail.split()
    if not bracket or not opened or len(fields) < 22:
        return None
    try:
        return Process(
            pid=int(pid),
            name=name.decode("utf-8", "replace"),
            state=fields[0].decode("ascii", "replace"),
            parent=int(fields[1]),
            group=int(fields[2]),
            session=int(fields[3]),
            cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS,
            waited_cpu_s=(int(fields[13]) + int(fields[14])) / _TICKS,
            threads=int(fields[17]),
            start=int(fields[19]),
            vm_bytes=int(fields[20]),
            rss_bytes=int(fields[21]) * _PAGE,
        )
    except ValueError:
        return None


def everything(root: str = "/proc") -> dict[int, Process]:
    """All processes of the machine by pid; empty without /proc."""
    found: dict[int, Process] = {}
    try:
        names = os.listdir(root)
    except OSError:
        return found
    for name in names:
        if name.isdigit():
            data = read(f"{root}/{name}/stat", 4096)
            process = parse_stat(data) if data else None
            if process:
                found[process.pid] = process
    return found


def rank_of(pid: int, root: str = "/proc") -> Rank | None:
    """The rank a process was started with, by its environment."""
    data = read(f"{root}/{pid}/environ", 1 << 20)
    if not data:
        return None
    named = {}
    for entry in data.split(b"\0"):
        name, _, value = entry.partition(b"=")
        if name in RANK_NAMES and value.isdigit():
            named[name] = int(value)
    for weight, name in enumerate(RANK_NAMES):
        if name in named:
            return Rank(named[name], weight)
    return None


def is_python(process: Process, root: str = "/proc") -> bool:
    """Whether a process runs a Python interpreter, as far as its program's name tells."""
    try:
        program = os.path.basename(os.readlink(f"{root}/{process.pid}/exe"))
    except OSError:
        program = ""
    return program.startswith(PYTHON_NAMES) or process.name.startswith(PYTHON_NAMES)

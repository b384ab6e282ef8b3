"""Room on the disk: the job writes into the spool itself, so a disk that fills up would reach the job.

When the file system is nearly full, the agent stops its own records and gives the middle of output.log back
to the disk (a hole: the offsets of what stays do not move). A job is worth more than its log.
"""

from __future__ import annotations

import ctypes
import os
from typing import Callable

_KEEP_SIZE_PUNCH_HOLE = 0x01 | 0x02
_LOW = 8 << 20
_KEEP = 1 << 20
_BLOCK = 4096
_EVERY_S = 1.0


def _fallocate() -> Callable[..., int] | None:
    try:
        call = ctypes.CDLL(None, use_errno=True).fallocate
        call.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
        return call
    except (OSError, AttributeError):
        return None


class Room:
    """Watches the free space under one file and makes room in it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._next = 0.0
        self._keep = _KEEP
        self._head: int | None = None
        self._done = 0
        self._can = True

    @property
    def hole(self) -> list[int] | None:
        """First and one-past-last byte that was given back, or None."""
        return None if self._head is None else [self._head, self._done]

    def low(self, now: float, busy: bool) -> bool:
        """Whether the disk is nearly full; looks once a second, or when new output came (`busy`)."""
        if not busy and now < self._next:
            return False
        self._next = now + _EVERY_S
        disk = os.statvfs(self._path)
        free, total = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
        self._keep = min(_KEEP, total // 8)
        return total > 0 and free < min(_LOW, total // 16)

    def make(self, seen: int) -> bool:
        """Give all of the file back that was `seen` by every reader, except its head and its tail."""
        if not self._can:
            return False
        size = os.stat(self._path).st_size
        keep = min(self._keep, size // 4)
        head = keep // _BLOCK * _BLOCK if self._head is None else self._head
        first = max(head, self._done)
        last = min(size - keep, seen) // _BLOCK * _BLOCK
        if last <= first:
            return False
        punch = _fallocate()
        fd = os.open(self._path, os.O_WRONLY)
        try:
            self._can = punch is not None and punch(fd, _KEEP_SIZE_PUNCH_HOLE, first, last - first) == 0
        finally:
            os.close(fd)
        if self._can:
            self._head, self._done = head, last
        return self._can

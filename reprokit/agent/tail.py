"""Reads what the job wrote: how much, the first sign of an error, the iterations."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

_CHUNK = 1 << 20
# One call gives up after this much, so that a flood of output never keeps the agent from its other duties.
_MOST = 32 << 20
_LONGEST_LINE = 1 << 16

_SIGN = re.compile(
    rb"Traceback \(most recent call last\)|Fatal Python error: |terminate called after throwing"
    rb"|Watchdog caught collective operation timeout|(?:Error|Exception|Interrupt|SystemExit)(?=[:\r\n])"
)
# An exception line is a dotted name at the start of a line, behind prefixes like `[rank3]: ` or `0: `.
_EXCEPTION_HEAD = re.compile(
    rb"[ \t]*(?:(?:\[[^\]]{1,48}\]:?|\d{1,6}:)[ \t]*){0,4}(?:[A-Za-z_]\w{0,80}\.){0,8}(?:[A-Za-z_]\w{0,80})?"
)
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_SUFFIXES = (b"Error", b"Exception", b"Interrupt", b"SystemExit")
_ITERATION = re.compile(rb"iteration +(\d{1,9}) */")


class Mark(NamedTuple):
    """Where an error was first seen in the output."""

    offset: int
    line: int


class News(NamedTuple):
    """What one look at the output brought."""

    new_bytes: int
    failure: Mark | None
    iterations: list[int]


class Tail:
    """Follows one growing file by its descriptor."""

    def __init__(self, fd: int) -> None:
        self.position = 0
        self._fd = fd
        self._carry = b""
        self._lines = 0

    def size(self) -> int:
        """How much there is by now."""
        return os.fstat(self._fd).st_size

    def read(self, want_failure: bool) -> News:
        """Read what is new; looks for a failure only if one is wanted."""
        start = self.position
        failure: Mark | None = None
        iterations: list[int] = []
        size = self.size()
        if size < self.position:  # the job cut its own file
            self.position, self._carry = size, b""
            return News(0, None, [])
        while self.position < size and self.position - start < _MOST:
            chunk = os.pread(self._fd, _CHUNK, self.position)
            if not chunk:
                break
            base = self.position - len(self._carry)
            self.position += len(chunk)
            text = self._carry + chunk
            if want_failure and failure is None:
                at = find_failure(text)
                if at is not None:
                    failure = Mark(base + at, self._lines + text.count(b"\n", 0, at) + 1)
            iterations += [int(found) for found in _ITERATION.findall(text)]
            self._keep_last_line(text)
        return News(self.position - start, failure, iterations)

    def _keep_last_line(self, text: bytes) -> None:
        end = text.rfind(b"\n") + 1
        if len(text) - end > _LONGEST_LINE:  # one endless line: no use in reading it again and again
            end = len(text)
        self._lines += text.count(b"\n", 0, end)
        self._carry = text[end:]


def find_failure(text: bytes) -> int | None:
    """Where the first sign of an error begins, or None."""
    for found in _SIGN.finditer(text):
        if found.group() not in _SUFFIXES:
            return found.start()
        begin = max(text.rfind(b"\n", 0, found.start()), text.rfind(b"\r", 0, found.start())) + 1
        head = _ANSI.sub(b"", text[begin : found.start()]) if found.start() - begin < 1024 else b"-"
        if _EXCEPTION_HEAD.fullmatch(head):
            return begin
    return None

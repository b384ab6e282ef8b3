"""A line as rules see it: colour codes taken out, placeholders masked; and the way back to the bytes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from reprokit.redact.rule import MASK, PLACEHOLDER

ANSI = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-OQ-WYZ\\^])")
"""ECMA-48 control sequences and two-byte escapes. Strings such as OSC 8 links stay: they can hold secrets."""


def plain(data: bytes) -> bytes:
    """`data` without colour codes. Line ends stay, so line n is line n of `data`."""
    return ANSI.sub(b"", data) if b"\x1b" in data else data


def masked(text: bytes) -> bytes:
    """`text` with each placeholder turned into as many mask bytes."""
    if b"[secret-" not in text:
        return text
    return PLACEHOLDER.sub(lambda match: MASK * len(match[0]), text)


class View:
    """One line. `text` is what rules read; `replace` gives the line's bytes with spans of `text` replaced."""

    def __init__(self, line: bytes) -> None:
        self._line = line
        self._starts: list[int] = []  # offsets in the plain text at which a code was taken out
        self._codes: list[tuple[int, int]] = []  # their spans in the line
        self._shifts: list[int] = []  # bytes taken out so far, that code included
        self._read_codes()
        self.text = masked(plain(line))

    def _read_codes(self) -> None:
        if b"\x1b" not in self._line:
            return
        removed = 0
        for match in ANSI.finditer(self._line):
            self._starts.append(match.start() - removed)
            self._codes.append(match.span())
            removed += match.end() - match.start()
            self._shifts.append(removed)

    def _first(self, offset: int) -> int:
        """Where the character at `offset` stands in the line."""
        count = bisect_right(self._starts, offset)
        return offset + (self._shifts[count - 1] if count else 0)

    def secret(self, start: int, end: int) -> bytes:
        """The bytes of a span, without codes, placeholders not masked."""
        return plain(self._line)[start:end]

    def replace(self, spans: Iterable[tuple[int, int, bytes]]) -> bytes:
        """The line with each span (start, end, new bytes; ascending, apart) replaced.

        Colour codes inside a span follow the new bytes, so that what was switched off stays off.
        """
        pieces = []
        position = 0
        for start, end, new in spans:
            first, last = self._first(start), self._first(end - 1) + 1
            inside = self._codes[bisect_right(self._starts, start) : bisect_left(self._starts, end)]
            pieces.append(self._line[position:first])
            pieces.append(new)
            pieces.extend(self._line[left:right] for left, right in inside)
            position = last
        pieces.append(self._line[position:])
        return b"".join(pieces)

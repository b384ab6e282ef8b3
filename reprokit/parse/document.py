"""A file as its readers see it: numbered lines without prefixes, found fast by the literals they contain.

Only slices, `find`, `rfind` and `count` of a slice touch the bytes, so a log of any size costs a few passes
of the C library and Python sees the lines that matter. Nothing here is quadratic, also when the file is a
single line.
"""

from __future__ import annotations

import codecs
import heapq
from array import array
from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct

from reprokit.model.facts import Where
from reprokit.parse import prefixes

LINE_BYTES = 1 << 16
"""No more of a line (or of one rewrite of it) is decoded: one line of 1 GB stays cheap."""

QUOTE = 4096
"""No more characters of a line are quoted as evidence."""

_BLOCK = 1 << 14
_BLANK = b" \t\r\0\x0b\x0c"


class Line(Struct, frozen=True):
    """A line of a file, `number` counted from 1.

    `text`: without prefixes, control sequences, NULs and blanks at the end; bytes that are not UTF-8 are
    U+FFFD. `raw_text`: the same with the prefixes. At most `LINE_BYTES` of the line are in either. `rank`:
    global rank, `local_rank`: rank on its node, `task`: Slurm task, each if a prefix says it.
    """

    number: int
    text: str
    rank: int | None
    local_rank: int | None
    raw_text: str
    task: int | None = None


class Document:
    """One file of a run. UTF-16 with a byte order mark is read as text too.

    A progress bar rewrites its line with carriage returns: the text of a line is its last rewrite that is not
    blank, and `found` also gives earlier ones. CRLF ends a line as LF does.
    """

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = _as_utf8(data)
        self._starts: dict[bytes, array[int]] = {}
        self._before: array[int] | None = None
        self._near = (1, 0)

    def __len__(self) -> int:
        """How many lines there are; a last line without an end counts."""
        ends = self._line_ends()
        return ends[-1] + (1 if self.data and not self.data.endswith(b"\n") else 0)

    def line(self, number: int) -> Line:
        """The line with this number, from 1; IndexError outside the file."""
        start = self._start_of(number)
        return self._line(number, start, self._end_of_line(start))

    def lines(self, first: int = 1) -> Iterator[Line]:
        """All lines from number `first` on."""
        if first > len(self):
            return
        start, number = self._start_of(first), first
        while start < len(self.data):
            end = self._end_of_line(start)
            yield self._line(number, start, end)
            start, number = end + 1, number + 1

    def has(self, anchors: tuple[bytes, ...]) -> bool:
        """True if any of the literals is in the file."""
        return any(self._starts_with(anchor) for anchor in anchors)

    def hits(self, anchors: tuple[bytes, ...]) -> Iterator[int]:
        """Numbers of the lines that contain any of the literals, ascending, each once."""
        last = 0
        for number, _ in self._spots(anchors):
            if number != last:
                yield number
                last = number

    def found(self, anchors: tuple[bytes, ...]) -> Iterator[Line]:
        """The lines that contain any of the literals, in order.

        Of a line that was rewritten, each rewrite that contains one is given, under the same number.
        """
        for number, start in self._spots(anchors):
            end = self.data.find(b"\n", start, start + LINE_BYTES)
            end = end if end >= 0 else min(len(self.data), start + LINE_BYTES)
            rewritten = self.data.find(b"\r", start, end)
            yield self._decoded(number, start, rewritten if rewritten >= 0 else end)

    def where(self, line: Line) -> Where:
        """The place of `line` in evidence, quoted as it was printed, prefixes included."""
        return Where(self.path, line.number, line.raw_text[:QUOTE])

    def _spots(self, anchors: tuple[bytes, ...]) -> Iterator[tuple[int, int]]:
        """(line number, offset) of every line or rewrite that contains one of `anchors`."""
        number, offset = 1, 0
        last = -1
        for start in heapq.merge(*(self._starts_with(anchor) for anchor in anchors)):
            if start == last:
                continue
            last = start
            if start - offset <= _BLOCK:
                number += self.data[offset:start].count(b"\n")
            else:
                number = self._number_at(start)
            offset = start
            yield number, start

    def _starts_with(self, anchor: bytes) -> array[int]:
        """Where the lines (or rewrites) that contain `anchor` begin; found once, whoever asks."""
        if anchor not in self._starts:
            self._starts[anchor] = array("Q", _segment_starts(self.data, anchor))
        return self._starts[anchor]

    def _line_ends(self) -> array[int]:
        """How many line ends stand before each block of the file; the last entry counts all."""
        if self._before is None:
            counts = array("Q", [0])
            for start in range(0, len(self.data), _BLOCK):
                counts.append(counts[-1] + self.data[start : start + _BLOCK].count(b"\n"))
            self._before = counts
        return self._before

    def _number_at(self, offset: int) -> int:
        block = offset // _BLOCK
        return 1 + self._line_ends()[block] + self.data[block * _BLOCK : offset].count(b"\n")

    def _start_of(self, number: int) -> int:
        """The offset at which a line begins. The line after the last one asked for costs nothing."""
        if not 1 <= number <= len(self):
            raise IndexError(f"{self.path} has no line {number}")
        if number == self._near[0]:
            return self._near[1]
        ends = self._line_ends()
        block = max(0, bisect_left(ends, number - 1) - 1)
        start = block * _BLOCK
        for _ in range(number - 1 - ends[block]):
            start = self.data.find(b"\n", start) + 1
        self._near = (number, start)
        return start

    def _end_of_line(self, start: int) -> int:
        end = self.data.find(b"\n", start)
        return end if end >= 0 else len(self.data)

    def _line(self, number: int, start: int, end: int) -> Line:
        self._near = (number + 1, end + 1)
        if self.data.find(b"\r", start, end) >= 0:
            start, end = _last_rewrite(self.data, start, end)
        return self._decoded(number, start, end)

    def _decoded(self, number: int, start: int, end: int) -> Line:
        text = self.data[start : min(end, start + LINE_BYTES)].decode("utf-8", "replace")
        raw_text = prefixes.without_controls(text).rstrip()
        plain = prefixes.strip(raw_text)
        return Line(number, plain.text, plain.rank, plain.local_rank, raw_text, plain.task)


def _as_utf8(data: bytes) -> bytes:
    """`data` without a byte order mark, from UTF-16 if the mark says so."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data


def _segment_starts(data: bytes, anchor: bytes) -> Iterator[int]:
    """Where each stretch between LF or CR begins that contains `anchor`, ascending."""
    if not anchor:
        return
    done, line_end = 0, -1
    position = data.find(anchor)
    while position >= 0:
        start = max(done, data.rfind(b"\n", done, position) + 1)
        yield max(start, data.rfind(b"\r", start, position) + 1)
        if line_end < position:
            line_end = data.find(b"\n", position)
            line_end = line_end if line_end >= 0 else len(data)
        rewritten = data.find(b"\r", position, line_end)
        done = (rewritten if rewritten >= 0 else line_end) + 1
        position = data.find(anchor, done)


def _last_rewrite(data: bytes, start: int, end: int) -> tuple[int, int]:
    """Bounds of the last stretch between carriage returns that is not blank.

    Only the last `LINE_BYTES` are looked at for something that is not blank.
    """
    window = max(start, end - LINE_BYTES)
    end = window + len(data[window:end].rstrip(_BLANK))
    return max(start, data.rfind(b"\r", start, end) + 1), end

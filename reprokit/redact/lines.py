"""Which lines a rule may match at all: a fast search for literals, so that `re` sees few lines.

The seam for a faster engine: anything that gives the same `Candidate`s for the same literals can take its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reprokit.redact.rule import Rule

CHUNK = 1 << 20
"""Bytes read at a time; a chunk ends at a line feed, so one line longer than this is one chunk."""


class Candidate(NamedTuple):
    """A line (0-based, within the chunk) and the rules that have a literal on it, in table order."""

    line: int
    rules: tuple[Rule, ...]


class LiteralIndex:
    """The literals of a rules table, each with the rules that it stands for."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        masks: dict[bytes, int] = {}
        for number, rule in enumerate(self._rules):
            for literal in rule.literals:
                masks[literal] = masks.get(literal, 0) | 1 << number
        self._masks = masks
        self._picked: dict[int, tuple[Rule, ...]] = {}

    def candidates(self, plain: bytes) -> list[Candidate]:
        """Lines of `plain` with a literal on them, ascending. Upper and lower case are the same."""
        text = plain.lower()
        hits: dict[int, int] = {}  # offset of a line's first byte -> bits of its rules
        for literal, mask in self._masks.items():
            position = text.find(literal)
            while position >= 0:
                start = text.rfind(b"\n", 0, position) + 1
                hits[start] = hits.get(start, 0) | mask
                end = text.find(b"\n", position)
                if end < 0:
                    break
                position = text.find(literal, end)
        return list(self._numbered(text, hits))

    def _numbered(self, text: bytes, hits: dict[int, int]) -> Iterator[Candidate]:
        number = seen = 0
        for start in sorted(hits):
            number += text.count(b"\n", seen, start)
            seen = start
            yield Candidate(number, self._pick(hits[start]))

    def _pick(self, mask: int) -> tuple[Rule, ...]:
        if mask not in self._picked:
            self._picked[mask] = tuple(rule for i, rule in enumerate(self._rules) if mask >> i & 1)
        return self._picked[mask]


def chunks(data: bytes, size: int = CHUNK) -> Iterable[bytes]:
    """`data` in pieces of about `size` bytes, cut after line feeds only."""
    start = 0
    while start < len(data):
        end = start + size
        if end < len(data):
            newline = data.find(b"\n", end)
            end = newline + 1 if newline >= 0 else len(data)
        yield data[start:end]
        start = end

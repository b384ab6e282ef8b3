"""The shape of one line of the rules table. Rules are data: rules.py and assignments.py hold them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

PLACEHOLDER = re.compile(rb"\[secret-(?P<kind>[a-z0-9]+(?:-[a-z0-9]+)*)-(?P<number>[0-9]{1,9})\]")
"""What stands in the place of a secret: `[secret-hf-token-1]`."""

MASK = b"\x01"
"""Placeholders are read as a run of this byte, so that no rule looks inside them."""


class Found(NamedTuple):
    """One secret in a line: its kind and the offsets (bytes) of its first and one past its last byte.

    `soft`: the end is a guess (an unquoted value), so a known format that starts at the same byte wins.
    """

    kind: str
    start: int
    end: int
    soft: bool = False


class Sample(NamedTuple):
    """A line that a rule must find something in, and every secret of that line, left to right."""

    line: bytes
    secrets: tuple[bytes, ...]


Judge = Callable[[re.Match[bytes]], Found | None]
Gate = Callable[[bytes], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One way a secret is written.

    `literals`: lower case; no line without one of them (compared in lower case) can match `pattern`.
    `pattern`: has the named group `secret`; sees one line without its line feed, colour codes taken out.
    `judge`: looks closer at a match; None means: the group `secret` is the secret.
    `gate`: a cheap look at the line in lower case; what it refuses, `pattern` could not match either.
    `source`: where the format is described, with the date it was looked at.
    """

    name: str
    kind: str
    source: str
    literals: tuple[bytes, ...]
    pattern: re.Pattern[bytes]
    positive: tuple[Sample, ...]
    negative: tuple[bytes, ...]
    judge: Judge | None = None
    gate: Gate | None = None

    def find(self, line: bytes) -> list[Found]:
        """All secrets of one line, left to right. A match that is judged to be none is read again inside."""
        if self.gate and not self.gate(line.lower()):
            return []
        found = []
        position = 0
        while match := self.pattern.search(line, position):
            start, end = match.span("secret")
            verdict = self.judge(match) if self.judge else Found(self.kind, start, end)
            if verdict is None:
                inside = match.end("name") if "name" in self.pattern.groupindex else start
                position = max(inside, position + 1)
            else:
                found.append(verdict)
                position = max(verdict.end, position + 1)
        return found


@dataclass(frozen=True, slots=True)
class WrapRule:
    """A format of a fixed length whose prefix cannot be mistaken, so that a hard wrap can be healed.

    `length`: characters (ASCII letters and digits) after `prefix`.
    """

    name: str
    kind: str
    prefix: bytes
    length: int


def fake(seed: int, length: int, alphabet: str = "Qw7Er2Ty9UiOp4As1Df8Gh3JkLz6Xc5VbNm") -> bytes:
    """A made-up value for samples, put together so that no scanner takes this repository for a leak."""
    return "".join(
        alphabet[(seed * 7 + i * i * 3 + i * seed) % len(alphabet)] for i in range(length)
    ).encode()

"""One regex for many words, shared beginnings written once, so that a thousand host names cost little."""

from __future__ import annotations

import re
from collections.abc import Iterable


def any_of(values: Iterable[str]) -> str:
    """A regex for any of `values`, the longest first; it matches nothing if there are none."""
    return _branches(sorted(set(values))) or r"(?!)"


def _branches(words: list[str]) -> str:
    optional = "?" if words and not words[0] else ""
    words = [word for word in words if word]
    branches: list[str] = []
    position = 0
    while position < len(words):
        first = words[position]
        stop = position + 1
        while stop < len(words) and words[stop][0] == first[0]:
            stop += 1
        shared = _shared(first, words[stop - 1])
        rest = [word[shared:] for word in words[position:stop]]
        branches.append(re.escape(first[:shared]) + (_branches(rest) if len(rest) > 1 else ""))
        position = stop
    return f"(?:{'|'.join(branches)}){optional}" if branches else ""


def _shared(first: str, last: str) -> int:
    """How many characters two words begin with alike; of a sorted group, first and last decide for all."""
    count = 0
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        count += 1
    return count

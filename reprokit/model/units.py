"""Sizes: integer bytes beside the text they were printed as.

Three conventions meet in one log. Megatron-Bridge's `mem-*-gigabytes` are decimal (1e9), Megatron-LM's
"MB" are 2**20, PyTorch's and NumPy's "GiB"/"MiB" are binary. A figure therefore never travels without its text.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal

from msgspec import Struct

BINARY = {"bytes": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
DECIMAL = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?(?P<unit>bytes|[KMGT]iB)\b")
"""A size as PyTorch and NumPy print it: `24.0 MiB`, `512 bytes`."""


class Size(Struct, frozen=True):
    """A number of bytes and the text it was read from."""

    bytes: int
    printed: str


def scaled(number: str, factor: int) -> int:
    """`number` (decimal text) times `factor`, in bytes, ties to even."""
    return int((Decimal(number) * factor).to_integral_value(rounding=ROUND_HALF_EVEN))


def binary_size(text: str) -> Size | None:
    """The first size in `text` with a binary unit, or None."""
    match = SIZE.search(text)
    if match is None:
        return None
    return Size(scaled(match["number"], BINARY[match["unit"]]), match[0])


def gib(count: int) -> str:
    """`count` bytes for people: GiB above one GiB, MiB above one MiB, else bytes; two decimals."""
    magnitude = abs(count)
    if magnitude >= 2**30:
        return f"{count / 2**30:.2f} GiB"
    if magnitude >= 2**20:
        return f"{count / 2**20:.2f} MiB"
    return f"{count} bytes"


def signed(count: int) -> str:
    """A difference in bytes for people, always with its sign."""
    return ("+" if count >= 0 else "-") + gib(abs(count))

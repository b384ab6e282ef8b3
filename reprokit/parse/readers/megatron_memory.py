"""Memory figures after an iteration.

Megatron-Bridge `training/utils/train_utils.py` prints decimal GB, rounded to five digits, for keys that the
user may rename, reorder and select (`logger.memory_keys`); keys without "gigabytes" are counts and are left
out. Megatron-LM `training/utils/common_utils.py` prints MiB and writes "MB". Both 2026-11: `[Rank 0] (after 2
iterations) memory (GB) | mem-allocated-gigabytes: 85.178 | ... | mem-alloc-retires: 0` `[Rank 0] (after 2
iterations) memory (MB) | allocated: 81231.53 | max allocated: 159312.10 | ...`
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reprokit.model.trace import Event, MemoryLine
from reprokit.model.units import BINARY, DECIMAL, Size, scaled
from reprokit.parse.document import Document
from reprokit.parse.reader import is_text

name = "megatron_memory"
anchors: tuple[bytes, ...] = (b" iterations) memory (",)
claims = is_text

_LINE = re.compile(
    r"\[Rank (?P<rank>\d{1,7})\] \(after (?P<iteration>\d{1,12}) iterations\)"
    r" memory \((?P<unit>GB|MB)\) \|(?P<figures>.*)"
)
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,20})?(?:e-?\d\d?)?")

_FACTOR = {"GB": DECIMAL["GB"], "MB": BINARY["MiB"]}


def read(document: Document) -> Iterator[Event]:
    """One event a line. The rank in brackets counts, whatever prefix the line has."""
    for line in document.found(anchors):
        match = _LINE.search(line.text)
        if match is not None:
            yield MemoryLine(
                where=document.where(line),
                rank=int(match["rank"]),
                after_iteration=int(match["iteration"]),
                values=_sizes(match["figures"], match["unit"]),
            )


def _sizes(figures: str, unit: str) -> dict[str, Size]:
    sizes = {}
    for figure in figures.split("|"):
        key, _, number = (part.strip() for part in figure.partition(":"))
        if _NUMBER.fullmatch(number) and key and (unit == "MB" or "gigabytes" in key):
            sizes[key] = Size(scaled(number, _FACTOR[unit]), f"{number} {unit}")
    return sizes

"""The cache in `derived/`: what was worked out from evidence, and from which. May be deleted at any time."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from reprokit.store import files
from reprokit.store.layout import Layout
from reprokit.version import VERSION

T = TypeVar("T")


class Entry(Struct, frozen=True, kw_only=True):
    """One cached answer with the version and the evidence digest that it came from."""

    reprokit: str
    evidence: str
    value: msgspec.Raw


def load(layout: Layout, name: str, evidence: str, kind: type[T], changed_ns: int = 0) -> T | None:
    """The cached value, or None where there is none, it is stale or it cannot be read.

    `changed_ns`: when its evidence last changed (st_ctime); a cache that is not newer is not believed.
    """
    entry = _entry(layout, name)
    if entry is None or (entry.evidence, entry.reprokit) != (evidence, VERSION):
        return None
    if (layout.derived / f"{name}.json").stat().st_mtime_ns <= changed_ns:
        return None
    try:
        return msgspec.json.decode(entry.value, type=kind)
    except msgspec.MsgspecError:
        return None


def _entry(layout: Layout, name: str) -> Entry | None:
    path = layout.derived / f"{name}.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=Entry)
    except (OSError, UnicodeDecodeError, RecursionError, msgspec.MsgspecError):
        return None


def save(layout: Layout, name: str, evidence: str, value: Any) -> None:
    """Keep `value` for the next call."""
    entry = {"reprokit": VERSION, "evidence": evidence, "value": value}
    text = msgspec.json.format(msgspec.json.encode(entry, order="deterministic"), indent=1)
    files.write(layout.derived / f"{name}.json", text + b"\n")


def state(layout: Layout, digests: dict[str, str]) -> str:
    """`fresh` if every name's cache matches its digest, `absent` if none exists, else `stale`."""
    if not any((layout.derived / f"{name}.json").exists() for name in digests):
        return "absent"
    entries = {name: _entry(layout, name) for name in digests}
    fresh = all(
        entry is not None and entry.evidence == digests[name] and entry.reprokit == VERSION
        for name, entry in entries.items()
    )
    return "fresh" if fresh else "stale"

"""What makes two failures the same."""

from __future__ import annotations

import hashlib

from msgspec import Struct


class Fingerprint(Struct, frozen=True, kw_only=True):
    """`id` decides sameness; the other fields are compared beside it and each difference is said.

    `id`: hash of kind and site; without a site, of kind and exception.
    `site`: `path/suffix.py:function`. `statement`: the failing source line, if printed.
    `phase`: startup, training, capture, after_capture. `iteration`: the one in progress.
    """

    id: str
    kind: str
    site: str | None
    exception: str | None
    statement: str | None
    phase: str | None
    iteration: int | None
    ranks: tuple[int, ...]
    then_hung: bool | None


def fingerprint_id(kind: str, site: str | None, exception: str | None) -> str:
    """12 hex digits that name a failure across runs, revisions and clusters."""
    words = (kind, "site", site) if site else (kind, "exception", exception or "")
    return hashlib.sha256("\0".join(str(word) for word in words).encode()).hexdigest()[:12]

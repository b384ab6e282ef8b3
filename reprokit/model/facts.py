"""Where a fact comes from. Nothing is said in a report without one of these beside it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

How = Literal["observed", "inferred", "stated"]
"""observed: printed in evidence; inferred: reasoned from it; stated: typed in by a person."""


class Where(Struct, frozen=True):
    """A place in evidence: file (relative to its run), 1-based line (0: the file as a whole), the text there."""

    path: str
    line: int
    text: str = ""


class Detail(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one field of a failure is known, or why it is not."""

    printed: str | None = None
    path: str | None = None
    line: int | None = None
    how: How | None = None
    unknown: str | None = None


def seen(where: Where, printed: str, how: How = "observed") -> Detail:
    """A detail that points at the line `where` and the words `printed` on it."""
    return Detail(printed=printed, path=where.path, line=where.line, how=how)


def unknown(why: str) -> Detail:
    """A detail that says why a field is null."""
    return Detail(unknown=why)

"""What a rule concluded, with the evidence it stands on."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from reprokit.model.facts import Where

Confidence = Literal["established", "likely", "possible"]


class Finding(Struct, frozen=True, kw_only=True):
    """`holds` False means the rule looked and excluded its cause. `numbers` are integers of bytes or plain counts."""

    rule: str
    holds: bool
    confidence: Confidence
    statement: str
    evidence: tuple[Where, ...] = ()
    numbers: dict[str, int | float | None] = {}
    suggests: str | None = None

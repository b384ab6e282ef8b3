"""Answers: what a trial showed, what a candidate patch did."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from reprokit.model.facts import Where
from reprokit.model.finding import Finding

TrialOutcome = Literal["reproduced", "changed", "passed", "inconclusive"]
CandidateOutcome = Literal["fixes", "does_not_fix", "changes_failure", "does_not_apply", "inconclusive"]


class Attempt(Struct, frozen=True, kw_only=True):
    """One run behind a verdict."""

    run: str
    outcome: TrialOutcome


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether the failure came back. `reasons` are whole sentences, the deciding one first."""

    outcome: TrialOutcome
    reasons: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()


class Delta(Struct, frozen=True, kw_only=True):
    """One figure of one rank in two runs at an equal point: `a` and `b` in bytes with their texts, `b - a`."""

    what: str
    rank: int | None
    point: str
    a_bytes: int
    b_bytes: int
    delta_bytes: int
    a: Where
    b: Where
    a_printed: str
    b_printed: str


class Comparison(Struct, frozen=True, kw_only=True):
    """Two runs side by side: which fields agree, which differ (with both values), figures rank by rank."""

    a: str
    b: str
    by_rank: tuple[Delta, ...] = ()
    same_in: tuple[str, ...] = ()
    differs_in: dict[str, tuple[str, str]] = {}
    deltas: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class CandidateVerdict(Struct, frozen=True, kw_only=True):
    """What a candidate did on the fixed base. `how`: `run` here, or `stated` from runs that existed."""

    id: str
    kind: str
    base: str | None
    outcome: CandidateOutcome
    how: Literal["run", "stated"]
    control: str | None
    patched: str | None
    title: str | None = None
    expected: str | None = None
    reasons: tuple[str, ...] = ()
    deltas: tuple[Delta, ...] = ()
    side_effects: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()

    @property
    def as_expected(self) -> bool:
        """True unless a different outcome was expected of it."""
        return self.expected is None or self.expected == self.outcome

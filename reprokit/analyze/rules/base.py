"""What a rule is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from reprokit.model.finding import Finding
from reprokit.model.run import Run
from reprokit.model.trace import Event


class Rule(Protocol):
    """One thing worth saying about a run. Says nothing where the evidence has nothing on it.

    A rule that looked and excluded its cause returns a finding with `holds=False`: readers need that too.
    """

    name: str

    def look(self, run: Run, events: Sequence[Event]) -> Iterable[Finding]:
        """Findings about `run`; `events` for what the record does not carry."""
        ...


def rank_list(ranks: Iterable[int]) -> str:
    """`rank 3`, `ranks 0, 2 and 4`."""
    words = [str(rank) for rank in sorted(ranks)]
    if len(words) == 1:
        return f"rank {words[0]}"
    return f"ranks {', '.join(words[:-1])} and {words[-1]}"

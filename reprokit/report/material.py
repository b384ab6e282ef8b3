"""What a report is made of."""

from __future__ import annotations

from msgspec import Struct

from reprokit.model.facts import Where
from reprokit.model.launch import Launch
from reprokit.model.recipe import Recipe
from reprokit.model.run import Run
from reprokit.model.verdict import CandidateVerdict, Verdict


class Material(Struct, frozen=True, kw_only=True):
    """Facts and texts; no report writer looks anywhere else.

    `excerpts`: place of an exception -> the lines of its traceback. `patches`: candidate id -> text of the patch.
    `scopes`: candidate id -> what a person said it is for. `repro`: text of `repro.sh`, if it was emitted.
    """

    kit: str
    kit_id: str
    version: str
    subject: Run
    verdict: Verdict
    runs: dict[str, Run]
    candidates: tuple[CandidateVerdict, ...]
    excerpts: dict[Where, str]
    patches: dict[str, str]
    scopes: dict[str, str]
    repro: str | None = None
    recipe: Recipe | None = None
    launch: Launch | None = None
    behavior: str | None = None
    pass_iterations: int | None = None
    loose: tuple[str, ...] = ()


def ranks_text(ranks: tuple[int, ...]) -> str:
    """`rank 3`, `ranks 0, 2 and 4`, `a rank that no line names`."""
    if not ranks:
        return "a rank that no line names"
    words = [str(rank) for rank in ranks]
    if len(words) == 1:
        return f"rank {words[0]}"
    return f"ranks {', '.join(words[:-1])} and {words[-1]}"

"""Where did the live processes stand when nothing moved any more?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reprokit.analyze import sites
from reprokit.analyze.rules.base import rank_list
from reprokit.model.facts import Where
from reprokit.model.finding import Finding
from reprokit.model.run import Run
from reprokit.model.trace import Event, PartFacts, Stack

Path = tuple[str, ...]
"""Sites of one stack's own code, outermost first."""


class HangMechanism:
    """Groups the ranks of a hung job by where their call paths part."""

    name = "hang_mechanism"

    def look(self, run: Run, events: Sequence[Event]) -> Iterable[Finding]:
        """One finding where stacks of two or more ranks are known."""
        if run.hang is None:
            return
        roots = tuple(event.cwd for event in events if isinstance(event, PartFacts))
        paths, places = _paths(events, roots)
        if len(paths) < 2:
            return
        depth = _common(list(paths.values()))
        groups = _groups(paths, depth)
        failed = set(run.failure.failing_ranks) if run.failure else set()
        said = []
        for members in groups:
            note = ", the failed ones," if failed and set(members) == failed else ""
            said.append(f"{rank_list(members)}{note} in {_waiting([paths[rank] for rank in members], depth)}")
        parted = len(groups) > 1 and any(set(members) == failed for members in groups)
        yield Finding(
            rule=self.name,
            holds=True,
            confidence="likely" if parted else "established",
            statement=f"Stacks taken during the silence show {'; '.join(said)}."
            + (" So the failed ranks and the others each wait for the other group." if parted else ""),
            evidence=tuple(places[members[0]] for members in groups),
            numbers={"ranks_with_stacks": len(paths)},
        )


def _paths(events: Sequence[Event], roots: tuple[str, ...]) -> tuple[dict[int, Path], dict[int, Where]]:
    """Rank -> call path of its main thread, and where that was read. Library frames are left out."""
    stacks = [event for event in events if isinstance(event, Stack)]
    rank_of = {event.pid: event.rank for event in stacks if event.rank is not None}
    paths: dict[int, Path] = {}
    places: dict[int, Where] = {}
    for stack in stacks:
        rank = rank_of.get(stack.pid)
        if rank is None or rank in paths or stack.thread not in {None, "MainThread"}:
            continue
        own = [frame for frame in reversed(stack.frames) if sites.site_frame([frame], roots) is not None]
        if own:
            paths[rank] = tuple(sites.site(frame, roots) for frame in own)
            places[rank] = stack.where
    return paths, places


def _common(paths: Sequence[Path]) -> int:
    """How many leading sites all paths share."""
    shortest = min(len(path) for path in paths)
    return next((index for index in range(shortest) if len({path[index] for path in paths}) > 1), shortest)


def _groups(paths: dict[int, Path], depth: int) -> list[list[int]]:
    """Ranks whose paths go the same way at `depth`, where all paths first part; in order of their lowest rank."""
    groups: dict[Path, list[int]] = {}
    for rank in sorted(paths):
        groups.setdefault(paths[rank][depth : depth + 1], []).append(rank)
    return sorted(groups.values())


def _waiting(paths: Sequence[Path], depth: int) -> str:
    """Where a group's way parted from the others', and the innermost site it shares."""
    shared = paths[0][: _common(paths)]
    outer, inner = shared[min(depth, len(shared) - 1)], shared[-1]
    return outer if outer == inner else f"{outer}, innermost {inner}"

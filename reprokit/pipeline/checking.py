"""`check`: is the kit whole, as sealed, and is its cache of today?"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from reprokit.errors import NO, OK, ReprokitError
from reprokit.store import checksums, derived, spool
from reprokit.store.checksums import Problem
from reprokit.store.kit import Kit, sealed_files

State = Literal["intact", "open", "altered", "incomplete"]


class KitState(Struct, frozen=True):
    """The kit's id and state."""

    id: str
    state: State


class Part(Struct, frozen=True):
    """One part of one run."""

    run: str
    part: str
    state: Literal["sealed", "open"]
    files: int


class Checked(Struct, frozen=True, kw_only=True):
    """What `check --json` prints. `fit`: null, since no cluster was named."""

    kit: KitState
    derived: str
    parts: tuple[Part, ...]
    problems: tuple[Problem, ...]
    fit: Any = None

    @property
    def exit_code(self) -> int:
        """1 for a kit that is altered or incomplete; open or stale alone is 0 and said."""
        return NO if self.kit.state in {"altered", "incomplete"} else OK


def check(kit: Kit, jobs: int = 1) -> Checked:
    """Look at everything, change nothing."""
    listed = checksums.load(kit.layout.sums)
    missing, altered = checksums.compare(kit.root, listed, jobs)
    unlisted = [Problem(name, "is not in SHA256SUMS") for name in _present(kit) if name not in listed]
    wanting = _wanting(kit)
    opened = spool.open_runs(kit.layout)
    notes = [
        Problem(f"{run.id}", "is still being recorded" if run.alive() else "waits for its seal")
        for run in opened
    ]
    state: State = "intact"
    if opened:
        state = "open"
    if missing or wanting:
        state = "incomplete"
    if altered or unlisted:
        state = "altered"
    return Checked(
        kit=KitState(kit.id, state),
        derived=_derived(kit),
        parts=_parts(kit, opened),
        problems=(*altered, *unlisted, *missing, *wanting, *notes),
    )


def _present(kit: Kit) -> list[str]:
    """Files that SHA256SUMS should speak of: what parts list, and whatever else lies beside it."""
    names = set(sealed_files(kit.layout))
    if kit.layout.evidence.is_dir():
        names |= {f"evidence/{name}" for name in checksums.of_folder(kit.layout.evidence)}
    return sorted(name for name in names if not name.startswith("evidence/.sealing-"))


def _wanting(kit: Kit) -> list[Problem]:
    """Things that the declaration speaks of and that are not there."""
    runs = {run.id for run in kit.runs()}
    found = []
    subject = kit.declaration.subject
    if subject and subject not in runs:
        found.append(Problem(f"evidence/{subject}", "the subject run is missing"))
    for candidate in kit.declaration.candidates:
        if not (kit.root / candidate.patch).is_file():
            found.append(Problem(candidate.patch, f"the patch of candidate {candidate.id} is missing"))
    if kit.declaration.recipe:
        for path in (kit.layout.recipe, kit.layout.bundle):
            if not path.is_file():
                found.append(Problem(path.relative_to(kit.root).as_posix(), "is missing"))
    return found


def _parts(kit: Kit, opened: list[spool.OpenRun]) -> tuple[Part, ...]:
    sealed = [
        Part(run.id, part, "sealed", len(checksums.load(run.folder / part / checksums.NAME)))
        for run in kit.runs()
        for part in run.parts
    ]
    waiting = [
        Part(run.id, part.name, "open", sum(1 for path in part.rglob("*") if path.is_file()))
        for run in opened
        for part in run.parts
    ]
    return (*sealed, *waiting)


def _derived(kit: Kit) -> str:
    try:
        digests = {run.id: run.digest() for run in kit.runs()}
    except ReprokitError:
        return "stale"
    return derived.state(kit.layout, digests) if digests else "absent"

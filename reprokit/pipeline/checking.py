"""`check`: is the kit whole, as sealed, and is its cache of today?"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from reprokit.errors import NO, OK, InputError
from reprokit.store import checksums, derived, files, spool
from reprokit.store.checksums import Problem
from reprokit.store.kit import Kit

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
    listed, garbled = _listed(kit)
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
    if altered or unlisted or garbled:
        state = "altered"
    return Checked(
        kit=KitState(kit.id, state),
        derived=_derived(kit),
        parts=_parts(kit, opened),
        problems=(*garbled, *altered, *unlisted, *missing, *wanting, *notes),
    )


def _listed(kit: Kit) -> tuple[dict[str, str], list[Problem]]:
    """What SHA256SUMS says; where it cannot be read, that is the first problem."""
    try:
        return checksums.load(kit.layout.sums), []
    except InputError as error:
        return {}, [Problem(kit.layout.sums.name, error.what.split(": ", 1)[-1])]


def _present(kit: Kit) -> list[str]:
    """Files that SHA256SUMS should speak of: everything below inputs/ and evidence/, whoever put it there."""
    found = []
    for folder in (kit.layout.inputs, kit.layout.evidence):
        found += [path.relative_to(kit.root).as_posix() for path in files.walk(folder)]
        found += [path.relative_to(kit.root).as_posix() for path in folder.rglob("*") if path.is_symlink()]
    notes = kit.layout.notes.relative_to(kit.root).as_posix()
    return [name for name in found if name != notes and not name.startswith("evidence/.sealing-")]


def _wanting(kit: Kit) -> list[Problem]:
    """Things that the declaration speaks of and that are not there."""
    runs = {sealed.folder.name for sealed in kit.folders()}
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
    closed = [
        Part(sealed.folder.name, part, "sealed", len(files.walk(sealed.folder / part)) - 1)
        for sealed in kit.folders()
        for part in sealed.parts
    ]
    waiting = [
        Part(run.id, part.name, "open", sum(1 for path in part.rglob("*") if path.is_file()))
        for run in opened
        for part in run.parts
    ]
    return (*closed, *waiting)


def _derived(kit: Kit) -> str:
    digests = {sealed.folder.name: sealed.digest() for sealed in kit.folders()}
    return derived.state(kit.layout, digests) if digests else "absent"

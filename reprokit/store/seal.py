"""The seal: raw spool in, redacted evidence with checksums out. Nothing raw ever enters the kit."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from reprokit.store import checksums, files, spool
from reprokit.store.kit import Kit

Redact = Callable[[bytes], bytes]
"""Replaces secrets in the bytes of one file. File names pass through it as well."""


def seal(kit: Kit, run: spool.OpenRun, redact: Redact) -> Path:
    """Move an open run into `evidence/`; its folder there.

    Built aside and renamed at the end: a seal that dies half-way leaves the spool, and the next one starts anew.
    """
    evidence = files.make_folder(kit.layout.evidence)
    target = evidence / run.id
    if not target.exists():
        aside = evidence / f".sealing-{run.id}"
        if aside.exists():
            shutil.rmtree(aside)
        files.make_folder(aside)
        for part in run.parts:
            _seal_part(part, aside / part.name, redact)
        files.write(aside / "run.yaml", redact((run.folder / "run.yaml").read_bytes()))
        with files.disk_errors(target):
            aside.rename(target)
    kit.refresh_sums()
    spool.discard(run)
    return target


def _seal_part(source: Path, target: Path, redact: Redact) -> None:
    """One part: every plain file through the secret rules, then the part's own checksum file."""
    files.make_folder(target)
    for path in files.walk(source):
        name = path.relative_to(source).as_posix()
        if name == spool.LOCK or (path.name.startswith(".") and path.suffix == ".tmp"):
            continue
        safe = redact(name.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
        files.write(_free(target / safe, target), redact(path.read_bytes()))
    sums = checksums.of_folder(target)
    files.write(target / checksums.NAME, checksums.render(sums))


def _free(path: Path, target: Path) -> Path:
    """A place for a recorded file: beside it where the name is our checksum file's, or was given already."""
    chosen, number = path, 1
    while chosen.exists() or chosen == target / checksums.NAME:
        chosen, number = path.with_name(f"{path.name}.recorded-{number}"), number + 1
    return chosen


def seal_finished(kit: Kit, redact: Redact) -> list[str]:
    """Seal every open run whose recorder is gone; their ids. Live ones are left alone."""
    spool.discard_rest(kit.layout)
    sealed = []
    for run in spool.open_runs(kit.layout):
        if not run.alive():
            seal(kit, run, redact)
            sealed.append(run.id)
    return sealed

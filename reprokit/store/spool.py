"""Open spools beside a kit: raw recordings that wait for their seal."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from reprokit.errors import InputError, SafetyError
from reprokit.model.kit import RunDeclaration
from reprokit.store import files, yamlfile
from reprokit.store.kit import Kit
from reprokit.store.layout import Layout, check_run_id
from reprokit.store.runs import read_run

HEADER = "# One run of a reprokit kit. Written once, never changed.\n"
LOCK = "lock"
NEW = ".new-"
"""Prefix of a spool that is being made."""

GONE = ".gone-"
"""Prefix of a spool that is sealed and being removed."""


class OpenRun:
    """A run whose raw files lie in `NAME.kit.open/<run>/`."""

    def __init__(self, folder: Path, declaration: RunDeclaration) -> None:
        self.folder = folder
        self.id = declaration.id
        self.declaration = declaration
        self.state = "open"

    @property
    def parts(self) -> list[Path]:
        """Folders of the parts, sorted."""
        return sorted(path for path in self.folder.iterdir() if path.is_dir() and not path.is_symlink())

    def alive(self) -> bool:
        """True while a recorder holds the lock of one of the parts, or somebody is about to start one."""
        return any(_locked(folder / LOCK) for folder in (self.folder, *self.parts))


def _locked(path: Path) -> bool:
    """True if another process holds `path`'s lock."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    else:
        return False
    finally:
        os.close(descriptor)


def begin(kit: Kit, declaration: RunDeclaration) -> Path:
    """A new open run; its folder. Raises SafetyError where a run of this id exists, sealed or open."""
    check_run_id(declaration.id)
    layout = kit.layout
    folder = layout.open / declaration.id
    if (layout.evidence / declaration.id).exists() or _began(folder):
        raise SafetyError(f"{kit.root}: a run {declaration.id!r} exists", hint="choose another id with --run")
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)  # it has no declaration: whoever made it died before anything was started
    # Made aside: a folder of this name is a run that began.
    aside = layout.open / (NEW + declaration.id)
    if aside.exists():
        shutil.rmtree(aside)
    files.make_folder(aside)
    files.write(aside / "run.yaml", yamlfile.dumps(msgspec.to_builtins(declaration), HEADER, quoted=True))
    with files.disk_errors(folder):
        aside.rename(folder)
    return folder


def _began(folder: Path) -> bool:
    """True for a spool with a declaration, or with anything else in it: only an empty one may be taken."""
    return folder.is_symlink() or (folder.exists() and any(folder.iterdir()))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Say of an open run that its recorder is about to start or has just ended: nobody else seals it meanwhile."""
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, files.FILE_MODE)
    try:
        with suppress(OSError):  # a file system without locks: as before, only the agent's own word counts
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def open_runs(layout: Layout) -> list[OpenRun]:
    """All open runs, by id. One without a readable declaration of its own is left out: it never began."""
    if not layout.open.is_dir():
        return []
    found = []
    for folder in sorted(layout.open.iterdir()):
        source = folder / "run.yaml"
        if folder.is_symlink() or not folder.is_dir() or source.is_symlink() or not source.is_file():
            continue
        try:
            declaration = read_run(source)
        except InputError:
            continue
        if declaration.id == folder.name:
            found.append(OpenRun(folder, declaration))
    return found


def discard(run: OpenRun) -> None:
    """Remove an open run whose files are sealed."""
    _remove(run.folder)


def _remove(folder: Path) -> None:
    """Raw files must not stay, even if this dies half-way: renamed first, so that the rest is known as such."""
    gone = folder.with_name(GONE + folder.name)
    if folder.exists():
        if gone.exists():
            shutil.rmtree(gone)
        folder.rename(gone)
    shutil.rmtree(gone)
    if not any(gone.parent.iterdir()):
        gone.parent.rmdir()


def discard_rest(layout: Layout) -> None:
    """Finish removals that died half-way."""
    if layout.open.is_dir():
        for folder in sorted(layout.open.iterdir()):
            if folder.name.startswith(GONE) and folder.is_dir() and not folder.is_symlink():
                _remove(folder.with_name(folder.name.removeprefix(GONE)))

"""Sealed runs on disk: folders in `evidence/`, their declarations and the bytes of their parts."""

from __future__ import annotations

import hashlib
from pathlib import Path

from reprokit.errors import InputError
from reprokit.model.kit import RunDeclaration
from reprokit.store import checksums, files, recipes, yamlfile

MAX_FILE = 512 * 2**20
"""Evidence files above this many bytes are refused, with their name."""


class SealedFolder:
    """The folder of one run in `evidence/`, whether its declaration can be read or not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def parts(self) -> list[str]:
        """Names of the parts, sorted."""
        return sorted(path.name for path in self.folder.iterdir() if path.is_dir() and not path.is_symlink())

    def digest(self) -> str:
        """One hash over the run's declaration and the checksum files of its parts."""
        sums = [self.folder / "run.yaml", *(self.folder / part / checksums.NAME for part in self.parts)]
        whole = hashlib.sha256()
        for path in sums:
            whole.update(path.name.encode() + b"\0" + (path.read_bytes() if path.is_file() else b"") + b"\0")
        return whole.hexdigest()

    def changed_ns(self) -> int:
        """When a file or folder of the run last changed in any way (st_ctime, ns): nobody can set that back."""
        every = [self.folder, *self.folder.rglob("*")]
        return max(path.lstat().st_ctime_ns for path in every)


class SealedRun(SealedFolder):
    """One run in `evidence/`: its declaration and the files of its parts."""

    def __init__(self, folder: Path, declaration: RunDeclaration) -> None:
        super().__init__(folder)
        self.id = declaration.id
        self.declaration = declaration
        self.state = "sealed"

    def read(self) -> dict[str, bytes]:
        """Bytes of all evidence files, by path relative to the run's folder (`node-0/output.log`)."""
        content = {}
        ours = {"run.yaml", *(f"{part}/{checksums.NAME}" for part in self.parts)}
        for path in files.walk(self.folder):
            name = path.relative_to(self.folder).as_posix()
            if name in ours:
                continue
            if path.stat().st_size > MAX_FILE:
                raise InputError(f"{path}: {path.stat().st_size} bytes: more than this version reads")
            content[name] = files.read(path)
        return content


def read_run(path: Path) -> RunDeclaration:
    """A run's declaration. Raises InputError naming file and line."""
    if path.is_symlink():
        raise InputError(f"{path}: is a link, not a run's own declaration")
    return recipes.validate(yamlfile.loads(recipes.read_text(path), str(path)), RunDeclaration)

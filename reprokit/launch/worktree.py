"""A working tree of the base revision with patches on it, and the proof that the patched files were the ones run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from reprokit.launch import scratch


class Git(Protocol):
    """What this room needs of git; given by the pipeline."""

    def checkout(self, bundle_file: Path, folder: Path, commit: str) -> None:
        """A working tree of `commit`."""
        ...

    def apply(self, folder: Path, patch: Path) -> None:
        """One patch, all or nothing."""
        ...

    def changed_files(self, folder: Path) -> list[str]:
        """Files that differ from the commit."""
        ...


@contextmanager
def worktree(git: Git, bundle: Path, base: str, patches: list[Path]) -> Iterator[Path]:
    """A private folder with `base` and `patches`, gone afterwards. Raises what `git` raises."""
    with scratch.folder() as own:
        folder = own / "src"
        git.checkout(bundle, folder, base)
        for patch in patches:
            git.apply(folder, patch)
        yield folder


def imported(folder: Path, names: list[str]) -> dict[str, bool]:
    """For each patched Python module: did a run in this fresh tree compile it, so import it from here?

    A fresh tree has no `__pycache__`, so a compiled file proves an import. Python writes none for the main script and
    where PYTHONDONTWRITEBYTECODE is set: False means not proven, never "not imported".
    """
    proof = {}
    for name in names:
        path = folder / name
        cache = path.parent / "__pycache__"
        proof[name] = path.suffix == ".py" and any(cache.glob(f"{path.stem}.*.pyc"))
    return proof

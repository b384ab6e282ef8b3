"""Writing files so that a reader sees the old or the new one, never half; and private."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reprokit.errors import InputError, MachineError

FOLDER_MODE = 0o700
FILE_MODE = 0o600
SCRIPT_MODE = 0o700


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn a full disk or a denied write into a message that says so."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise MachineError(
                f"{path}: the disk is full", hint="make room, then call the same command again"
            ) from error
        raise MachineError(f"{path}: cannot write: {error.strerror or error}") from error


def make_folder(path: Path) -> Path:
    """`path` as a private folder, parents too."""
    with disk_errors(path):
        for folder in [*reversed(path.parents), path]:
            if not folder.exists():
                folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    return path


def write(path: Path, data: bytes | str, mode: int = FILE_MODE) -> None:
    """Put `data` at `path` through a temporary file and a rename."""
    content = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    make_folder(path.parent)
    with disk_errors(path):
        descriptor, temporary = tempfile.mkstemp(prefix=".writing-", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                os.fchmod(file.fileno(), mode)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def write_if_changed(path: Path, data: str, mode: int = FILE_MODE) -> bool:
    """Write only where the content differs, so that times of generated files mean something."""
    if path.is_file() and path.read_bytes() == data.encode("utf-8", "surrogateescape"):
        return False
    write(path, data, mode)
    return True


def read(path: Path) -> bytes:
    """The bytes of a file of the kit. Raises InputError naming it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def walk(folder: Path) -> list[Path]:
    """Plain files below `folder`, sorted, links and special files left out (they are never followed)."""
    found = []
    for root, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(names):
            path = Path(root) / name
            if path.is_file() and not path.is_symlink():
                found.append(path)
    return sorted(found)

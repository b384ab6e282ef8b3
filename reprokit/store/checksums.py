"""SHA256SUMS files: written once a line, checked by `sha256sum -c` or by us."""

from __future__ import annotations

import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from msgspec import Struct

from reprokit.errors import InputError
from reprokit.store import files

NAME = "SHA256SUMS"

_LINE = re.compile(r"(?P<mark>\\?)(?P<digest>[0-9a-f]{64})  (?P<name>.+)\Z", re.DOTALL)
_ESCAPE = re.compile(r"\\[\\nr]")
_ESCAPED = {"\\\\": "\\", "\\n": "\n", "\\r": "\r"}


class Problem(Struct, frozen=True):
    """One thing that is not as sealed: path relative to the kit, and what."""

    path: str
    what: str


def digest(path: Path) -> str:
    """SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parse(text: str, source: str) -> dict[str, str]:
    """Path -> hex digest. GNU's escapes in names are undone."""
    sums: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        match = _LINE.match(line)
        if match is None:
            raise InputError(f"{source}:{number}: not a line of a checksum file")
        name = match["name"]
        if match["mark"]:
            name = _ESCAPE.sub(lambda found: _ESCAPED[found[0]], name)
        sums[name] = match["digest"]
    return sums


def render(sums: dict[str, str]) -> str:
    """The text of a checksum file, sorted by path, as GNU sha256sum writes it."""
    lines = []
    for name in sorted(sums):
        plain = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
        # coreutils before 9 read `\r` in a name only as it is; a name with nothing else to escape is left alone
        if "\\" not in name and "\n" not in name:
            plain = name
        mark = "\\" if plain != name else ""
        lines.append(f"{mark}{sums[name]}  {plain}\n")
    return "".join(lines)


def of_folder(folder: Path, skip: tuple[str, ...] = ()) -> dict[str, str]:
    """Digests of all plain files below `folder`, by path relative to it."""
    return {
        path.relative_to(folder).as_posix(): digest(path)
        for path in files.walk(folder)
        if path.relative_to(folder).as_posix() not in skip
    }


def load(path: Path) -> dict[str, str]:
    """The sums in `path`; empty where there is no such file."""
    if not path.exists():
        return {}
    return parse(files.read(path).decode("utf-8", "surrogateescape"), str(path))


def compare(root: Path, listed: dict[str, str], jobs: int = 1) -> tuple[list[Problem], list[Problem]]:
    """What is missing and what differs from `listed` below `root`. `jobs`: files hashed at the same time."""
    names = sorted(listed)

    def found(name: str) -> str | None:
        path = root / name
        inside = not name.startswith("/") and ".." not in name.split("/")
        return digest(path) if inside and path.is_file() and not path.is_symlink() else None

    with ThreadPoolExecutor(jobs) as pool:
        digests = dict(zip(names, pool.map(found, names), strict=True))
    missing = [Problem(name, "is missing") for name in names if digests[name] is None]
    altered = [
        Problem(name, "is not what was sealed") for name in names if digests[name] not in {None, listed[name]}
    ]
    return missing, altered

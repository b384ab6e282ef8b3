"""A patch file becomes a candidate of the kit, known by its content."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from reprokit.errors import InputError
from reprokit.model.kit import Candidate
from reprokit.store.kit import Kit

MAX_PATCH = 16 * 2**20
"""Bytes of one patch."""


def adopt(kit: Kit, patch: Path) -> Candidate:
    """The patch file as a candidate of the kit: the one with the same content, or a new one in `inputs/patches/`."""
    try:
        if not patch.is_dir() and not patch.is_file() and patch.exists():
            raise InputError(f"{patch}: not a plain file")
        with patch.open("rb") as file:
            data = file.read(MAX_PATCH + 1)
        if len(data) > MAX_PATCH:
            raise InputError(f"{patch}: more than {MAX_PATCH} bytes: too large for a patch")
    except OSError as error:
        raise InputError(f"{patch}: {error.strerror or error}") from None
    if b"\n+++ " not in b"\n" + data and b"\ndiff --git " not in b"\n" + data:
        raise InputError(f"{patch}: no unified diff: there is no line that begins with +++")
    digest = hashlib.sha256(data).hexdigest()
    for candidate in kit.declaration.candidates:
        if candidate.sha256 == digest:
            return candidate
    taken = {candidate.id for candidate in kit.declaration.candidates}
    stem = re.sub(r"[^a-z0-9._-]+", "-", patch.stem.lower()).strip("-._")[:50] or "candidate"
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}-{number}", number + 1
    kit.add_input(f"patches/{name}.patch", data)
    candidate = Candidate(id=name, patch=f"inputs/patches/{name}.patch", sha256=digest)
    kit.declare(candidates=(*kit.declaration.candidates, candidate))
    return candidate

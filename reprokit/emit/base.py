"""What an emit target is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from reprokit.model.launch import PYTHON, Launch, Provenance

Render = Callable[[str, dict[str, Any]], str]
"""Template name and values in, text out."""


class Target(Protocol):
    """One kind of generated files. Pure: the same launch gives the same bytes.

    `name`: what `--target` takes. `applies`: False where the kit lacks what the files need.
    """

    name: str

    def applies(self, launch: Launch) -> bool:
        """Whether this target can be written for `launch`."""
        ...

    def files(self, launch: Launch, provenance: Provenance, render: Render) -> dict[str, str]:
        """Path in the kit -> text. Names ending in `.sh` become executable."""
        ...


def words(command: tuple[str, ...]) -> list[list[str | None]]:
    """The command's words as pieces for a template: text, or None where the interpreter stands."""
    result: list[list[str | None]] = []
    for word in command:
        pieces: list[str | None] = []
        for index, text in enumerate(word.split(PYTHON)):
            if index:
                pieces.append(None)
            if text:
                pieces.append(text)
        result.append(pieces or [""])
    return result

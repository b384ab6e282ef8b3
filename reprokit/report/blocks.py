"""A report as data: sections of blocks. Renderers turn it into Markdown (later: HTML, form boxes)."""

from __future__ import annotations

from msgspec import Struct

from reprokit.model.facts import Where


class Code(Struct, frozen=True):
    """A piece of text to be shown verbatim."""

    text: str


Piece = str | Code
"""Text for people, or a verbatim piece of evidence."""


class Sentence(Struct, frozen=True):
    """Pieces in a row and the numbers of the sources they stand on."""

    pieces: tuple[Piece, ...]
    refs: tuple[int, ...] = ()


class Shape(Struct, frozen=True):
    """Base of blocks: templates choose by `kind`."""

    @property
    def kind(self) -> str:
        """The block's class name."""
        return type(self).__name__


class Paragraph(Shape, frozen=True, tag=True):
    """Sentences in a row."""

    sentences: tuple[Sentence, ...]


class Items(Shape, frozen=True, tag=True):
    """A list; `numbered` where order means something."""

    items: tuple[Sentence, ...]
    numbered: bool = False


class Fenced(Shape, frozen=True, tag=True):
    """Lines of evidence or a script."""

    text: str
    language: str = ""


class Table(Shape, frozen=True, tag=True):
    """A table; every cell is a sentence, so it can carry sources."""

    headers: tuple[str, ...]
    rows: tuple[tuple[Sentence, ...], ...]


Block = Paragraph | Items | Fenced | Table


class Section(Struct, frozen=True):
    """A heading and its blocks. `level` 2 for a section, 3 below it."""

    title: str
    blocks: tuple[Block, ...]
    level: int = 2


class Source(Struct, frozen=True):
    """A numbered source: where in the kit, and the words there."""

    number: int
    path: str
    line: int
    text: str


class Report(Struct, frozen=True, kw_only=True):
    """The whole report."""

    title: str
    sections: tuple[Section, ...]
    sources: tuple[Source, ...]
    footer: tuple[str, ...]


class Sources:
    """Numbers places in evidence in the order they are first cited."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}
        self._list: list[Source] = []

    def cite(self, run_id: str, where: Where | None) -> tuple[int, ...]:
        """The number of a place, as a tuple to add to a sentence; empty where there is no place."""
        if where is None:
            return ()
        path = f"evidence/{run_id}/{where.path}"
        key = (path, where.line)
        if key not in self._numbers:
            self._numbers[key] = len(self._list) + 1
            self._list.append(Source(self._numbers[key], path, where.line, where.text.strip()))
        return (self._numbers[key],)

    @property
    def all(self) -> tuple[Source, ...]:
        """All cited places in order."""
        return tuple(self._list)


def say(*pieces: Piece, refs: tuple[int, ...] = ()) -> Sentence:
    """A sentence of these pieces."""
    return Sentence(tuple(pieces), tuple(dict.fromkeys(refs)))

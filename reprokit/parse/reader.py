"""What a reader is. A new format is one module in `readers/` that fills this in, and one line in `table.py`.

Readers are total: odd input gives less, never an exception and never a loop that the input can stretch. They
see one file at a time and say only what stands there; what several lines or files mean together is for
`analyze`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from reprokit.model.trace import Event
from reprokit.parse.document import Document

HEAD_BYTES = 4096
"""How much of the beginning of a file `claims` is shown."""


class Reader(Protocol):
    """One format. A module is a reader if it has these four names."""

    @property
    def name(self) -> str:
        """The format in a word or two, as file names have it: `megatron_memory`.

        It names the reader where it had trouble, so it is unique in the table.
        """

    @property
    def anchors(self) -> tuple[bytes, ...]:
        """Literals of which every text of this format contains at least one.

        A file without any of them is never given to `read`: this is what keeps a log of gigabytes cheap, so
        take long and rare words, and none that colour codes or a line wrap may split. Empty: `claims` alone
        decides.
        """

    def claims(self, path: str, head: bytes) -> bool:
        """Whether a file with this path, relative to its run, that begins with `head` may hold this format.

        Cheap, and sure only of a no. Text that any log may contain takes `is_text`; files of a fixed form
        look at their name or at the form of `head`.
        """

    def read(self, document: Document) -> Iterator[Event]:
        """Everything the file says in this format, each event with the line it was read at.

        Lines come from `document.found(anchors)`, or from `document.lines` where an event spans several.
        Wherever digits are read, the pattern bounds how many: Python refuses numbers of more than 4300.
        """


def is_text(path: str, head: bytes) -> bool:
    """True for whatever may be a log: all but JSON files, whose strings quote logs, and binary files."""
    if path.endswith((".json", ".jsonl")):
        return False
    return not head.startswith((b"\x7fELF", b"\x1f\x8b", b"PK\x03\x04", b"\x89PNG"))

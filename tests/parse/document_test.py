"""Document against a model that splits the whole file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprokit.parse import document as document_module
from reprokit.parse.document import LINE_BYTES, QUOTE, Document

PIECES = st.sampled_from(
    [b"\n", b"\r", b"\r\n", b"x", b"XY", b"X", b"Y", b" ", b"\t", b"\0", "é".encode(), b"\xff", b"[rank3]: "]
)
FILES = st.lists(PIECES, max_size=60).map(b"".join)


@pytest.fixture(params=[4, 16384], ids=["small blocks", "real blocks"], autouse=True)
def blocks(request: pytest.FixtureRequest) -> Iterator[None]:
    """Line numbers are counted by blocks: small ones make short files cross many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document_module, "_BLOCK", request.param)
        yield


def raw_lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    return lines if lines[-1] else lines[:-1]


def shown(segment: bytes) -> str:
    return segment.decode("utf-8", "replace").replace("\0", "").rstrip()


def last_rewrite(line: bytes) -> str:
    written = [segment for segment in line.split(b"\r") if segment.strip(b" \t\0")]
    return shown(written[-1]) if written else ""


@given(FILES)
def test_lines_are_those_of_a_split(data: bytes) -> None:
    document = Document("job.log", data)
    expected = [last_rewrite(line) for line in raw_lines(data)]
    assert len(document) == len(expected)
    assert [line.raw_text for line in document.lines()] == expected
    assert [line.number for line in document.lines()] == list(range(1, len(expected) + 1))
    for number in range(len(expected), 0, -1):
        assert document.line(number).raw_text == expected[number - 1]


@given(FILES, st.integers(1, 70))
def test_lines_can_begin_anywhere(data: bytes, first: int) -> None:
    document = Document("job.log", data)
    assert list(document.lines(first)) == list(document.lines())[first - 1 :]


@given(FILES, st.sets(st.sampled_from([b"X", b"XY", b"x", b"Y", b"missing"]), min_size=1))
def test_hits_and_found_are_those_of_a_search_in_each_line(data: bytes, anchors: set[bytes]) -> None:
    document = Document("job.log", data)
    literals = tuple(sorted(anchors))
    segments = [
        (number, shown(segment))
        for number, line in enumerate(raw_lines(data), 1)
        for segment in line.split(b"\r")
        if any(anchor in segment for anchor in literals)
    ]
    assert [(line.number, line.raw_text) for line in document.found(literals)] == segments
    assert list(document.hits(literals)) == sorted({number for number, _ in segments})
    assert document.has(literals) == bool(segments)


def test_there_is_no_line_outside() -> None:
    document = Document("job.log", b"one\n")
    for number in (0, 2, -1):
        with pytest.raises(IndexError, match=r"job\.log has no line"):
            document.line(number)
    assert list(Document("job.log", b"").lines()) == []


def test_a_progress_bar_shows_its_last_rewrite_and_hides_none() -> None:
    document = Document("job.log", b"start\n 1%\rMemoryError: early\r 2%\r\r \r\nend\n")
    assert document.line(2).text == " 2%"
    assert [(line.number, line.text) for line in document.found((b"MemoryError", b"2%"))] == [
        (2, "MemoryError: early"),
        (2, " 2%"),
    ]


def test_no_more_than_the_bound_of_a_line_is_decoded() -> None:
    data = b"a" * (3 * LINE_BYTES) + b"\r" + b"b" * (3 * LINE_BYTES) + b"\nend"
    document = Document("job.log", data)
    assert document.line(1).text == "b" * LINE_BYTES
    assert document.line(2).text == "end"
    assert document.where(document.line(1)).text == "b" * QUOTE


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_byte_order_marks_are_understood(encoding: str) -> None:
    mark = "\ufeff" if encoding in {"utf-16-le", "utf-16-be"} else ""
    document = Document("job.log", (mark + "[rank3]: größe\nzwei\n").encode(encoding))
    assert [line.text for line in document.lines()] == ["größe", "zwei"]
    assert document.line(1).rank == 3


def test_a_place_quotes_the_line_with_its_prefixes() -> None:
    document = Document("logs/job.log", b"one\n3: [rank3]: \x1b[31mMemoryError\x1b[0m  \n")
    where = document.where(document.line(2))
    assert (where.path, where.line, where.text) == ("logs/job.log", 2, "3: [rank3]: MemoryError")

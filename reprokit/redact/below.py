"""Values that stand on the lines below their name: YAML blocks, triple quotes, a name or an option at a line's end.

Only a line that ends in a telling name (and what opens a value) is looked at further. Line ends are never part of a
span: each line below gives a span of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from reprokit.redact import names, values
from reprokit.redact.across import Span
from reprokit.redact.lines import chunks
from reprokit.redact.names import Promise
from reprokit.redact.rule import PLACEHOLDER

BELOW_RULE = "value-below-name"
_WORDS = (b"token", b"secret", b"pass", b"key", b"cred")
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyz0123456789_.-"
_HEAD = re.compile(  # in lower case, from the telling word on: the rest of the name, what opens a value, the line's end
    rb"(?P<rest>[a-z0-9_.-]{0,60}+)(?P<shut>[\"']?\]?)[ \t]{0,40}+"
    rb"(?P<opener>(?::=|=>|[:=])?[ \t]{0,8}+(?:(?P<block>[|>][-+0-9]{0,2})(?:[ \t]{1,8}\#[^\r\n]{0,80}+)?"
    rb"|[rbuf]{0,2}(?P<triple>\"{3}|'{3})[^\r\n]{0,300}+|,|\\)?)[ \t]{0,8}+\r?\n"
)
_LEAD = re.compile(  # tags that launchers put before a line, then its indentation
    rb"(?:[0-9T:.,/-]{8,35}Z?[ ])?(?P<tag>(?:\[[^\]\r\n]{1,80}\]:?[ ]?|[0-9]{1,6}:[ ]){0,4}+)"
    rb"(?:[0-9T:.,/-]{8,35}Z?[ ])?(?P<indent>[ \t]*+)(?P<item>-[ \t]{1,8})?"
)
_VALUE = re.compile(
    rb"(?:\x1b\[[0-9;]*m)*[bru]?(?:(?P<quote>[\"'])(?P<quoted>[^\r\n\"'\x00\x1b]{4,4096}+)(?P=quote)[\]),;} \t]{0,8}"
    rb"|(?P<bare>[^\s\"'\x00\x1b]{4,4096}+))(?:\x1b\[[0-9;]*m|[ \t\\])*(?=\r?$)"
)
_TEXT = re.compile(rb"(?:\x1b\[[0-9;]*m)*(?P<text>[^\s\x00\x1b](?:[^\r\n\x00\x1b]*[^\s\x00\x1b])?)")
_METAVAR = re.compile(rb"[A-Z][A-Z_]*|<.*")
_LOOK_BACK = 400
_MOST_LINES = 200
_MOST_BYTES = 1 << 14


class _Head(NamedTuple):
    """A name at the end of a line. `column`: its indentation; `alone`: only tags stand in the line `before` it."""

    name: names.Name
    word: bytes
    dashed: bool
    alone: bool
    before: bytes
    tag: bytes
    column: int
    after: int  # offset of the next line
    opener: re.Match[bytes]


class _Line(NamedTuple):
    start: int  # of the text, after tags and indentation
    end: int
    column: int
    item: bool
    tag: bytes


def below(data: bytes) -> list[Span]:
    """The values below all telling names of `data`."""
    spans: list[Span] = []
    base = 0
    for chunk in chunks(data):
        for opener in _openers(chunk.lower()):
            head = _read_head(data, base, opener)
            if head:
                spans.extend(_values(data, head))
        base += len(chunk)
    return spans


def _openers(text: bytes) -> Iterator[re.Match[bytes]]:
    """Where a line of `text` (lower case) ends in a telling word: once a line."""
    seen: set[int] = set()
    for word in _WORDS:
        position = text.find(word)
        while position >= 0:
            position += len(word)
            found = _HEAD.match(text, position)
            if found and found.end() not in seen:
                seen.add(found.end())
                yield found
            position = text.find(word, position)


def _read_head(data: bytes, base: int, opener: re.Match[bytes]) -> _Head | None:
    name_end = base + opener.end("rest")
    first = max(0, name_end - _LOOK_BACK)
    line_start = data.rfind(b"\n", first, name_end) + 1
    if line_start == 0 and first > 0:
        return None
    line = data[line_start:name_end]
    word = line[len(line.lower().rstrip(_NAME_BYTES)) :]
    before = line[: len(line) - len(word)]
    name = names.judge(word.lstrip(b"-.").decode("ascii"))
    if name.promise is Promise.NONE:
        return None
    lead = _LEAD.match(line)
    assert lead
    column = lead.end("item") if lead["item"] else lead.end("indent")
    return _Head(
        name=name,
        word=word.lstrip(b"-."),
        dashed=word.startswith(b"-"),
        alone=lead.end() == len(before.rstrip(b"\"'<")),
        before=before,
        tag=lead["tag"],
        column=column - lead.start("indent"),
        after=base + opener.end(),
        opener=opener,
    )


def _lines(data: bytes, head: _Head) -> Iterator[_Line]:
    """The lines below a head that carry the same tags, blank ones too."""
    position = head.after
    for _ in range(_MOST_LINES):
        if position >= len(data):
            return
        newline = data.find(b"\n", position)
        end = newline if newline >= 0 else len(data)
        lead = _LEAD.match(data, position, end)
        assert lead
        if lead["tag"] != head.tag:
            return
        column = len(lead["indent"])
        yield _Line(lead.end("indent"), end, column, lead["item"] is not None, lead["tag"])
        position = end + 1


def _values(data: bytes, head: _Head) -> Iterator[Span]:
    opener = head.opener
    if opener["triple"]:
        if opener["opener"][:1] in (b":", b"=") and opener["triple"] not in head.before:
            yield from _triple(data, head, opener["triple"])
    elif opener["block"] and opener["opener"].startswith(b":"):
        if head.alone:
            yield from _block(data, head)
    elif head.dashed or head.alone:
        yield from _next(data, head)


def _block(data: bytes, head: _Head) -> Iterator[Span]:
    """The lines of a YAML block scalar: all that are indented deeper than the name."""
    for line in _lines(data, head):
        text = _TEXT.match(data, line.start, line.end)
        if text and line.column <= head.column:
            return
        if text and _holds(head, text["text"]):
            yield _span(head, *text.span("text"), data)


def _triple(data: bytes, head: _Head, quote: bytes) -> Iterator[Span]:
    """The lines of a triple-quoted text after its first, up to the quotes that end it."""
    end = data.find(quote, head.after, head.after + _MOST_BYTES)
    if end < 0 or head.opener[0].count(quote) > 1:
        return
    for line in _lines(data, head):
        text = _TEXT.match(data, line.start, min(line.end, end)) if line.start < end else None
        if text and _holds(head, text["text"]):
            yield _span(head, *text.span("text"), data)
        if line.end >= end:
            return


def _next(data: bytes, head: _Head) -> Iterator[Span]:
    """The one value on the next line, with nothing else there."""
    line = next(_lines(data, head), None)
    if not line:
        return
    start = line.start
    if line.item:
        lead = re.compile(rb"-[ \t]{1,8}").match(data, start)
        start = lead.end() if lead else start
    found = _VALUE.match(data[start : line.end])
    if not found:
        return
    group = "quoted" if found["quoted"] else "bare"
    value = found[group] if group == "quoted" else found[group].rstrip(b",;)]}")
    sure = head.name.promise in (Promise.STRONG, Promise.PASSWORD)
    if PLACEHOLDER.search(found[group]) or (group == "bare" and b"=" in value.rstrip(b"=")):
        return
    random = values.looks_random(value, hashes=sure)
    shown = (
        head.dashed and sure and (line.item or group == "quoted")
    )  # as good as said: the argument of an option
    if random or (shown and _is_argument(head, value)):
        at = start + found.start(group)
        yield _span(head, at, at + len(value), data)


def _is_argument(head: _Head, value: bytes) -> bool:
    """No further option, no metavar, not the name over again, as in the source of an argument parser."""
    same = value.lower().replace(b"-", b"_") == head.word.lower().replace(b"-", b"_")
    if value.startswith(b"-") or same or b" " in value or _METAVAR.fullmatch(value):
        return False
    return _plausible(head, value)


def _holds(head: _Head, text: bytes) -> bool:
    """Whether a line of a longer text is hidden."""
    if PLACEHOLDER.search(text) or text.startswith(b"-----"):
        return False
    if head.name.promise is Promise.WEAK:
        return values.looks_random(text)
    return _plausible(head, text) and (not values.is_code(text) or values.looks_random(text, hashes=True))


def _plausible(head: _Head, value: bytes) -> bool:
    if head.name.promise is Promise.PASSWORD:
        return values.plausible_password(value)
    return values.plausible(value)


def _span(head: _Head, start: int, end: int, data: bytes) -> Span:
    return Span(BELOW_RULE, head.name.kind, start, end, data[start:end])

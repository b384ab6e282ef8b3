"""Where a value ends that follows a name: at its quote, at a blank, or at the next `,NAME=`."""

from __future__ import annotations

import re

_BARE = re.compile(  # up to a blank or quote, or to what starts the next word: `,NAME=`, `&&`
    rb"(?:[^\s\x00\"'`\\,&;|<>]+|(?![,&;|][A-Za-z_][A-Za-z0-9_.-]{0,120}=|[;&|<>]{2})[,&;|<>])+"
)
_LINE = re.compile(rb"[^\s\x00]+")
_TAIL = b",;:)]}"
_TAGS = re.compile(rb"(?:\[[A-Za-z]+[0-9]+\]:\s?|[0-9]+:\s|\s|\+|export\s|declare\s-x\s)*")
_BREAK = re.compile(rb"[\r\n\x00]")
_BRACKETS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"))


def value_end(match: re.Match[bytes], longest: int) -> int:
    """One past the last byte of the value at the group `secret`, at most `longest` bytes further; its start if none.

    Groups read: `name`, `quote` (the value's own), `open` (a quote before the name), as in assignments.py.
    """
    text, start = match.string, match.start("secret")
    limit = min(len(text), start + longest)
    if match["quote"]:
        return _quoted_end(text, start, limit, match["quote"])
    if text[match.end("name") : start] == b"=":
        opened = match.groupdict().get("open")
        end = text.find(opened, start, limit) if opened else -1
        if end >= 0 and not _BREAK.search(text, start, end):
            return end  # 'NAME=two words'
        if match["name"].isupper() and _TAGS.fullmatch(text, 0, match.start()):
            found = _LINE.match(text, start, limit)  # a line of `env`: nothing is quoted there
            return found.end() if found else start
    return _bare_end(text, start, limit)


def _quoted_end(text: bytes, start: int, limit: int, quote: bytes) -> int:
    inner = rb"(?:(?!" + re.escape(quote) + rb")(?:\\[^\r\n\x00]|[^\r\n\x00]))*"
    found = re.compile(inner).match(text, start, limit)
    return found.end() if found else start


def _bare_end(text: bytes, start: int, limit: int) -> int:
    found = _BARE.match(text, start, limit)
    if not found:
        return start
    end = found.end()
    if end == len(text) or text[end : end + 1] in b" \t\r\n\"'`\\\x1b":
        while end > start and text[end - 1] in _TAIL and not _closes(text, start, end):
            end -= 1
    return end


def _closes(text: bytes, start: int, end: int) -> bool:
    """Whether the bracket at `end - 1` belongs to one that the value itself has opened."""
    last = text[end - 1 : end]
    return any(
        last == shut and text.count(left, start, end) >= text.count(shut, start, end)
        for left, shut in _BRACKETS
    )

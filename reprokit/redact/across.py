"""Secrets that run over line ends: private key blocks, tokens cut in two by a hard wrap, name and value lines.

Line ends are never part of a span: a block gives one span a line, all with the same secret.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reprokit.redact import names, values
from reprokit.redact.rule import PLACEHOLDER, WrapRule

BLOCK_RULE = "private-key-block"
PAIR_RULE = "name-value-lines"
_BEGIN = re.compile(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(
    rb"(?<![A-Za-z0-9+/=])(?P<body>[A-Za-z0-9+/=]+)(?:[ \t\r\"',\\;]|\\n|\x1b\[[0-?]*[ -/]*[@-~])*$"
)
_MOST_LINES = 400
_FULL_LINE = 40


class Span(NamedTuple):
    """Bytes `start` to `end` (offsets in the whole file) of `secret`."""

    rule: str
    kind: str
    start: int
    end: int
    secret: bytes


class _Body(NamedTuple):
    start: int
    end: int
    text: bytes
    sure: bool


def blocks(data: bytes) -> list[Span]:
    """The body lines of private key blocks (RFC 7468, OpenSSH, PGP armour), with any tag in front of each line.

    In a block without an end, body lines are taken until one does not look like one. Header lines stay.
    """
    spans: list[Span] = []
    position = 0
    while match := _BEGIN.search(data, position):
        position = match.end()
        line_start = data.rfind(b"\n", 0, match.start()) + 1
        body, after = _read_block(data, match.end(), match.start() - line_start)
        secret = b"".join(part.text for part in body)
        spans.extend(Span(BLOCK_RULE, "private-key", part.start, part.end, secret) for part in body)
        position = max(position, after)
    return spans


def _read_block(data: bytes, begin: int, column: int) -> tuple[list[_Body], int]:
    """Body lines after a BEGIN that ends at `begin` and starts at `column` of its line, and where reading ended."""
    body: list[_Body] = []
    position = data.find(b"\n", begin) + 1
    for _ in range(_MOST_LINES if position else 0):
        newline = data.find(b"\n", position)
        end = newline if newline >= 0 else len(data)
        line = data[position:end]
        if _END.search(line):
            return body, position
        if _BEGIN.search(line):
            break
        found = _BODY.search(line)
        if found:
            column_fits = found.start("body") == column
            text = found["body"]
            sure = len(text) >= _FULL_LINE and (column_fits or len(text) >= 60)
            if sure or column_fits:
                body.append(_Body(position + found.start("body"), position + found.end("body"), text, sure))
        if newline < 0:
            break
        position = newline + 1
    return _without_end(body), begin


def _without_end(body: list[_Body]) -> list[_Body]:
    """What is surely key text in a block whose end was not seen: its first full lines."""
    for index, part in enumerate(body):
        if not part.sure:
            return body[:index]
    return body


_PAIR = re.compile(
    rb"name:[ \t]*[\"']?(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,120})[\"']?[ \t]*\r?\n"
    rb"[^\r\n]{0,60}?\bvalue:[ \t]*(?P<quote>[\"']?)(?P<value>[^\s\"'][^\r\n\"']{0,4095})"
)


def pairs(data: bytes) -> list[Span]:
    """Values of `name: DB_PASSWORD` whose `value:` stands on the next line, as in Kubernetes manifests."""
    spans = []
    for match in _PAIR.finditer(data):
        name = names.judge(match["name"].decode("ascii"))
        value = match["value"].rstrip()
        sure = name.promise in (names.Promise.STRONG, names.Promise.PASSWORD)
        if sure and not PLACEHOLDER.match(value) and values.plausible(value):
            start = match.start("value")
            spans.append(Span(PAIR_RULE, name.kind, start, start + len(value), value))
    return spans


def wraps(data: bytes, rules: tuple[WrapRule, ...]) -> list[Span]:
    """Both halves of tokens of a fixed length that one line end cuts in two. Best effort.

    The second half must start its line and end at exactly the right length; nothing else about a wrap is guessed.
    """
    spans: list[Span] = []
    for rule in rules:
        position = data.find(rule.prefix)
        while position >= 0:
            spans.extend(_wrapped(data, position, rule))
            position = data.find(rule.prefix, position + 1)
    return sorted(spans, key=lambda span: span.start)


_RUN = re.compile(rb"[A-Za-z0-9]*")
_LINE_END = re.compile(rb"\r?\n")


def _wrapped(data: bytes, start: int, rule: WrapRule) -> list[Span]:
    if start and data[start - 1 : start].isalnum():
        return []
    inside = start + len(rule.prefix)
    first_end = _run_end(data, inside)
    line_end = _LINE_END.match(data, first_end)
    missing = rule.length - (first_end - inside)
    if not line_end or missing <= 0:
        return []
    second = line_end.end()
    second_end = _run_end(data, second)
    rest = data[second:second_end]
    if len(rest) != missing or data[second_end : second_end + 1] in (b"_", b"."):
        return []
    secret = data[start:first_end] + rest
    if len(set(secret)) < 12 or not (
        any(map(bytes.isupper, _single(secret))) or any(map(bytes.isdigit, _single(secret)))
    ):
        return []
    return [
        Span(rule.name, rule.kind, start, first_end, secret),
        Span(rule.name, rule.kind, second, second_end, secret),
    ]


def _run_end(data: bytes, start: int) -> int:
    found = _RUN.match(data, start)
    return found.end() if found else start


def _single(text: bytes) -> list[bytes]:
    return [text[i : i + 1] for i in range(len(text))]

"""Replaces secrets in the bytes of whole files by placeholders such as `[secret-hf-token-1]`.

Laws (tests/redact/secrets_test.py holds them as properties): every line end stays; bytes outside the secrets stay;
redacting twice is redacting once; within one `Redactor` a secret always gets the same placeholder.

Limits: nothing inside compressed or encrypted bytes is seen; a placeholder is not as long as the secret, so formats
that count bytes (pickle, zip) break if something is found in them; a hard wrap is healed only for tokens of a fixed
length (formats.WRAPS); the lines of a quoted value after its first are seen only between triple quotes.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from reprokit.redact import across, below, lines, values
from reprokit.redact.rule import PLACEHOLDER, Found, Rule
from reprokit.redact.rules import RULES, WRAPS
from reprokit.redact.view import View, plain

_INDEX = lines.LiteralIndex(RULES)
_MOST_KNOWN = 256
_KNOWN_LENGTH = 16
_HIGHEST = 1_000_000  # a number above it was not given by this program
SEEN_BEFORE = "seen-before"


class Hit(NamedTuple):
    """One replaced secret: the rule that found it, its line (1 = first, counted by line feeds), what stands there."""

    rule: str
    line: int
    placeholder: str


class Redacted(NamedTuple):
    """A file's bytes without its secrets, and where they were."""

    data: bytes
    hits: tuple[Hit, ...]


class Redactor:
    """Redacts the files of one kit. Feed them in a fixed order: numbers follow the order of first sight.

    `counts` of an earlier session (kind -> highest number used) keeps later numbers apart from earlier ones. A secret
    itself is never given out; it lives only as long as this object.
    """

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._counts = dict(counts or {})
        self._placeholders: dict[bytes, str] = {}
        self._known: dict[bytes, re.Pattern[bytes]] = {}

    @property
    def counts(self) -> dict[str, int]:
        """Kind -> highest number used, sorted by kind: all that may be kept of what was seen."""
        return dict(sorted(self._counts.items()))

    def observe(self, data: bytes) -> None:
        """Keep clear of the numbers of placeholders that stand in `data` already."""
        if b"[secret-" not in data:
            return
        for match in PLACEHOLDER.finditer(data):
            kind, number = match["kind"].decode("ascii"), int(match["number"])
            if number < _HIGHEST:
                self._counts[kind] = max(self._counts.get(kind, 0), number)

    def redact(self, data: bytes) -> Redacted:
        """`data` with every secret replaced. Takes any bytes; reads UTF-16 and UTF-32 that have a byte order mark."""
        wide = _from_wide(data)
        if wide is not None:
            mark, codec, text, rest = wide
            inner = self.redact(text)
            back = inner.data.decode("utf-8", "surrogatepass").encode(codec, "surrogatepass")
            return Redacted(mark + back + rest, inner.hits)
        self.observe(data)
        hits: list[Hit] = []
        once = False
        while True:
            before = data
            data = self._across(data, hits)
            if once and data == before:
                break
            same = data == before
            data = self._spread(self._lines(data, hits), hits)
            if same and data == before:
                break
            once = True
        return Redacted(data, tuple(sorted(hits, key=lambda hit: hit.line)))

    def _across(self, data: bytes, hits: list[Hit]) -> bytes:
        """Key blocks, wrapped tokens and values below their names replaced."""
        spans = across.blocks(data) if b"PRIVATE KEY" in data else []
        spans += across.wraps(data, WRAPS)
        spans += across.pairs(data)
        spans += below.below(data)
        pieces, position, line = [], 0, 1
        for span in sorted(spans, key=lambda span: span.start):
            if span.start < position:
                continue
            placeholder = self._placeholder(span.kind, span.secret)
            pieces += [data[position : span.start], placeholder.encode()]
            line += data.count(b"\n", position, span.start)
            hits.append(Hit(span.rule, line, placeholder))
            position = span.end
        return b"".join([*pieces, data[position:]])

    def _lines(self, data: bytes, hits: list[Hit]) -> bytes:
        """Every line read by the rules that have a literal on it, until nothing more is found in it."""
        pieces = []
        first = 1
        for chunk in lines.chunks(data):
            candidates = _INDEX.candidates(plain(chunk))
            split = chunk.split(b"\n") if candidates else []
            for line, rules in candidates:
                split[line] = self._line(split[line], rules, first + line, hits)
            pieces.append(b"\n".join(split) if split else chunk)
            first += chunk.count(b"\n")
        return b"".join(pieces)

    def _line(self, line: bytes, rules: Sequence[Rule], number: int, hits: list[Hit]) -> bytes:
        while True:
            view = View(line)
            found = _apart([(rule, each) for rule in rules for each in rule.find(view.text)])
            if not found:
                return line
            spans = []
            for rule, each in found:
                placeholder = self._placeholder(each.kind, view.secret(each.start, each.end))
                spans.append((each.start, each.end, placeholder.encode()))
                hits.append(Hit(rule.name, number, placeholder))
            line = view.replace(spans)

    def _placeholder(self, kind: str, secret: bytes) -> str:
        if secret not in self._placeholders:
            number = self._counts.get(kind, 0) + 1
            self._counts[kind] = number
            self._placeholders[secret] = f"[secret-{kind}-{number}]"
            if len(self._known) < _MOST_KNOWN and len(secret) >= _KNOWN_LENGTH and _may_spread(secret):
                whole = rb"(?<![A-Za-z0-9])" + re.escape(secret) + rb"(?![A-Za-z0-9])"
                self._known[secret] = re.compile(whole)
        return self._placeholders[secret]

    def _spread(self, data: bytes, hits: list[Hit]) -> bytes:
        """Secrets seen before (the first 256 long random ones), where only their bytes give them away."""
        for secret, whole in sorted(self._known.items(), key=lambda item: (-len(item[0]), item[0])):
            if secret in data:
                placeholder = self._placeholders[secret]
                line, position = 1, 0
                for match in whole.finditer(data):
                    line += data.count(b"\n", position, match.start())
                    position = match.start()
                    hits.append(Hit(SEEN_BEFORE, line, placeholder))
                data = whole.sub(placeholder.encode(), data)
        return data


def redact(data: bytes) -> Redacted:
    """One file on its own; numbers start at 1."""
    return Redactor().redact(data)


def scan(data: bytes) -> tuple[Hit, ...]:
    """What still looks like a secret in `data`; empty for anything that `redact` gave."""
    return Redactor().redact(data).hits


def _may_spread(secret: bytes) -> bool:
    return values.looks_random(secret, hashes=True) and b"[secret-" not in secret


def _apart(found: list[tuple[Rule, Found]]) -> list[tuple[Rule, Found]]:
    """Finds that do not overlap, left to right: the outermost wins; of two alike, the earlier rule.

    An unquoted value's end is a guess: a known format at its first byte wins over it.
    """
    hard = {each.start for _, each in found if not each.soft}
    kept = [(rule, each) for rule, each in found if not (each.soft and each.start in hard)]
    kept.sort(key=lambda item: (item[1].start, -item[1].end))
    apart: list[tuple[Rule, Found]] = []
    for rule, each in kept:
        if not apart or each.start >= apart[-1][1].end:
            apart.append((rule, each))
        elif each.end > apart[-1][1].end:
            before, outer = apart[-1]
            apart[-1] = (before, outer._replace(end=each.end))
    return apart


_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le", 4),
    (codecs.BOM_UTF32_BE, "utf-32-be", 4),
    (codecs.BOM_UTF16_LE, "utf-16-le", 2),
    (codecs.BOM_UTF16_BE, "utf-16-be", 2),
)


def _from_wide(data: bytes) -> tuple[bytes, str, bytes, bytes] | None:
    """Byte order mark, codec, text as UTF-8, left-over bytes; None for what is not UTF-16 or UTF-32."""
    for mark, codec, width in _MARKS:
        if not data.startswith(mark):
            continue
        end = len(data) - len(data) % width
        body, rest = data[len(mark) : end], data[end:]
        try:
            text = body.decode(codec, "surrogatepass")
            utf8 = text.encode("utf-8", "surrogatepass")
            same = utf8.decode("utf-8", "surrogatepass").encode(codec, "surrogatepass") == body
        except UnicodeError:
            continue
        if same:
            return mark, codec, utf8, rest
    return None

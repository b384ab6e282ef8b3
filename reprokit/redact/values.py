"""Does a value look like a secret? Used where only a name speaks for it. Values are bytes, as in the file."""

from __future__ import annotations

import base64
import binascii
import re

_CHUNK = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_PIECE = re.compile(rb"[A-Za-z0-9]+")
_NUMBER = re.compile(
    rb"[+-]?(?:[0-9]?[0-9_,.]{0,14}(?:[eE][+-]?[0-9]+)?(?:[kKMGT]i?[bB]?|[bB]|[mun]?s|sec|m|min|h|d|%)?|0[xX][0-9a-fA-F]+)"
)
_PLAIN_NUMBER = re.compile(rb"[+-]?[0-9]*\.?[0-9]*")
_PATH = re.compile(
    rb"(?:[A-Za-z_]+=)?(?:[A-Za-z]:|~[\w.-]*|\.{1,2}|\$\{?\w+\}?)?[/\\][\x21-\x7e]*|[a-z][a-z0-9+.-]{1,20}://[^\x00-\x20]*"
)
_REFERENCE = re.compile(
    rb"\$\{.*|\$\(.*|\$[A-Za-z_][A-Za-z0-9_]*|\$[0-9@*#?]|`.*|%[A-Za-z_]+%|%[sdr]|%\([^)]*\)[sdr].*|\{\{?[^{}]*\}?\}.*|<.*|(?:%[sdr]|\{\w*\}|[^A-Za-z0-9%{}])+"
)
_HIDDEN = re.compile(
    rb"[*xX.#?_:-]{2,}|\W{1,3}|[|>][-+0-9]{0,2}|\[?\(?(?i:redacted|masked|hidden|filtered|removed|secret)\)?\]?|hf_[xX.]*"
)
_NOTHING = frozenset(
    b"true false none null nil yes no on off undefined unset empty missing present required optional n/a str string "
    b"int bool bytes float any object unknown default auto".split()
)
_HASH = re.compile(
    rb"(?:(?:sha(?:1|224|256|384|512)|md5|blake2b)[:=-])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})"
)
_UUID = re.compile(rb"(?:GPU-)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_AWS_SECRET = re.compile(rb"[A-Za-z0-9/+]{40}")
_DOTTED_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_CODE = re.compile(rb"[A-Za-z_][\w.]*[(\[{].*|[(\[{].*|.*[)\]}]|lambda|not|self\..*|args\..*")


def is_path(value: bytes) -> bool:
    """A file path or a URL."""
    return bool(_PATH.fullmatch(value))


def is_placeholder(value: bytes) -> bool:
    """Nothing to hide: empty, a mask, a reference to a variable, a word such as None, or hidden already."""
    bare = value.strip()
    return (
        not bare
        or bare[:1] == b"\x01"
        or bare.lower() in _NOTHING
        or bool(_HIDDEN.fullmatch(bare))
        or bool(_REFERENCE.fullmatch(bare))
    )


def is_code(value: bytes) -> bool:
    """What stands on the right of a keyword argument in a printed source line: names, attributes, calls."""
    return bool(
        _CODE.fullmatch(value)
        or (_DOTTED_NAME.fullmatch(value) and not any(c in b"0123456789" for c in value))
    )


def plausible(value: bytes) -> bool:
    """Whether a value may be the secret that a strong name promises."""
    if _AWS_SECRET.fullmatch(value) and looks_random(value.replace(b"/", b"")):
        return True
    if is_placeholder(value) or is_path(value) or _NUMBER.fullmatch(value):
        return False
    return not value.startswith(b"-----BEGIN")


def plausible_password(value: bytes) -> bool:
    """Whether a value may be a password. A path may not; a number of two digits or fewer may not."""
    if is_placeholder(value) or value.startswith(b"-----BEGIN") or is_path(value):
        return False
    return not (_PLAIN_NUMBER.fullmatch(value) and len(value) <= 2)


def looks_random(value: bytes, *, hashes: bool = False) -> bool:
    """Whether a value looks drawn at random; with `hashes`, hex digests and UUIDs count as well."""
    if (
        not 8 <= len(value) <= 8192
        or is_placeholder(value)
        or is_path(value)
        or value.startswith(b"-----BEGIN")
    ):
        return False
    if _HASH.fullmatch(value) or _UUID.fullmatch(value):
        return hashes
    if _NUMBER.fullmatch(value) or b" " in value:
        return False
    longest = max(_PIECE.findall(value), key=len, default=b"")
    if len(longest) < 12 or longest.isdigit():
        return False
    chunks = _CHUNK.findall(longest)
    return len(longest) / len(chunks) <= 3.0


def is_basic(value: bytes) -> bool:
    """Base64 of `name:password`, as in docker's config.json (`auth`) and in HTTP Basic (RFC 7617)."""
    try:
        clear = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in clear[1:] and clear.isascii() and len(clear) >= 3

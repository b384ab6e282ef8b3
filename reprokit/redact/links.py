"""Rules for what a link carries: signed and tokened query strings, percent-encoded names, tokens as the user."""

from __future__ import annotations

import re

from reprokit.redact import names, values
from reprokit.redact.rule import Found, Rule, Sample, fake

_NAME = rb"(?P<name>[A-Za-z_](?:[A-Za-z0-9_.-]|%5[Ff]){0,120}+)"
_VALUE = rb"(?P<secret>(?:[A-Za-z0-9._~+/*!:-]|%(?!2[0236789Cc]|3[BbCcEe]|0[0-9A-Fa-f])[0-9A-Fa-f]{2}){8,8192}+={0,2})"
_QUERY = re.compile(
    rb"(?P<before>[?&](?:amp;)?)?(?:(?<![A-Za-z0-9_.%-])|(?<=%3[Ff])|(?<=%26))"
    + _NAME
    + rb"(?P<equals>=|%3[Dd])"
    + _VALUE
)
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_SIGN = re.compile(rb"[^A-Za-z0-9]")
_SIGNING = re.compile(r"x-(?:amz|goog)-(?:signature|credential|security-token)|sig|signature|awsaccesskeyid")


def _query(match: re.Match[bytes]) -> Found | None:
    """A value in a query string (or one whose name or `=` is percent-encoded) that looks random."""
    raw = match["name"]
    name = _ESCAPE.sub(lambda code: bytes([int(code[1], 16)]), raw).decode("ascii")
    signed = bool(_SIGNING.fullmatch(name.lower()))
    named = name.lower() in ("x-amz-signature", "x-goog-signature")
    if not (match["before"] or b"%" in raw or match["equals"] != b"=" or named):
        return None
    value = _ESCAPE.sub(b"/", match["secret"])
    promise = names.judge(name).promise
    if signed:
        secret = len(value) >= 16 and values.looks_random(_SIGN.sub(b"", value), hashes=True)
    else:
        hashes = promise is not names.Promise.WEAK or name.lower() != "key"
        secret = promise is not names.Promise.NONE and values.looks_random(value, hashes=hashes)
    if not secret:
        return None
    kind = "url-signature" if signed else names.judge(name).kind
    return Found(kind, *match.span("secret"))


_QUERY_GATE = re.compile(rb"(?:=|%3d)[a-z0-9._~+/=*!:%-]{8}")


def _user(match: re.Match[bytes]) -> Found | None:
    found = values.looks_random(match["secret"], hashes=True)
    return Found("url-password", *match.span("secret")) if found else None


_LITERALS = rb"? & %3d %5f -signature="
_A = fake(70, 40)
_H = fake(71, 64, "0123456789abcdef")

LINKS = (
    Rule(
        "query-secret",
        "token",
        "AWS SigV4 and Google V4 signed URLs, Azure SAS (sig), RFC 6750 2.3 (access_token); 2026-12-01",
        tuple(_LITERALS.split()),
        _QUERY,
        (
            Sample(b"GET https://b.example/k?X-Amz-Date=20260101T000000Z&X-Amz-Signature=" + _H, (_H,)),
            Sample(
                b"https://b.example/k?X-Amz-Credential=" + _A + b"%2F20260101&x=1", (_A + b"%2F20260101",)
            ),
            Sample(b"https://b.example/k?X-Amz-Security-Token=" + _A + b"&X-Amz-Expires=3600", (_A,)),
            Sample(b"https://a.example/c/b?sv=2020-08-04&sr=b&sig=" + _A + b"%3D", (_A + b"%3D",)),
            Sample(b"https://a.example/c/b?sig=" + _A + b"&sv=2020-08-04", (_A,)),
            Sample(b"https://s.example/o?X-Goog-Signature=" + _H, (_H,)),
            Sample(b"https://d.example/x?Expires=1700000000&Signature=" + _A + b"&page=1", (_A,)),
            Sample(b"https://h.example/x?page=1&amp;token=" + _A, (_A,)),
            Sample(b"next=%2Flogin%3Ftoken%3D" + _A + b"%26page%3D2", (_A,)),
            Sample(b"token%3D" + _A, (_A,)),
            Sample(b"GITHUB%5FTOKEN=" + _A, (_A,)),
        ),
        (
            b"https://h.example/x?page=2&size=12345678&rev=7c1f0b9e44d2a86530e7bb1295cfa0d83e61274f",
            b"https://h.example/x?max_tokens=4096&signature=function&sig=unknown",
            b"https://h.example/x?cache_key=9f86d081884c7d659a2feaa0c55ad015&key=decoder.layers.0",
            b"signature=9f86d081884c7d659a2feaa0c55ad015 && sig=inspect.signature(forward)",
            b"NUM%5FTOKENS=4096 path%3D%2Fdata%2Ftokenizer",
        ),
        judge=_query,
        gate=lambda line: bool(_QUERY_GATE.search(line)),
    ),
    Rule(
        "url-user-before-password",
        "url-password",
        "git hosts that take a token as the user: https://TOKEN:x-oauth-basic@host, https://TOKEN:@host; 2026-12-01",
        (b"://",),
        re.compile(
            rb"(?i:[a-z][a-z0-9+.-]{1,30}://)(?P<secret>[^\s:/?#@\"'<>\x00]{16,4096}):[^\s:/?#@\"'<>\x00]{0,200}@(?=[A-Za-z0-9\[$])"
        ),
        (
            Sample(b"git clone https://" + _A + b":x-oauth-basic@git.example/x.git", (_A,)),
            Sample(b"https://" + _A + b":@git.example/x.git", (_A,)),
        ),
        (b"https://a-long-user-name-here:$TOKEN@host/x", b"https://oauth2accesstoken:$TOKEN@gcr.example"),
        judge=_user,
    ),
)

"""The laws of redaction, tried on texts put together from secrets, near-secrets, colour codes and odd bytes."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from reprokit.redact.rule import PLACEHOLDER, fake
from reprokit.redact.rules import RULES
from reprokit.redact.secrets import Redactor, redact, scan
from reprokit.redact.view import View

SECRETS = [secret for rule in RULES for sample in rule.positive for secret in sample.secrets]
LINES = [sample.line for rule in RULES for sample in rule.positive] + [
    line for rule in RULES for line in rule.negative
]
GLUE = (
    "| |=|: |\"|'|\\|\\n|,|;|&|@|/|\0|\1|\x1b[31m|\x1b[0m|\x1b|-|--|{|}|[|]|PASSWORD|HF_TOKEN=|key|token: |://u:|hf_"
    "|Bearer |[secret-hf-token-1]|[secret-password-12]|Cookie: |-----BEGIN PRIVATE^KEY-----|-----END PRIVATE^KEY-----"
    "|\xff\xfe|\xc3\xbc|name|value|12|  - name: A_SECRET\n    value: |setenv |environ['"
)
BELOW = (
    'secret: |\n  ~password: >-\n    ~api_key\n~- "--password"\n- ~"""~\'\'\'~<password>~</password>~?sig=~&token=~%3D'
    "~mysql -p~ => ~\n  ~session_id=~'x-api-key', '~token~password = "
)
GLUE_PIECES = [piece.replace("^", " ").encode("latin-1") for piece in GLUE.split("|")] + [fake(60, 64)]
GLUE_PIECES += [piece.encode() for piece in BELOW.split("~")]
ENDS = [b"\n", b"\r\n", b"\r", b"\n\n"]

pieces = st.one_of(
    st.sampled_from(SECRETS),
    st.sampled_from(LINES),
    st.sampled_from(GLUE_PIECES),
    st.sampled_from(ENDS),
    st.binary(max_size=6),
)
texts = st.lists(pieces, max_size=14).map(b"".join)


def line_ends(data: bytes) -> list[bytes]:
    return re.findall(rb"\r\n|\n|\r", data)


@settings(max_examples=3000, deadline=None)
@given(texts)
def test_line_ends_stay_and_twice_is_once(data: bytes) -> None:
    result = redact(data)
    assert line_ends(result.data) == line_ends(data)
    again = redact(result.data)
    assert again.data == result.data
    assert again.hits == scan(result.data) == ()


@settings(max_examples=1000, deadline=None)
@given(texts.map(lambda data: data.replace(b"\x1b", b"").replace(b"[secret-", b"")))
def test_bytes_outside_the_secrets_stay_in_their_order(data: bytes) -> None:
    result = redact(data)
    position = 0
    for piece in PLACEHOLDER.split(result.data)[:: PLACEHOLDER.groups + 1]:
        position = data.index(piece, position) + len(piece)
    if not result.hits:
        assert result.data == data


@settings(max_examples=300, deadline=None)
@given(texts)
def test_the_same_bytes_give_the_same_result(data: bytes) -> None:
    assert redact(data) == redact(data)
    redactor = Redactor()
    assert redactor.redact(data).data == redactor.redact(data).data or b"[secret-" in data


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(SECRETS), st.sampled_from([b"", b"0: ", b"[rank3]: ", b"\x1b[1m"]), st.sampled_from(ENDS)
)
def test_hits_name_the_line_they_stand_on(secret: bytes, tag: bytes, end: bytes) -> None:
    data = b"one" + end + tag + b"HF_TOKEN='" + secret + b"'" + end + b"three"
    result = redact(data)
    for hit in result.hits:
        assert hit.placeholder.encode() in result.data.split(b"\n")[hit.line - 1]


@settings(max_examples=600, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_at_all(data: bytes) -> None:
    result = redact(data)
    assert line_ends(result.data) == line_ends(data)
    assert scan(result.data) == ()


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(
        [b"HF_TOKEN=", b"+ export DB_PASSWORD=", b"--api-key ", b'"client_secret": "', b"x-auth-token: "]
    ),
    st.text(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+_", min_size=16, max_size=60
    ).filter(
        lambda text: any(c.isdigit() for c in text) and any(c.isalpha() for c in text) and not text.isupper()
    ),
)
def test_a_random_value_after_a_telling_name_is_gone(name: bytes, value: str) -> None:
    quote = b'"' if name.endswith(b'"') else b""
    data = name + value.encode() + quote + b" --seed 1\n"
    result = redact(data)
    assert value.encode() not in result.data
    assert result.data.startswith(name + b"[secret-")
    assert result.data.endswith(quote + b" --seed 1\n")


@settings(max_examples=1000, deadline=None)
@given(texts)
def test_literals_and_gates_hide_nothing_from_their_rules(data: bytes) -> None:
    for line in data.split(b"\n"):
        text = View(line).text
        for rule in RULES:
            if replace(rule, gate=None).find(text):
                assert any(literal in text.lower() for literal in rule.literals), rule.name
                assert rule.find(text), rule.name

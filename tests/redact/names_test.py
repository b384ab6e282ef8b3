from __future__ import annotations

import pytest

from reprokit.redact import names, values
from reprokit.redact.names import Promise


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("NUM_OF_TOKENS_PER_CHUNK", ("num", "of", "tokens", "per", "chunk")),
        ("hfToken", ("hf", "token")),
        ("APIKey", ("api", "key")),
        ("x-auth-token", ("x", "auth", "token")),
        ("oauth2_token", ("oauth", "2", "token")),
        ("tokenizer", ("tokenizer",)),
    ],
)
def test_names_are_split_into_whole_words(name: str, words: tuple[str, ...]) -> None:
    assert names.words(name) == words


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("HF_TOKEN", "hf-token"),
        ("hfToken", "hf-token"),
        ("HUGGING_FACE_HUB_TOKEN", "hf-token"),
        ("WANDB_API_KEY", "wandb-key"),
        ("NGC_KEY", "ngc-key"),
        ("NGC_API_KEY", "ngc-key"),
        ("GH_PAT", "github-token"),
        ("GITHUB_TOKEN_2", "github-token"),
        ("AWS_SECRET_ACCESS_KEY", "aws-secret"),
        ("aws_session_token", "aws-key"),
        ("SSH_KEY", "key"),
        ("x-api-key", "key"),
        ("clientSecret", "secret"),
        ("PGPASSWORD", "password"),
        ("DB_PASS", "password"),
        ("AWS_CREDENTIALS", "credentials"),
        ("MY_TOKEN_VALUE", "token"),
    ],
)
def test_names_that_promise_a_secret(name: str, kind: str) -> None:
    found = names.judge(name)
    assert found.promise in (Promise.STRONG, Promise.PASSWORD)
    assert found.kind == kind


@pytest.mark.parametrize(
    "name",
    [
        "NUM_OF_TOKENS_PER_CHUNK_COMBINE_API",
        "TOKENIZERS_PARALLELISM",
        "tokenizer",
        "max_tokens",
        "key_value_heads",
        "eos_token",
        "TOKEN_FILE",
        "PASSWORD_FILE",
        "cache_key",
        "KEYBOARD",
        "monkey",
        "forward_pass",
        "compass",
        "author",
        "AuthType",
        "patches",
        "token_dispatcher_type",
        "use_token_dropout",
        "TOKENIZER_MODEL",
    ],
)
def test_names_that_promise_none(name: str) -> None:
    assert names.judge(name).promise is Promise.NONE


@pytest.mark.parametrize(
    "value",
    [
        b"None", b"true", b"", b"***", b"xxxx", b"$HF_TOKEN", b"${X:-y}", b"$(cat x)", b"<your token>", b"{token}",
        b"%s", b"[REDACTED]", b"/run/secrets/x", b"~/x", b"./x.json", b"https://host/x", b"4096", b"1e-6", b"12.5GB",
        b"0x7f3a", b"-----BEGIN", b"|2-", b"\x01\x01\x01",
    ],
)  # fmt: skip
def test_values_that_are_no_secret_even_after_a_strong_name(value: bytes) -> None:
    assert not values.plausible(value)


@pytest.mark.parametrize(
    "value", [b"hunter2", b"a" * 20, b"1234abcd", b"12345678901234567", b"pa/ss", b"correct horse"]
)
def test_values_that_may_be_a_secret_after_a_strong_name(value: bytes) -> None:
    assert values.plausible(value)


def test_a_password_may_be_a_number_but_not_a_flag() -> None:
    assert values.plausible_password(b"12345678")
    assert not values.plausible_password(b"1")


@pytest.mark.parametrize(
    "value",
    [
        b"9f86d081884c7d659a2feaa0c55ad015", b"4f1c90d27ae85b63019d7e42c8a5f3b6d1204e97", b"sha256:" + b"0a" * 32,
        b"123e4567-e89b-12d3-a456-426614174000", b"Qwen2ForSequenceClassification", b"decoder.layers.0.self_attention",
        b"2026-03-11T23:59:41", b"20260311T235941Z", b"short1A", b"libcudnn_graph.so.9.14.0",
        b"nvcr.io/nvidia/nemo:26.06",
    ],
)  # fmt: skip
def test_hashes_names_and_times_do_not_look_random(value: bytes) -> None:
    assert not values.looks_random(value)


@pytest.mark.parametrize("value", [b"x7Kq9TzLm2Qw8Rt", b"QmVxTnBzLkRwYpDsGhJcFaEu", b"a1b2c3d4e5f6g7h8"])
def test_values_that_look_random(value: bytes) -> None:
    assert values.looks_random(value)


def test_basic_credentials_are_told_from_other_base64() -> None:
    assert values.is_basic(b"dXNlcjpwYXNz")  # user:pass
    assert not values.is_basic(b"aGVsbG8gd29ybGQ=")  # hello world
    assert not values.is_basic(b"not base64!")

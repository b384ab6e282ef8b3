from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reprokit.model.fingerprint import fingerprint_id

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


def test_the_id_is_a_contract() -> None:
    """Two kits, two versions: the same failure has the same name."""
    assert (
        fingerprint_id("cpu_oom", "host_oom/optimizer.py:copy_group_grads", "MemoryError") == "ed5715d377d5"
    )
    assert fingerprint_id("hang", None, None) == "84e3aa0619f4"


@given(WORDS, WORDS, st.none() | WORDS, st.none() | WORDS)
def test_with_a_site_the_exception_does_not_count(
    kind: str, site: str, one: str | None, two: str | None
) -> None:
    assert fingerprint_id(kind, site, one) == fingerprint_id(kind, site, two)


@given(WORDS, WORDS)
def test_without_a_site_it_does(kind: str, exception: str) -> None:
    assert fingerprint_id(kind, None, exception) == fingerprint_id(kind, "", exception)
    assert fingerprint_id(kind, None, exception) != fingerprint_id(kind, None, exception + "x")


@given(WORDS, WORDS)
def test_a_site_is_never_taken_for_an_exception(kind: str, word: str) -> None:
    assert fingerprint_id(kind, word, None) != fingerprint_id(kind, None, word)


@given(WORDS, WORDS, WORDS)
def test_kind_and_site_both_count(kind: str, site: str, other: str) -> None:
    assert (fingerprint_id(kind, site, None) == fingerprint_id(other, site, None)) == (kind == other)
    assert (fingerprint_id(kind, site, None) == fingerprint_id(kind, other, None)) == (site == other)


def test_it_is_short_and_plain() -> None:
    found = fingerprint_id("é", "a b:c", None)
    assert len(found) == 12 and set(found) <= set("0123456789abcdef")

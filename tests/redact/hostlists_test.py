from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from reprokit.redact import hostlists
from reprokit.redact.any_of import any_of


def test_expand_keeps_leading_zeros_and_order() -> None:
    assert hostlists.expand("gb-[001-002,010]x") == ["gb-001x", "gb-002x", "gb-010x"]
    assert hostlists.expand("gb-[2-1]") == hostlists.expand("gb-1") == hostlists.expand("gb-[1-999999]") == []


@given(st.lists(st.integers(0, 50), min_size=2, max_size=20))
def test_compress_is_read_back_as_it_was(numbers: list[int]) -> None:
    names = [f"host-{number}" for number in numbers]
    assert hostlists.expand(hostlists.compress(names)) == names


def test_compress_of_one_or_of_mixed_names() -> None:
    assert hostlists.compress(["host-3"]) == "host-3"
    assert hostlists.compress(["host-3", "localhost"]) == "host-3,localhost"


@given(st.sets(st.text("ab-.", min_size=1, max_size=5), max_size=12), st.text("ab-.", max_size=6))
def test_any_of_matches_its_words_and_the_longest_first(words: set[str], text: str) -> None:
    found = re.match(any_of(words), text)
    assert (found[0] if found else None) == max(
        (word for word in words if text.startswith(word)), key=len, default=None
    )

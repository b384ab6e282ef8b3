from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprokit.model.units import BINARY, DECIMAL, Size, binary_size, gib, scaled, signed

PRINTED = {
    "Unable to allocate 24.0 MiB for an array": Size(25165824, "24.0 MiB"),
    "Tried to allocate 2.50 GiB.": Size(2684354560, "2.50 GiB"),
    "512 bytes": Size(512, "512 bytes"),
    "1.00 KiB and 2.00 KiB": Size(1024, "1.00 KiB"),
    "1 TiB": Size(2**40, "1 TiB"),
    "3GiB": Size(3 * 2**30, "3GiB"),
}


@pytest.mark.parametrize("text", PRINTED)
def test_a_size_with_its_text(text: str) -> None:
    assert binary_size(text) == PRINTED[text]


@pytest.mark.parametrize("text", ["", "24.0", "24.0 GB", "24.0 MB", "GiB", "24.0 MiBs", "24 GiBx"])
def test_other_units_are_not_taken_for_binary_ones(text: str) -> None:
    """167.05 GB is 155.58 GiB: guessing the unit is being wrong by seven per cent."""
    assert binary_size(text) is None


def test_the_three_conventions_of_one_log() -> None:
    assert scaled("167.05", DECIMAL["GB"]) == 167_050_000_000
    assert gib(scaled("167.05", DECIMAL["GB"])) == "155.58 GiB"
    assert scaled("0.1", BINARY["GiB"]) == 107374182


def test_figures_are_exact_where_floats_are_not() -> None:
    assert scaled("0.128130001", 10**9) == 128130001
    assert scaled("9007199254740993", 1) == 9007199254740993


@pytest.mark.parametrize(("number", "count"), [("0.5", 0), ("1.5", 2), ("2.5", 2)])
def test_ties_go_to_even(number: str, count: int) -> None:
    assert scaled(number, 1) == count


WORDS = {
    0: "0 bytes", 1: "1 bytes", 2**20 - 1: "1048575 bytes", 2**20: "1.00 MiB", 2**30: "1.00 GiB", 2**40: "1024.00 GiB",
    -(2**20): "-1.00 MiB",
}  # fmt: skip


@pytest.mark.parametrize("count", WORDS)
def test_bytes_for_people(count: int) -> None:
    assert gib(count) == WORDS[count]


def test_a_difference_always_has_its_sign() -> None:
    assert (signed(2**20), signed(-(2**20)), signed(0)) == ("+1.00 MiB", "-1.00 MiB", "+0 bytes")


@given(st.integers(0, 2**50), st.sampled_from(["KiB", "MiB", "GiB"]), st.integers(0, 3))
def test_what_is_printed_is_read_to_half_its_last_digit(count: int, unit: str, digits: int) -> None:
    printed = f"{count / BINARY[unit]:.{digits}f} {unit}"
    size = binary_size(f"allocate {printed}.")
    assert size is not None and size.printed == printed
    assert abs(size.bytes - count) <= BINARY[unit] * 10**-digits / 2 + 1

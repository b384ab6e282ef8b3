from __future__ import annotations

import pytest

from reprokit.model.facts import Where
from reprokit.model.trace import MemoryLine
from reprokit.model.units import Size
from reprokit.parse.document import Document
from reprokit.parse.readers import megatron_memory


def test_megatron_bridge_prints_decimal_gigabytes_and_counts() -> None:
    line = (
        "[Rank 0] (after 2 iterations) memory (GB) | mem-allocated-gigabytes: 85.178"
        " | mem-reserved-gigabytes: 165.39 | mem-inactive-gigabytes: 0 | mem-max-active-gigabytes: 84.77799999999999"
        " | mem-alloc-retires: 0 | mem-allocated-count: 2345"
    )
    (event,) = megatron_memory.read(Document("job.log", line.encode()))
    assert event == MemoryLine(
        where=Where("job.log", 1, line),
        rank=0,
        after_iteration=2,
        values={
            "mem-allocated-gigabytes": Size(85_178_000_000, "85.178 GB"),
            "mem-reserved-gigabytes": Size(165_390_000_000, "165.39 GB"),
            "mem-inactive-gigabytes": Size(0, "0 GB"),
            "mem-max-active-gigabytes": Size(84_778_000_000, "84.77799999999999 GB"),
        },
    )


def test_megatron_lm_prints_mebibytes() -> None:
    line = (
        "[Rank 12] (after 100 iterations) memory (MB) | allocated: 81231.53 | max allocated: 159312.10"
        " | reserved: 157728.00 | max reserved: 170000.00 | total device memory used: 180000.00"
    )
    (event,) = megatron_memory.read(Document("job.log", line.encode()))
    assert event == MemoryLine(
        where=Where("job.log", 1, line),
        rank=12,
        after_iteration=100,
        values={
            "allocated": Size(85_177_432_801, "81231.53 MB"),
            "max allocated": Size(167_050_844_570, "159312.10 MB"),
            "reserved": Size(165_389_795_328, "157728.00 MB"),
            "max reserved": Size(178_257_920_000, "170000.00 MB"),
            "total device memory used": Size(188_743_680_000, "180000.00 MB"),
        },
    )


@pytest.mark.parametrize(
    ("figures", "values"),
    [
        ("mem-allocated-gigabytes: 1e-05", {"mem-allocated-gigabytes": Size(10_000, "1e-05 GB")}),
        ("peak gigabytes : 2.5 | mem-allocated-giga", {"peak gigabytes": Size(2_500_000_000, "2.5 GB")}),
        ("mem-allocated-gigabytes: nan | : 3 | mem-x-gigabytes: -1", {}),
        ("mem-allocated-gigabytes: 9" + "9" * 5000, {}),
        ("", {}),
    ],
)
def test_renamed_odd_and_cut_figures(figures: str, values: dict[str, Size]) -> None:
    line = f"[Rank 3] (after 1 iterations) memory (GB) | {figures}"
    (event,) = megatron_memory.read(Document("job.log", line.encode()))
    assert isinstance(event, MemoryLine)
    assert event.values == values


def test_the_rank_in_brackets_counts_whatever_the_prefix_says() -> None:
    line = b"[default1]:[Rank 5] (after 1 iterations) memory (GB) | mem-allocated-gigabytes: 1.0"
    (event,) = megatron_memory.read(Document("job.log", line))
    assert event.rank == 5


def test_a_line_cut_before_its_figures_says_nothing() -> None:
    assert list(megatron_memory.read(Document("job.log", b"[Rank 5] (after 1 iterations) memory (GB)"))) == []

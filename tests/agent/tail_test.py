"""Reading the job's output: what counts as a sign of an error, offsets, pieces."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from reprokit.agent.tail import Mark, Tail, find_failure


@pytest.mark.parametrize(
    "line",
    [
        b"Traceback (most recent call last):",
        b"  + Exception Group Traceback (most recent call last):",
        b"3: [rank3]: Traceback (most recent call last):",
        b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 12.00 MiB.",
        b"[rank0]: torch.cuda.OutOfMemoryError: CUDA out of memory.",
        b" 3: [rank3]: RuntimeError: boom",
        b"[default3]:ValueError: x",
        b"KeyboardInterrupt",
        b"\x1b[1;35mMemoryError\x1b[0m: \x1b[35mx\x1b[0m"[:7] + b"MemoryError: x",
        b"Fatal Python error: Segmentation fault",
        b"terminate called after throwing an instance of 'c10::DistBackendError'",
        b"[rank0]:[E1206 18:44:12.7 ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: x",
    ],
)
def test_signs_of_an_error(line: bytes) -> None:
    before = b"step 1\nloss=1\r"
    at = find_failure(before + line + b"\n")
    assert at is not None and at >= len(before)


@pytest.mark.parametrize(
    "line",
    [
        b"iteration 3/ 30 | no Error here",
        b"retrying after ConnectionError: timed out",
        b"Error handling is on",
        b"number of errors: 0 | CUDA OOMs: 0",
        b"mean_absolute_Error=3: good",
        b"ValueError",
    ],
)
def test_other_lines(line: bytes) -> None:
    assert find_failure(b"x\n" + line) is None


@pytest.fixture
def pair() -> Iterator[tuple[int, int]]:
    reading, writing = os.memfd_create("output"), None
    writing = os.dup(reading)
    yield reading, writing
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize("piece", [1, 7, 64, 5000])
def test_pieces_make_no_difference(pair: tuple[int, int], piece: int) -> None:
    reading, writing = pair
    text = (
        b"one\ntwo\n [2026] iteration        2/      30 | loss\n\nRuntimeError: x\n iteration  3/ 30 |"
        + b"." * 3000
    )
    tail, total = Tail(reading), 0
    failures: list[Mark] = []
    iterations: list[int] = []
    for start in range(0, len(text), piece):
        os.write(writing, text[start : start + piece])
        news = tail.read(want_failure=not failures)
        total += news.new_bytes
        failures += [news.failure] if news.failure else []
        iterations += [number for number in news.iterations if number not in iterations[-1:]]
    assert failures == [(text.index(b"RuntimeError"), 5)]
    assert iterations == [2, 3]
    assert total == len(text) == tail.position


def test_endless_lines_cost_no_memory(pair: tuple[int, int]) -> None:
    reading, writing = pair
    tail = Tail(reading)
    for _ in range(50):
        os.write(writing, b"x" * 10_000)
        tail.read(True)
    assert len(tail._carry) <= 1 << 16
    os.write(writing, b"\nValueError: x\n")
    assert tail.read(True).failure == (500_001, 2)


def test_job_that_cuts_its_file(pair: tuple[int, int]) -> None:
    reading, writing = pair
    tail = Tail(reading)
    os.write(writing, b"x" * 100)
    assert tail.read(True).new_bytes == 100
    os.ftruncate(writing, 0)
    os.lseek(writing, 0, os.SEEK_SET)
    assert tail.read(True) == (0, None, [])
    os.write(writing, b"abc")
    assert tail.read(True).new_bytes == 3

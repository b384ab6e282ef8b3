"""Messages that say an allocation in host memory was refused, by the programs that print them."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod

from msgspec import Struct

from reprokit.model.trace import AllocationFigures
from reprokit.model.units import BINARY, Size, scaled

KIND = "cpu_oom"

_CLASSES = frozenset({"MemoryError", "_ArrayMemoryError"})

_DEVICE = re.compile(r"(?:CUDA|HIP) error|CUDA_ERROR|cudaError|hipError")
"""RMM throws std::bad_alloc for device memory, and says so in the text (RMM 24, 2026-11)."""

_NUMPY_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


class KnownMessage(Struct, frozen=True):
    """A message grammar. `size`: how its figure is read, None if it holds none."""

    pattern: re.Pattern[str]
    size: Callable[[re.Match[str]], Size | None] | None
    program: str
    seen: str


def figures(exception: str, message: str) -> AllocationFigures | None:
    """What an exception says of a refused host allocation; None if it tells of something else.

    The class MemoryError counts with any text, except where a device allocator borrows it.
    """
    if _DEVICE.search(message):
        return None
    for known in MESSAGES:
        match = known.pattern.search(message)
        if match is not None:
            return AllocationFigures(kind=KIND, requested=known.size(match) if known.size else None)
    if exception.rsplit(".", 1)[-1] in _CLASSES:
        return AllocationFigures(kind=KIND)
    return None


def _array_size(match: re.Match[str]) -> Size | None:
    """NumPy prints the size of the array in three digits.

    If shape and data type are printed and NumPy would print their product just so, the product is the exact
    size and counts. Otherwise (structured or unknown types, a cut line) the printed number does.
    """
    if match["number"] is None:
        return None
    printed = f"{match['number']} {match['unit']}"
    exact = _product(match["shape"], match["dtype"])
    if exact is not None and numpy_size(exact) == printed:
        return Size(exact, printed)
    return Size(scaled(match["number"], 1024 ** _NUMPY_UNITS.index(match["unit"])), printed)


def _product(shape: str | None, dtype: str | None) -> int | None:
    """Bytes of an array with this shape and type as NumPy prints them, e.g. `(2, 3)` and `float32`."""
    width = item_size(dtype) if dtype else None
    if shape is None or width is None:
        return None
    extents = re.findall(r"\d{1,20}", shape)
    return prod(int(extent) for extent in extents) * width if len(extents) <= _MOST_DIMENSIONS else None


_MOST_DIMENSIONS = 64
"""NumPy's own limit, from 2.0; 32 before."""


def item_size(dtype: str) -> int | None:
    """Bytes of one element of a NumPy type as it is printed: `float32`, `>f4`, `<U10`, `bool`, `object`."""
    if dtype in {"bool", "object"}:
        return 1 if dtype == "bool" else 8
    bits = re.fullmatch(r"(?:u?int|float|complex)(\d{1,3})", dtype)
    if bits is not None:
        return int(bits[1]) // 8
    coded = re.fullmatch(r"[<>|=]([biufcSUVmM])(\d{1,6})(?:\[\w{1,9}\])?", dtype)
    if coded is not None:
        return int(coded[2]) * (4 if coded[1] == "U" else 1)
    return None


def numpy_size(count: int) -> str:
    """`count` bytes as NumPy writes them: `_size_to_string` of numpy/_core/_exceptions.py (1.18 to 2.4).

    Where three digits do not do there is a point without digits behind it: `1023. MiB`.
    """
    step = max(count.bit_length() - 1, 1) // 10
    units = count / 1024**step
    if round(units) == 1024:
        step, units = step + 1, units / 1024
    if step >= len(_NUMPY_UNITS):
        return f"{count} bytes"
    if step == 0:
        return f"{units:.0f} bytes"
    return (
        f"{units:#.3g} {_NUMPY_UNITS[step]}" if round(units) < 1000 else f"{units:#.0f} {_NUMPY_UNITS[step]}"
    )


def _bytes(match: re.Match[str]) -> Size:
    return Size(int(match["bytes"]) * BINARY["bytes"], f"{match['bytes']} bytes")


MESSAGES: tuple[KnownMessage, ...] = (
    KnownMessage(
        re.compile(
            r"^Unable to allocate (?:(?P<number>\d{1,20}(?:\.\d{0,9})?) (?P<unit>bytes|[KMGTPE]iB)|array)\b"
            r"(?: for an array)?(?: with shape (?P<shape>\([\d, ]{0,2000}\)))?"
            r"(?: and data type (?P<dtype>\S{1,200}))?"
        ),
        _array_size,
        "NumPy: numpy.core._exceptions._ArrayMemoryError, numpy._core... from 2.0, or MemoryError",
        "numpy 1.17 (prints no size) to 2.4, 2026-11",
    ),
    KnownMessage(
        re.compile(
            r"DefaultCPUAllocator: (?:can't allocate memory|not enough memory):"
            r" you tried to allocate (?P<bytes>\d{1,20}) bytes"
        ),
        _bytes,
        "torch c10/core/impl/alloc_cpu.cpp; `not enough memory` on Windows",
        "torch 1.4 to 2.14, 2026-11",
    ),
    KnownMessage(
        re.compile(r"\bstd::bad_alloc\b"),
        None,
        "the C++ runtime, through pybind11 (MemoryError) or torch (RuntimeError)",
        "2026-11",
    ),
    KnownMessage(
        re.compile(r"\[Errno 12\] Cannot allocate memory"),
        None,
        "Python's OSError: mmap, fork, exec",
        "Python 3.8 to 3.14, 2026-11",
    ),
)

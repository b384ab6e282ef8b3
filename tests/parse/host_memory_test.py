from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy._core._exceptions import _ArrayMemoryError

from reprokit.model.trace import AllocationFigures
from reprokit.model.units import Size
from reprokit.parse.host_memory import figures, item_size, numpy_size

NUMPY = "numpy._core._exceptions._ArrayMemoryError"
TORCH = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 67108864 bytes. "


def cpu_oom(count: int | None = None, printed: str = "") -> AllocationFigures:
    return AllocationFigures(kind="cpu_oom", requested=Size(count, printed) if count is not None else None)


@pytest.mark.parametrize(
    ("exception", "message", "expected"),
    [
        (
            NUMPY,
            "Unable to allocate 24.0 MiB for an array with shape (6291456,) and data type float32",
            cpu_oom(25165824, "24.0 MiB"),
        ),
        (
            "numpy.core._exceptions._ArrayMemoryError",
            "Unable to allocate 1.00 GiB for an array with shape (16384, 8192) and data type float64",
            cpu_oom(2**30, "1.00 GiB"),
        ),
        # three digits are not the size: shape and type are
        (
            NUMPY,
            "Unable to allocate 95.4 MiB for an array with shape (100000000,) and data type int8",
            cpu_oom(10**8, "95.4 MiB"),
        ),
        # the printed size is not that of shape and type: what is printed counts
        (
            NUMPY,
            "Unable to allocate 24.0 MiB for an array with shape (2,) and data type float32",
            cpu_oom(24 * 2**20, "24.0 MiB"),
        ),
        (
            NUMPY,
            "Unable to allocate 24.0 MiB for an array with shape (6291456,) and data type [('a', '<f4')]",
            cpu_oom(24 * 2**20, "24.0 MiB"),
        ),
        (NUMPY, "Unable to allocate 1023. MiB for an array with shape", cpu_oom(1023 * 2**20, "1023. MiB")),
        (NUMPY, "Unable to allocate 100. bytes for an array", cpu_oom(100, "100. bytes")),
        ("MemoryError", "Unable to allocate array with shape (3, 4) and data type float64", cpu_oom()),
        ("MemoryError", "", cpu_oom()),
        ("MemoryError", "std::bad_alloc", cpu_oom()),
        ("RuntimeError", "std::bad_alloc", cpu_oom()),
        (
            "RuntimeError",
            "[enforce fail at alloc_cpu.cpp:127] err == 0. "
            + TORCH
            + "Error code 12 (Cannot allocate memory)",
            cpu_oom(67108864, "67108864 bytes"),
        ),
        (
            "RuntimeError",
            "[enforce fail at alloc_cpu.cpp:81] data. " + TORCH.replace("can't allocate", "not enough"),
            cpu_oom(67108864, "67108864 bytes"),
        ),
        ("OSError", "[Errno 12] Cannot allocate memory", cpu_oom()),
        ("OSError", "[Errno 12] Cannot allocate memory: '/usr/local/cuda/bin/nvcc'", cpu_oom()),
        # other failures
        ("torch.OutOfMemoryError", "CUDA out of memory. Tried to allocate 12.00 MiB.", None),
        (
            "MemoryError",
            "std::bad_alloc: out_of_memory: CUDA error at: rmm/mr/x.hpp:70: cudaErrorMemoryAllocation",
            None,
        ),
        ("ray.exceptions.OutOfMemoryError", "Task was killed due to the node running low on memory.", None),
        ("OSError", "[Errno 28] No space left on device", None),
        ("RuntimeError", "Unable to allocate a port", None),
    ],
)
def test_messages(exception: str, message: str, expected: AllocationFigures | None) -> None:
    assert figures(exception, message) == expected


@given(st.integers(0, 2**80))
def test_sizes_are_written_as_numpy_writes_them(count: int) -> None:
    ours = numpy_size(count)
    theirs = _ArrayMemoryError._size_to_string(count)
    assert ours == theirs or (count >= 2**69 and ours == f"{count} bytes")


@given(
    st.sampled_from(
        ["float16", "float32", "float64", "int8", "uint16", "int64", "complex64", "bool", "U7", "S5"]
    ),
    st.lists(st.integers(1, 2**20), min_size=1, max_size=3),
)
def test_every_numpy_message_gives_the_exact_bytes(name: str, shape: list[int]) -> None:
    dtype = np.dtype(name)
    assert item_size(str(dtype)) == dtype.itemsize
    found = figures(NUMPY, str(_ArrayMemoryError(tuple(shape), dtype)))
    assert found is not None
    assert found.requested is not None
    assert found.requested.bytes == int(np.prod(shape, dtype=object)) * dtype.itemsize

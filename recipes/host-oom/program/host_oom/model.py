"""The model: one embedding table per rank; a sample's prediction is a sum over all tables.

A sample picks rows of every table. Its prediction is the sum of ``projection . tanh(row)`` over
all picked rows. A rank owns one whole table (its shard of the parameters), in float16 with
float16 gradients. No BLAS is called: a BLAS keeps buffers that would count as memory in use.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

SEED = 1234
BATCH_SIZE = 8192
BATCHES = 3
ROW_WIDTH = 64

Float16s = NDArray[np.float16]
Float32s = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TableShape:
    """How many rows a table has, and how many of them one sample picks."""

    rows: int
    picks: int


# Tables differ, as those of a recommender do. The large one has 98 304 rows, used once per epoch:
# 6 291 456 values, 24 MiB in float32. All rows of the small one are used in every batch.
LARGE = TableShape(rows=BATCHES * BATCH_SIZE * 4, picks=4)
SMALL = TableShape(rows=BATCH_SIZE, picks=1)
RANKS_WITH_LARGE_TABLES = frozenset({0, 2, 4})


@dataclass(slots=True)
class Parameter:
    """Values and, at times, their gradient."""

    data: NDArray[np.floating]
    grad: NDArray[np.floating] | None = None


@dataclass(slots=True)
class Workspace:
    """Buffers of one forward and backward pass (sizes: with a large table, 40 MiB in all)."""

    rows: Float16s  # 4 MiB: the picked rows
    hidden: Float32s  # 8 MiB: the same in float32
    activated: Float32s  # 8 MiB: tanh(hidden)
    grad_activated: Float32s  # 8 MiB
    grad_hidden: Float32s  # 8 MiB
    grad_rows: Float16s  # 4 MiB

    @classmethod
    def allocate(cls, picks: int) -> Workspace:
        """Fresh buffers for a batch of which each sample picks this many rows."""
        shape = (BATCH_SIZE, picks, ROW_WIDTH)
        return cls(
            rows=np.empty(shape, np.float16),
            hidden=np.empty(shape, np.float32),
            activated=np.empty(shape, np.float32),
            grad_activated=np.empty(shape, np.float32),
            grad_hidden=np.empty(shape, np.float32),
            grad_rows=np.empty(shape, np.float16),
        )


class EmbeddingShard:
    """The table that one rank owns, with its forward and backward pass."""

    def __init__(self, rank: int) -> None:
        self.shape = LARGE if rank in RANKS_WITH_LARGE_TABLES else SMALL
        random = default_rng([SEED, rank])
        values = random.random((self.shape.rows, ROW_WIDTH), np.float32)
        values -= 0.5
        self.table = Parameter(values.astype(np.float16), grad=np.zeros(values.shape, np.float16))
        signs = random.integers(0, 2, ROW_WIDTH) * 2 - 1
        self.projection = (signs / np.sqrt(ROW_WIDTH)).astype(np.float32)
        self._order = random.permutation(self.shape.rows)

    def picked_rows(self, iteration: int) -> NDArray[np.intp]:
        """The rows that each sample of an iteration picks; no row twice in a batch."""
        count = BATCH_SIZE * self.shape.picks
        start = (iteration - 1) * count % self.shape.rows
        return self._order[start : start + count].reshape(BATCH_SIZE, self.shape.picks)

    def forward(self, work: Workspace, picked: NDArray[np.intp]) -> NDArray[np.float64]:
        """This table's part of each sample's prediction."""
        np.take(self.table.data, picked, axis=0, out=work.rows, mode="clip")
        np.copyto(work.hidden, work.rows)
        np.tanh(work.hidden, out=work.activated)
        part: Float32s = np.einsum("bpd,d->b", work.activated, self.projection)
        return part.astype(np.float64)

    def backward(self, work: Workspace, picked: NDArray[np.intp], errors: NDArray[np.float64]) -> None:
        """Fill the table's gradient of ``sum(errors ** 2) / 2``."""
        assert self.table.grad is not None
        column = errors.astype(np.float32)[:, np.newaxis, np.newaxis]
        np.multiply(column, self.projection, out=work.grad_activated)
        np.square(work.activated, out=work.grad_hidden)
        np.subtract(1, work.grad_hidden, out=work.grad_hidden)
        np.multiply(work.grad_hidden, work.grad_activated, out=work.grad_hidden)
        np.copyto(work.grad_rows, work.grad_hidden, casting="same_kind")
        self.table.grad.fill(0)
        self.table.grad[picked] = work.grad_rows


def targets(iteration: int) -> NDArray[np.float64]:
    """What the samples of an iteration should predict; an epoch has three batches."""
    random = default_rng([SEED, 1_000 + iteration % BATCHES])
    return 2.0 + 0.5 * random.standard_normal(BATCH_SIZE)

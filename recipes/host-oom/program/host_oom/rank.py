"""One rank: sets its limit, trains, and shuts down together with the others."""

from __future__ import annotations

import argparse
import linecache
import os
import sys
import time

import numpy as np

from host_oom.capture import CapturedBuffers
from host_oom.comm import ProcessGroup, connect
from host_oom.limits import AddressSpace, limit_address_space
from host_oom.lines import (
    datetime_line,
    iteration_line,
    memory_line,
    traceback_text,
    write_line,
    write_traceback,
)
from host_oom.model import BATCH_SIZE, SEED, EmbeddingShard, targets
from host_oom.optimizer import DistributedOptimizer

LEARNING_RATE = 0.01
ITERATIONS_WITH_MEMORY_LINE = (1, 2)


def run(options: argparse.Namespace) -> int:
    """Take part in the job as the rank that the environment names; return the exit code."""
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    group = connect(rank, size, options.collective_fds, options.shutdown_fds, options.launcher_fd)
    preload_failure_path()
    try:
        failures = train_and_shut_down(group, options.steps, options.address_space_mib)
    except ConnectionError as error:
        # A peer, or the reader of the output, is gone: no use to wait for the others.
        write_traceback(rank, error)
        return 1
    if rank == 0 and not failures:
        write_line(datetime_line("after training is done"))
    return 1 if failures else 0


def train_and_shut_down(group: ProcessGroup, steps: int, budget_mib: int | None) -> int:
    """Train, say so if that fails, and leave together; return how many ranks failed.

    The shutdown is collective, as it is in distributed frameworks: a rank that failed waits here,
    with all its memory, for the others, who wait for it in a collective of the training. Nobody
    ever comes. That is the hang.
    """
    try:
        train(group, steps, limit_address_space(budget_mib))
    except ConnectionError:
        raise
    except Exception as error:  # noqa: BLE001 (whatever it was: the others have to be met)
        write_traceback(group.rank, error)
        return group.shutdown_barrier(failed=True)
    return group.shutdown_barrier(failed=False)


def train(group: ProcessGroup, steps: int, space: AddressSpace) -> None:
    """Build the model and run all iterations."""
    first, last = group.rank == 0, group.rank == group.size - 1
    model = EmbeddingShard(group.rank)
    optimizer = DistributedOptimizer([[model.table]], group, LEARNING_RATE)
    if first:
        write_line(f"> setting random seeds to {SEED} ...")
        write_line(
            " > number of parameters on (tensor, pipeline) model parallel rank (0, 0): "
            f"{model.table.data.size}"
        )
        write_line("done with setup ...")
        write_line("Starting training loop at iteration 0")
    buffers = CapturedBuffers(model.shape.picks)
    for iteration in range(1, steps + 1):
        start = time.perf_counter()
        loss, grad_norm = train_step(iteration, model, optimizer, buffers, group)
        if last:
            line = iteration_line(
                iteration,
                steps,
                samples=iteration * BATCH_SIZE,
                milliseconds=(time.perf_counter() - start) * 1e3,
                learning_rate=LEARNING_RATE,
                batch_size=BATCH_SIZE,
                loss=loss,
                grad_norm=grad_norm,
            )
            write_line(line)
        if first and iteration in ITERATIONS_WITH_MEMORY_LINE:
            write_line(memory_line(group.rank, iteration, space.allocated(), space.max_allocated()))


def train_step(
    iteration: int,
    model: EmbeddingShard,
    optimizer: DistributedOptimizer,
    buffers: CapturedBuffers,
    group: ProcessGroup,
) -> tuple[float, float]:
    """One iteration; return the mean loss of the batch and the norm of its gradient."""
    loss = forward_backward(iteration, model, buffers, group)
    grad_norm = optimizer.step()
    return loss, grad_norm


def forward_backward(
    iteration: int, model: EmbeddingShard, buffers: CapturedBuffers, group: ProcessGroup
) -> float:
    """Predict, compare, fill the model's gradient; return the mean loss of the batch."""
    work = buffers.workspace(iteration)
    picked = model.picked_rows(iteration)
    errors = group.all_reduce_sum(model.forward(work, picked)) - targets(iteration)
    model.backward(work, picked, errors)
    return float(np.mean(errors**2) / 2)


def preload_failure_path() -> None:
    """Do now what printing a traceback does for the first time: near the limit it may not fit.

    Python imports modules and reads sources only when it formats a traceback.
    """
    for name, module in list(sys.modules.items()):
        if name == "__main__" or name.startswith("host_oom."):
            linecache.getlines(module.__file__ or "")
    try:
        np.empty(-1)
    except ValueError as error:
        traceback_text(error)

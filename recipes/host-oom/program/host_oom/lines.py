"""The lines that the job prints. All processes share one stream, so each line is one write."""

from __future__ import annotations

import os
import time
import traceback

STDOUT = 1
STDERR = 2
TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


def write_line(text: str, stream: int = STDOUT) -> None:
    """Write one line, unbuffered, in one call: lines of several ranks never splice.

    One write of up to 4096 bytes (PIPE_BUF) to a pipe, or of any size to a file, is not divided.
    """
    rest = (text + "\n").encode("utf-8", "backslashreplace")
    while rest:
        rest = rest[os.write(stream, rest) :]


def iteration_line(
    iteration: int,
    steps: int,
    *,
    samples: int,
    milliseconds: float,
    learning_rate: float,
    batch_size: int,
    loss: float,
    grad_norm: float,
) -> str:
    """Progress after an iteration; ``samples`` are those consumed since the start."""
    segments = [
        f" [{time.strftime(TIME_FORMAT)}] iteration {iteration:8d}/{steps:8d}",
        f"consumed samples: {samples:12d}",
        f"elapsed time per iteration (ms): {milliseconds:.1f}",
        f"learning rate: {learning_rate:.6E}",
        f"global batch size: {batch_size:5d}",
        f"lm loss: {loss:.6E}",
        "loss scale: 1.0",
        f"grad norm: {grad_norm:.3f}",
        "number of skipped iterations:   0",
        "number of nan iterations:   0 |",
    ]
    return " | ".join(segments)


def memory_line(rank: int, iteration: int, allocated: int, max_allocated: int) -> str:
    """Memory after an iteration: bytes in, decimal GB with five significant digits out.

    ``allocated`` is the address space that the rank uses now, ``max_allocated`` the most that it
    has used so far, both above what it used when its limit was set (see ``limits``).
    """
    return (
        f"[Rank {rank}] (after {iteration} iterations) memory (GB)"
        f" | mem-allocated-gigabytes: {allocated / 1e9:.5g}"
        f" | mem-max-allocated-gigabytes: {max_allocated / 1e9:.5g}"
    )


def datetime_line(moment: str) -> str:
    """Say when ``moment`` was, e.g. ``after training is done`` (the space at the end belongs)."""
    return f"[{moment}] datetime: {time.strftime(TIME_FORMAT)} "


def write_traceback(rank: int, error: BaseException) -> None:
    """Print Python's own traceback text, each line marked with the rank."""
    for line in traceback_text(error).splitlines():
        write_line(f"[rank{rank}]: {line}", STDERR)


def traceback_text(error: BaseException) -> str:
    """Python's own traceback text of an exception."""
    return "".join(traceback.format_exception(error))

from __future__ import annotations

import pytest

from reprokit.model.facts import Where
from reprokit.model.trace import Iteration
from reprokit.parse.document import Document
from reprokit.parse.readers import megatron_iterations

TAIL = "consumed samples:         1024 | elapsed time per iteration (ms): 6501.1 | loss scale: 1.0 |"
SECONDS = "2026-10-02 03:04:05"


@pytest.mark.parametrize(
    ("line", "rank", "iteration", "planned", "time", "step_ms"),
    [
        (f" [{SECONDS}] iteration        2/      30 | {TAIL}", None, 2, 30, SECONDS, 6501.1),
        (f" [{SECONDS}.123456] iteration 1470/ 20000 | {TAIL}", None, 1470, 20000, f"{SECONDS}.123456", 6501.1),
        (f"[rank7]:  [{SECONDS}] iteration        2/      30 | {TAIL}", 7, 2, 30, SECONDS, 6501.1),
        (f"0:  [{SECONDS}] iteration        2/      30 | {TAIL}", None, 2, 30, SECONDS, 6501.1),
        (f"[pod/a/trainer] 2026-10-02T03:04:05.1Z  [{SECONDS}] iteration 2/ 30 | {TAIL}", None, 2, 30, SECONDS, 6501.1),
        # cut behind the count, or trimmed by hand
        (f" [{SECONDS}] iteration        2/      30 | consumed sam", None, 2, 30, SECONDS, None),
        # Megatron-LM before it printed the time
        (f" iteration        2/      30 | {TAIL}", None, 2, 30, None, 6501.1),
    ],
)  # fmt: skip
def test_iteration_lines(
    line: str, rank: int | None, iteration: int, planned: int, time: str | None, step_ms: float | None
) -> None:
    (event,) = megatron_iterations.read(Document("job.log", b"first\n" + line.encode() + b"\nlast\n"))
    assert event == Iteration(
        where=Where("job.log", 2, line),
        rank=rank,
        iteration=iteration,
        planned=planned,
        time=time,
        step_ms=step_ms,
    )


@pytest.mark.parametrize(
    "line",
    [
        " [2026-10-02 03:04:05] iteration        2/      ",
        " [2026-10-02 03:04:05] iteration two/ 30 | elapsed time per iteration (ms): 1.0",
        "validation loss at iteration 2 | lm loss value: 1.0",
        "    elapsed time per iteration (ms): (1.0, 2.0)",
        " [2026-10-02 03:04:05] iteration " + "9" * 5000 + "/ 30 |",
    ],
)
def test_other_lines_say_nothing(line: str) -> None:
    assert list(megatron_iterations.read(Document("job.log", line.encode()))) == []


def test_a_step_behind_a_progress_bar() -> None:
    data = f" 50%|##  |\r [{SECONDS}] iteration        2/      30 | {TAIL}\r 60%|## |\n".encode()
    (event,) = megatron_iterations.read(Document("job.log", data))
    assert isinstance(event, Iteration)
    assert (event.iteration, event.where.line) == (2, 1)

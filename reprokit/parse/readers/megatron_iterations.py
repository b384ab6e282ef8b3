"""Training steps reported as done, printed by the last rank.

Megatron-Bridge `training/utils/train_utils.py` (time to the second) and Megatron-LM `training/training.py`
(time to the microsecond; none before 2023), both in `training_log`, 2026-11:
` [2026-10-02 03:04:05] iteration        2/      30 | ... elapsed time per iteration (ms): 6501.1 | ...`
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reprokit.model.trace import Event, Iteration
from reprokit.parse.document import Document
from reprokit.parse.reader import is_text

name = "megatron_iterations"
anchors: tuple[bytes, ...] = (b"] iteration ", b"elapsed time per iteration (ms):")
claims = is_text

_STEP = re.compile(
    r"(?:\[(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?)\] +|(?:^|\s))"
    r"iteration +(?P<iteration>\d{1,12})/ *(?P<planned>\d{1,12}) *\|"
)
_ELAPSED = re.compile(r"elapsed time per iteration \(ms\): *(?P<ms>\d{1,15}(?:\.\d{1,9})?)")


def read(document: Document) -> Iterator[Event]:
    """One event a line; segments that were cut off the line are None."""
    for line in document.found(anchors):
        step = _STEP.search(line.text)
        if step is None:
            continue
        elapsed = _ELAPSED.search(line.text, step.end())
        yield Iteration(
            where=document.where(line),
            rank=line.rank,
            iteration=int(step["iteration"]),
            planned=int(step["planned"]),
            time=step["time"],
            step_ms=float(elapsed["ms"]) if elapsed else None,
        )

"""How long work tells of itself: by callback, so that this layer prints nothing."""

from __future__ import annotations

from typing import Protocol

from reprokit.model.trace import Iteration
from reprokit.parse import scan


class Progress(Protocol):
    """What `output.Progress` does on a terminal, and tests do with a list."""

    def begin(self, stage: str) -> None:
        """A stage starts."""
        ...

    def step(self, text: str) -> None:
        """What it is doing now; called often."""
        ...

    def end(self, result: str) -> None:
        """It is over, with a result."""
        ...

    def stop(self) -> None:
        """Take anything live away."""
        ...


class Live:
    """Reads the tail of a running job's output and says how far it is."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._last = b""
        self._text = "starting"

    def __call__(self, tail: bytes) -> None:
        """One look. The tail may begin inside a line."""
        if tail != self._last:
            self._last = tail
            self._text = describe(tail) or self._text
        self._progress.step(self._text)


def describe(tail: bytes) -> str | None:
    """`step 2/30`, with a word on a failure that was printed since."""
    events = scan.read({"output.log": tail}).events
    steps = [event for event in events if isinstance(event, Iteration)]
    if b"Traceback (most recent call last)" in tail:
        done = f"after step {steps[-1].iteration}, " if steps else ""
        return f"{done}a rank failed; waiting for the job to end"
    if not steps:
        return None
    planned = f"/{steps[-1].planned}" if steps[-1].planned else ""
    return f"step {steps[-1].iteration}{planned}"

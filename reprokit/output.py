"""All printing. Data goes to stdout, talk to stderr; colours and live lines only on a terminal."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

if TYPE_CHECKING:
    from rich.status import Status
    from rich.text import Text


def _write(stream: TextIO, text: str) -> None:
    """All of `text`; what the stream cannot say is spelled out."""
    name = stream.encoding or "utf-8"
    stream.write(text.encode(name, "backslashreplace").decode(name))
    stream.flush()


def data(text: str) -> None:
    """The answer, to stdout."""
    try:
        _write(sys.stdout, text if text.endswith("\n") else text + "\n")
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`): say no more, and let the shell see a normal end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json(value: Any) -> None:
    """The answer as JSON, to stdout. File names that are no UTF-8 show their odd bytes as U+FFFD."""
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:
        text = msgspec.json.encode(_presentable(msgspec.to_builtins(value)))
    data(msgspec.json.format(text, indent=2).decode())


def _presentable(value: Any) -> Any:
    """Plain data in which every text is valid Unicode."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {_presentable(key): _presentable(item) for key, item in value.items()}
    return [_presentable(item) for item in value] if isinstance(value, (list, tuple)) else value


def talk(text: str) -> None:
    """A line to the person at the terminal, to stderr."""
    _write(sys.stderr, text + "\n")


def error(what: str, hint: str | None = None) -> None:
    """What went wrong, and what to do next."""
    talk(f"reprokit: {what}")
    if hint:
        talk(f"  next: {hint}")


def is_terminal() -> bool:
    """True where live output makes sense: stderr is a terminal that can do more than print lines."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def duration(seconds: float) -> str:
    """`7.3 s`, `2 min 05 s`."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f} s"
    seconds = max(seconds, 60.0)
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


class Progress:
    """Tells of long work: one line a stage when it ends; on a terminal a live line with elapsed time and step."""

    def __init__(self) -> None:
        self._status: Status | None = None
        self._stage = ""
        self._begun = 0.0
        self._shown = 0.0

    def begin(self, stage: str) -> None:
        """A stage starts."""
        self._stage, self._begun = stage, time.monotonic()
        if not is_terminal():
            talk(f"{stage} ...")
            return
        from rich.console import Console
        from rich.status import Status

        self._status = Status(self._live(""), console=Console(stderr=True, highlight=False, markup=False))
        self._status.start()

    def step(self, text: str) -> None:
        """What the stage is doing now. Called often; shown at most ten times a second, and only on a terminal."""
        now = time.monotonic()
        if self._status is not None and now - self._shown > 0.1:
            self._shown = now
            self._status.update(self._live(text))

    def end(self, result: str) -> None:
        """The stage is over, with one word or sentence of result."""
        elapsed = duration(time.monotonic() - self._begun)
        self.stop()
        talk(f"{self._stage}: {result} ({elapsed})")

    def stop(self) -> None:
        """Take the live line away, whatever happened."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _live(self, text: str) -> Text:
        elapsed = duration(time.monotonic() - self._begun)
        from rich.text import Text

        return Text(f"{self._stage}  {elapsed}  {text}")

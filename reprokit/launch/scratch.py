"""A private scratch folder that is gone afterwards, also where an interrupt arrives while it is made or removed."""

from __future__ import annotations

import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HELD_BACK = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

PATIENCE_S = 2.0


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Signals that interrupt a verb wait until the end of the block, and are delivered then."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD_BACK)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder, 0700."""
    made: Path | None = None
    try:
        with _undisturbed():
            made = Path(tempfile.mkdtemp(prefix="reprokit-"))
        yield made
    finally:
        if made is not None:
            with _undisturbed():
                _remove(made)


def _remove(made: Path) -> None:
    """A git that the same Ctrl-C ends may still write here for a moment, so once may not be enough."""
    until = time.monotonic() + PATIENCE_S
    shutil.rmtree(made, ignore_errors=True)
    while made.exists() and time.monotonic() < until:
        time.sleep(0.05)
        shutil.rmtree(made, ignore_errors=True)

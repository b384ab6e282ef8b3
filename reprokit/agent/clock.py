"""One clock for every record of a run: seconds since the start, and the same moment as UTC text."""

from __future__ import annotations

import time
from datetime import datetime, timezone


class Clock:
    """Monotonic seconds since its making; wall times are derived from them, so the two never disagree."""

    def __init__(self) -> None:
        self._wall = time.time()
        self._start = time.monotonic()

    def now(self) -> float:
        """Seconds since the start, never going back."""
        return time.monotonic() - self._start

    def iso(self, seconds: float) -> str:
        """The moment `seconds` after the start as UTC with milliseconds: 2026-10-02T03:04:05.123Z."""
        moment = datetime.fromtimestamp(self._wall + seconds, timezone.utc)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

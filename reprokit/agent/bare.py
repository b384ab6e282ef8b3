"""What is left of the agent after trouble in itself: copy, hand signals on, wait. No records, no /proc."""

from __future__ import annotations

import os
import signal

from .ending import GRACE_S
from .inbox import ENDING
from .outcome import Cause, Facts
from .watch import Parts


def only_wait(parts: Parts, read_fd: int) -> Facts:
    """Wait for the job; still ends its process group for --time-limit and --end-on-signal."""
    job, clock, options = parts.job, parts.clock, parts.options
    cause, asked, kill_at = Cause.OWN, None, float("inf")
    while job.poll() is None:
        parts.inbox.wait(0.25)
        if parts.echo:
            parts.echo.poke()
        now = clock.now()
        number = parts.inbox.take()
        if number is not None:
            _send(job.pid, number)
        if number in ENDING:
            asked = (int(number), now)
            if options.end_on_signal:
                cause, kill_at = Cause.CANCELLED, min(kill_at, now + GRACE_S)
        if cause is Cause.OWN and options.time_limit is not None and now >= options.time_limit:
            cause, kill_at = Cause.TIME_LIMIT, now + GRACE_S
            _send(job.pid, signal.SIGTERM)
        if now >= kill_at:
            _send(job.pid, signal.SIGKILL)
    return Facts(job.poll(), cause, asked, clock.now(), None, [], [], os.fstat(read_fd).st_size, None)


def _send(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except OSError:
        pass  # already gone

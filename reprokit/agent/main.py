"""Puts the agent together: refuse, start, watch, and whatever happens return the job's exit code."""

from __future__ import annotations

import os
import time

from . import facts, outcome
from .bare import only_wait
from .clock import Clock
from .echo import Echo
from .inbox import Inbox
from .options import Options, parse
from .outcome import Cause, Facts
from .room import Room
from .spool import OUTPUT, Refused, Spool, encode
from .start import NotStarted, start_job
from .tail import Tail
from .talk import say
from .tree import become_subreaper
from .watch import Parts, Watch

# A reader of stdout that takes nothing for this long is not waited for when the agent ended the job.
_ECHO_STUCK_S = 5.0


def main(arguments: list[str]) -> int:
    """Run the agent; the result is its exit code."""
    options = parse(arguments)
    try:
        return _record(options)
    except Refused as refused:
        say(f"{refused}; nothing was started")
        return refused.code
    except Exception as error:  # all trouble after the start is caught further down
        say(f"a bug in the agent: {type(error).__name__}: {error}; nothing was started")
        return 3


def _record(options: Options) -> int:
    """Everything before the start of the job: raises Refused."""
    _fill_standard_descriptors()
    if options.cwd is not None and not os.path.isdir(options.cwd):
        raise Refused(2, f"--cwd {options.cwd}: no such folder")
    clock = Clock()
    spool = Spool(options.spool, clock)
    part = facts.gather(options, clock.iso(0.0))
    part["lock_trouble"] = spool.lock_trouble
    inbox = Inbox()
    try:
        spool.store("part.json", encode(part) + b"\n")
        output_fd, read_fd = spool.open_output()
        full = Room(os.path.join(spool.path, OUTPUT)).low(clock.now(), busy=True)
    except OSError as error:
        raise Refused(4, f"cannot record into {spool.path}: {error.strerror}") from error
    if full:
        raise Refused(4, f"cannot record into {spool.path}: the disk is nearly full")
    part["subreaper"] = become_subreaper()
    job = start_job(options, output_fd)
    os.close(output_fd)
    if isinstance(job, NotStarted):
        say(f"cannot start {options.command[0]}: {job.text}")
        spool.put("part.json", part)
        missing = Facts(None, Cause.OWN, None, clock.now(), None, [], [], 0, None, job)
        return _finish(missing, clock, spool)
    part["child_pid"] = job.pid
    return _follow(Parts(options, clock, spool, job, Tail(read_fd), None, inbox), part, read_fd)


def _fill_standard_descriptors() -> None:
    """Open what the caller closed of 0, 1 and 2: a record must not become somebody's stdout."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            if os.open(os.devnull, os.O_RDWR) != fd:
                return


def _follow(parts: Parts, part: dict[str, object], read_fd: int) -> int:
    """Everything after the start: no exception leaves here."""
    try:
        parts.spool.put("part.json", part)
        parts.spool.event("started", 0.0, child_pid=parts.job.pid)
        if not parts.options.quiet:
            parts = parts._replace(echo=Echo(read_fd))
        end = Watch(parts).run()
    except Exception as error:  # a bug here must not cost anybody a job
        parts.spool.stop(f"trouble in the agent: {type(error).__name__}: {error}")
        end = only_wait(parts, read_fd)
    code = _finish(end, parts.clock, parts.spool)
    if parts.echo:
        _drain(parts.echo, end, parts.inbox)
    return code


def _finish(end: Facts, clock: Clock, spool: Spool) -> int:
    """Write the last records and give the exit code."""
    code = outcome.returned(end)
    try:
        record = outcome.record(end, clock, spool.stopped)
        spool.event("ended", end.ended, **{key: record[key] for key in ("exit_code", "signal", "ended_by")})
        record["recording_stopped"] = spool.stopped
        spool.put_last("end.json", record)
    except Exception as error:
        say(f"could not record the end: {type(error).__name__}: {error}")
    return code


def _drain(echo: Echo, end: Facts, inbox: Inbox) -> None:
    """Let the copying of the output come to its end; a signal cuts it short."""
    echo.finish(end.output_bytes)
    position, moved = echo.position, time.monotonic()
    while not echo.over and inbox.take() is None:
        echo.wait(0.02)
        if echo.position != position:
            position, moved = echo.position, time.monotonic()
        elif end.cause is not Cause.OWN and time.monotonic() - moved > _ECHO_STUCK_S:
            break

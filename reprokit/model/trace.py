"""What readers say: events, each with the place it was read at. No event is an interpretation."""

from __future__ import annotations

from msgspec import Struct

from reprokit.model.facts import Where
from reprokit.model.units import Size


class Event(Struct, frozen=True, kw_only=True):
    """Base of all events. `rank`: global rank that the line names, None when it names none."""

    where: Where
    rank: int | None = None


class Iteration(Event, frozen=True, kw_only=True, tag=True):
    """One training step reported as done (Megatron-Bridge and Megatron-LM `training_log`)."""

    iteration: int
    planned: int | None
    time: str | None = None
    step_ms: float | None = None


class MemoryLine(Event, frozen=True, kw_only=True, tag=True):
    """Memory figures after an iteration; `values` maps the printed key to bytes and text."""

    after_iteration: int
    values: dict[str, Size]


class Phase(Event, frozen=True, kw_only=True, tag=True):
    """A milestone: `loop_start`, `capture_begin`, `capture_done`, `training_done`."""

    name: str
    time: str | None = None


class Frame(Struct, frozen=True):
    """One frame of a traceback, as printed; `line` is the source line, `statement` its text if printed."""

    path: str
    line: int
    function: str
    statement: str | None = None


class AllocationFigures(Struct, frozen=True, kw_only=True):
    """What an allocation failure's message says. A clause that is not printed is None, never 0."""

    kind: str
    requested: Size | None = None


class Raised(Event, frozen=True, kw_only=True, tag=True):
    """A Python traceback with its exception line. `frames` outermost first, `frame_lines` where each stands in the log.

    `chained`: an earlier block of the same chain exists, so this one is not the root.
    `complete`: the exception line was there (a log may be cut before it).
    """

    frames: tuple[Frame, ...]
    exception: str | None
    message: str
    first: Where
    figures: AllocationFigures | None = None
    frame_lines: tuple[int, ...] = ()
    chained: bool = False
    complete: bool = True


class PartFacts(Event, frozen=True, kw_only=True, tag=True):
    """What the recording agent wrote down at the start of the job (part.json)."""

    argv: tuple[str, ...]
    cwd: str
    host: str
    started: str
    python: str | None
    facts: dict[str, str]
    env: dict[str, str]


class Ended(Event, frozen=True, kw_only=True, tag=True):
    """How the job ended, by the agent that waited for it (end.json)."""

    exit_code: int | None
    signal: int | None
    ended_by: str
    ended: str
    seconds: float | None = None
    hang_since: str | None = None
    hang_seconds: float | None = None
    hang_reason: str | None = None
    failure_seen: bool = False
    not_started: str | None = None


class Stack(Event, frozen=True, kw_only=True, tag=True):
    """Where a live process stood when stacks were taken; `frames` innermost first; empty: `why` says so."""

    pid: int
    tool: str | None
    thread: str | None
    frames: tuple[Frame, ...]
    why: str | None = None

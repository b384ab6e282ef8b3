"""How a job ended: end.json and the exit code."""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from .clock import Clock
from .start import NotStarted

SCHEMA = "reprokit/end/1"
# What is returned for a job that the agent ended and that called this a success.
_NOT_A_SUCCESS = 124
# A job that fails this soon after a signal was handed on to it, failed because of it.
_BECAUSE_S = 60.0


class Cause(Enum):
    """Who ended the job; the value is said to people."""

    OWN = "itself"
    HANG = "hang"
    TIME_LIMIT = "time limit"
    CANCELLED = "signal received"


class Facts(NamedTuple):
    """All that is known when the job is over. `code` is as in Popen; None: it could not be ended."""

    code: int | None
    cause: Cause
    asked: tuple[int, float] | None
    ended: float
    hang: dict[str, Any] | None
    left: list[dict[str, Any]]
    outlived: list[dict[str, Any]]
    output_bytes: int
    hole: list[int] | None
    not_started: NotStarted | None = None


def returned(facts: Facts) -> int:
    """The exit code of the agent."""
    if facts.not_started:
        return facts.not_started.code
    if facts.code is None:
        return _NOT_A_SUCCESS
    code = 128 - facts.code if facts.code < 0 else facts.code
    if code == 0 and facts.cause in (Cause.HANG, Cause.TIME_LIMIT):
        return _NOT_A_SUCCESS
    return code


def ended_by(facts: Facts) -> str:
    """The word of end.json."""
    if facts.cause is not Cause.OWN:
        return {Cause.HANG: "agent", Cause.TIME_LIMIT: "time_limit", Cause.CANCELLED: "cancelled"}[
            facts.cause
        ]
    if facts.asked and facts.code:
        number, when = facts.asked
        if facts.code in (-number, 128 + number) or facts.ended - when <= _BECAUSE_S:
            return "cancelled"
    return "signal" if facts.code is not None and facts.code < 0 else "exit"


def record(facts: Facts, clock: Clock, stopped: str | None) -> dict[str, Any]:
    """end.json."""
    code = facts.code
    missing = facts.not_started
    return {
        "schema": SCHEMA,
        "exit_code": code if code is not None and code >= 0 else None,
        "signal": -code if code is not None and code < 0 else None,
        "ended_by": ended_by(facts),
        "returned": returned(facts),
        "hang": facts.hang,
        "ended": clock.iso(facts.ended),
        "seconds": round(facts.ended, 3),
        "left_processes": facts.left,
        "outlived": facts.outlived,
        "not_started": {"errno": missing.errno, "text": missing.text} if missing else None,
        "output_bytes": facts.output_bytes,
        "output_hole": facts.hole,
        "recording_stopped": stopped,
    }

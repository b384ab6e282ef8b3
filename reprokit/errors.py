"""What can go wrong, as exceptions that carry their exit code.

The numbers are a contract with users' scripts (docs: "Exit codes"): never change one.
"""

from __future__ import annotations

OK = 0
"""Done, and the expectation (if any) held."""
NO = 1
"""Done, and the answer is no."""
USAGE = 2
"""Wrong use of the command line."""
BUG = 3
"""A bug in reprokit itself."""
MACHINE = 4
"""This machine cannot do it."""
INPUT = 5
"""Input missing, unreadable or invalid."""
SAFETY = 6
"""Refused for safety."""
INCONCLUSIVE = 125
"""Ran, but the evidence decides nothing."""
INTERRUPTED = 130
"""Stopped by the user."""


class ReprokitError(Exception):
    """Something the user can act on: one line what, one line what to do next."""

    exit_code = BUG

    def __init__(self, what: str, *, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


class UsageError(ReprokitError):
    """The words on the command line do not fit together."""

    exit_code = USAGE


class MachineError(ReprokitError):
    """This machine lacks something: a program, a package, disk space."""

    exit_code = MACHINE


class InputError(ReprokitError):
    """A file or folder that was named is missing, unreadable or invalid."""

    exit_code = INPUT


class SafetyError(ReprokitError):
    """Going on would overwrite or expose something."""

    exit_code = SAFETY


class AlteredError(ReprokitError):
    """Sealed files are missing or not what was sealed: the kit answers nothing any more."""

    exit_code = NO


class Interrupted(ReprokitError):
    """The user stopped a long verb; `hint` holds the command that goes on."""

    exit_code = INTERRUPTED

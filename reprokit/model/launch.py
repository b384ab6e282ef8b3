"""How a job is started: what emit writes down and executors run."""

from __future__ import annotations

from msgspec import Struct

PYTHON = "\0python\0"
"""Stands in a command for the interpreter that the launch script finds at run time."""


class Launch(Struct, frozen=True, kw_only=True):
    """One way to run a job, resolved from a recipe and overrides.

    `base`: commit to check out from `inputs/source.bundle`; None: the command runs where it is started.
    `command`: argument by argument; the PYTHON mark inside a word becomes the interpreter's path.
    `end_hang_s`: seconds of silence after which the agent ends the job. `time_s`: hard limit of the job.
    `packages`: exact pins; `requirements`: the file in the kit that pins them with hashes.
    """

    name: str
    base: str | None
    command: tuple[str, ...]
    env: dict[str, str]
    end_hang_s: int
    time_s: int
    python: str | None = None
    packages: tuple[str, ...] = ()
    requirements: str | None = None
    container_base: str | None = None


class Provenance(Struct, frozen=True, kw_only=True):
    """Who made a generated file: goes into its header line, never into an arm's key."""

    version: str
    kit: str
    subject: str | None
    command: str

    @property
    def text(self) -> str:
        """The header without its comment mark."""
        subject = f"subject run {self.subject[:12]}" if self.subject else "no subject run yet"
        return f"{MARK}{self.version} for the kit {self.kit} ({subject}) by `{self.command}`."


MARK = "Made by reprokit "
"""How a header line begins."""


def without_header(text: str) -> str:
    """A generated text without its header, which is one of its first two lines."""
    lines = text.splitlines(keepends=True)
    header = next(
        (n for n, line in enumerate(lines[:2]) if line.startswith((f"# {MARK}", f"<!-- {MARK}"))), None
    )
    return "".join(line for number, line in enumerate(lines) if number != header)

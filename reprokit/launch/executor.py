"""What an executor is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct

Watch = Callable[[bytes], None]
"""Called often while a job runs, with the last bytes of its output so far."""


class Order(Struct, frozen=True, kw_only=True):
    """One run of a launch script. Paths are absolute; `spool` must not exist yet.

    `worktree`: the code to run; None: the script makes its own from the kit. `log`: what the script itself says.
    """

    script: Path
    kit: Path
    agent: Path
    spool: Path
    log: Path
    worktree: Path | None
    python: str


class Executor(Protocol):
    """Runs a launch script somewhere and waits for its end. `kind` is part of an arm's key."""

    kind: str

    def run(self, order: Order, watch: Watch) -> int:
        """Exit code of the script. When interrupted it ends the whole job first, then raises KeyboardInterrupt."""
        ...

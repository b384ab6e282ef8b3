"""Every file name in a kit, in one place."""

from __future__ import annotations

import re
from pathlib import Path

from reprokit.errors import UsageError

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}\Z")


def check_run_id(run_id: str) -> str:
    """`run_id` itself. Raises UsageError where it could leave its folder or confuse a shell."""
    if not RUN_ID.match(run_id):
        raise UsageError(
            f"{run_id!r} is no run id", hint="use letters, digits, dot, dash and underscore; 80 at most"
        )
    return run_id


class Layout:
    """Paths of the kit at `root` (`NAME.kit`) and of its open spool (`NAME.kit.open`)."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.declaration = root / "kit.yaml"
        self.inputs = root / "inputs"
        self.recipe = self.inputs / "recipe.yaml"
        self.bundle = self.inputs / "source.bundle"
        self.patches = self.inputs / "patches"
        self.notes = self.inputs / "notes.md"
        self.evidence = root / "evidence"
        self.derived = root / "derived"
        self.container = root / "container"
        self.launch = root / "launch"
        self.report = root / "report"
        self.readme = root / "README.md"
        self.sums = root / "SHA256SUMS"
        self.open = root.with_name(root.name + ".open")

    @property
    def name(self) -> str:
        """The kit's name: its folder without `.kit`."""
        return self.root.name.removesuffix(".kit")

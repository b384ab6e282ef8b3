"""`launch/repro.sh`: ten lines to read and paste into an issue."""

from __future__ import annotations

from reprokit.emit.base import Render, words
from reprokit.model.launch import Launch, Provenance


class ReproScript:
    """Checkout, environment, command: nothing of ours in between."""

    name = "repro"

    def applies(self, launch: Launch) -> bool:
        """Needs the code: a base revision in the kit."""
        return launch.base is not None

    def files(self, launch: Launch, provenance: Provenance, render: Render) -> dict[str, str]:
        """`launch/repro.sh`."""
        values = {"header": provenance.text, "launch": launch, "words": words(launch.command)}
        return {"launch/repro.sh": render("launch/repro.sh.j2", values)}

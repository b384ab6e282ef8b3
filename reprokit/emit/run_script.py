"""`launch/run.sh`: one whole run by hand, with the kit's agent and without reprokit."""

from __future__ import annotations

from reprokit.emit.base import Render, words
from reprokit.model.launch import Launch, Provenance


class RunScript:
    """The script that executors run too: what is judged is what a person can run."""

    name = "run"

    def applies(self, launch: Launch) -> bool:
        """Always: every launch has a command."""
        return bool(launch.command)

    def files(self, launch: Launch, provenance: Provenance, render: Render) -> dict[str, str]:
        """`launch/run.sh`."""
        values = {"header": provenance.text, "launch": launch, "words": words(launch.command)}
        return {"launch/run.sh": render("launch/run.sh.j2", values)}

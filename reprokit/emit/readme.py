"""`README.md` of a kit: how to reproduce by hand, without reprokit."""

from __future__ import annotations

from reprokit.emit.base import Render
from reprokit.model.launch import Launch, Provenance


class KitReadme:
    """Five lines that a stranger can follow."""

    name = "readme"

    def applies(self, launch: Launch) -> bool:
        """Needs a command."""
        return bool(launch.command)

    def files(self, launch: Launch, provenance: Provenance, render: Render) -> dict[str, str]:
        """`README.md`."""
        return {"README.md": render("launch/README.md.j2", {"header": provenance.text, "launch": launch})}

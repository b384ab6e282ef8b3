"""`container/Dockerfile`: the container spec, with a list of what in it is not pinned."""

from __future__ import annotations

from reprokit.emit.base import Render
from reprokit.model.launch import Launch, Provenance


class Dockerfile:
    """For a job whose base image the recipe names."""

    name = "dockerfile"

    def applies(self, launch: Launch) -> bool:
        """Needs a base image and the code."""
        return launch.container_base is not None and launch.base is not None

    def files(self, launch: Launch, provenance: Provenance, render: Render) -> dict[str, str]:
        """`container/Dockerfile`, to be built with the kit's folder as context."""
        loose = loose_parts(launch)
        return {
            "container/Dockerfile": render(
                "container/Dockerfile.j2", {"header": provenance.text, "launch": launch, "loose": loose}
            )
        }


def loose_parts(launch: Launch) -> list[str]:
    """Whatever may be another thing tomorrow under the same name."""
    loose = []
    base = launch.container_base or ""
    if "@sha256:" not in base:
        loose.append(
            f"{base} is a tag, not a digest: it may name another image tomorrow (no registry was asked)"
        )
    loose.append(
        "git and its dependencies come from the image's package index, whatever version it has that day"
    )
    return loose

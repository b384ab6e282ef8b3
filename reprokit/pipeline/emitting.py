"""Generated files of a kit: scripts, container spec, README, and the agent beside them."""

from __future__ import annotations

from pathlib import Path

from reprokit import resources
from reprokit.emit.table import TARGETS
from reprokit.errors import UsageError
from reprokit.pipeline import launches
from reprokit.render import render
from reprokit.store import files
from reprokit.store.kit import Kit


def target_names() -> list[str]:
    """What `--target` takes."""
    return [target.name for target in TARGETS]


def texts(kit: Kit, targets: tuple[str, ...] = ()) -> dict[str, str]:
    """Path in the kit -> text, for the named targets or all."""
    for name in targets:
        if name not in target_names():
            raise UsageError(f"no emit target {name!r}", hint="targets: " + ", ".join(target_names()))
    launch = launches.launch_of(kit)
    origin = launches.provenance(kit, "reprokit emit")
    found: dict[str, str] = {}
    for target in TARGETS:
        if (not targets or target.name in targets) and target.applies(launch):
            found |= target.files(launch, origin, render)
    return found


def emit(kit: Kit, targets: tuple[str, ...] = ()) -> list[Path]:
    """Write the files; those that changed."""
    written = []
    for name, text in texts(kit, targets).items():
        path = kit.root / name
        mode = files.SCRIPT_MODE if path.suffix == ".sh" else files.FILE_MODE
        if files.write_if_changed(path, text, mode):
            written.append(path)
    source = resources.agent()
    for path in files.walk(source):
        if path.suffix == ".py":
            copy = kit.layout.launch / "agent" / path.relative_to(source)
            if files.write_if_changed(copy, path.read_text(encoding="utf-8")):
                written.append(copy)
    return written

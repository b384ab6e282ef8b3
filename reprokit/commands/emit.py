"""`reprokit emit KIT`."""

from __future__ import annotations

from pathlib import Path

import click

from reprokit import options, output
from reprokit.pipeline import emitting, sealing
from reprokit.store import kit as store_kit


@click.command("emit")
@options.kit_argument
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="run, repro, dockerfile or readme. Default: all.",
)
@click.option("--print", "only_print", is_flag=True, help="Print the files, and write nothing.")
@options.common
def command(
    kit: Path, targets: tuple[str, ...], only_print: bool, as_json: bool, jobs: int | None, offline: bool
) -> int:
    """Write what runs the kit's job elsewhere: launch/run.sh, launch/repro.sh, container/Dockerfile, README.md."""
    opened = store_kit.open_kit(kit)
    if only_print:
        for name, text in emitting.texts(opened, targets).items():
            output.data(f"==> {name} <==\n{text}")
        return 0
    with opened.lock():
        sealing.seal_finished(opened)
        written = emitting.emit(opened, targets)
    if as_json:
        output.json({"kit": str(opened.root), "wrote": [str(path) for path in written]})
    elif not written:
        output.talk("reprokit: everything is as it would be written")
    else:
        for path in written:
            output.talk(f"wrote {path}")
        output.talk(f"  next: reprokit run {kit} --on local")
    return 0

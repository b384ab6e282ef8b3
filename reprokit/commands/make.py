"""`reprokit make RECIPE|KIT`."""

from __future__ import annotations

from pathlib import Path

import click

from reprokit import options, output
from reprokit.errors import UsageError
from reprokit.pipeline import making, running
from reprokit.store import kit as store_kit


@click.command("make")
@click.argument("source", metavar="RECIPE|KIT")
@click.option(
    "-o",
    "target",
    type=click.Path(path_type=Path),
    help="The kit. Default: ./NAME.kit, NAME from the recipe.",
)
@click.option("--on", "on", default="local", show_default=True, help="Where jobs run.")
@click.option("--print", "only_print", is_flag=True, help="Say what would be done, and do nothing.")
@options.common
def command(
    source: str,
    target: Path | None,
    on: str,
    only_print: bool,
    as_json: bool,
    jobs: int | None,
    offline: bool,
) -> int:
    """From a failing job to its bug report, in stages: record, emit, run, verify, report.

    RECIPE is a recipe file, its folder, or the name of a shipped recipe. KIT goes on with a kit that exists. A stage
    whose result is there is not repeated, so after an interrupt the same command goes on.
    """
    executor = running.executor(on)
    if store_kit.is_kit(Path(source)) and target is not None:
        raise UsageError(f"{source} is a kit, so -o has no meaning", hint=f"reprokit make {source}")
    if only_print:
        for name, what in making.plan(source, target, executor):
            output.data(f"{name:<8} {what}")
        return 0
    with options.resumable("make", source, *(["-o", str(target)] if target else [])):
        kit = making.open_or_create(source, target)
        with options.resumable("make", str(kit.root)):
            made = making.make(kit, on, output.Progress())
    if as_json:
        output.json(made)
    else:
        output.data("\n".join(making.summary(made)))
    return made.exit_code

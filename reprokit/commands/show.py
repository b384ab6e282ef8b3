"""`reprokit show KIT`."""

from __future__ import annotations

from pathlib import Path

import click

from reprokit import options, output
from reprokit.pipeline import showing
from reprokit.store import kit as store_kit


@click.command("show")
@options.kit_argument
@click.option("--run", "run_id", metavar="ID", help="Only this run.")
@options.common
def command(kit: Path, run_id: str | None, as_json: bool, jobs: int | None, offline: bool) -> int:
    """What failed, where, when and on which ranks; what followed; what re-runs and patches showed.

    Reads only. Every figure stands with the evidence file and line it was read from. Runs that are still open are
    read through the secret rules.
    """
    opened = store_kit.open_kit(kit)
    if as_json:
        output.json(showing.answer(opened, run_id))
    else:
        output.data("\n".join(showing.lines(opened, run_id)))
    return 0

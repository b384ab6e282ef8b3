"""`reprokit demo`."""

from __future__ import annotations

from pathlib import Path

import click

from reprokit import options, output
from reprokit.pipeline import making


@click.command("demo")
@click.option("-o", "target", type=click.Path(path_type=Path), help="The kit. Default: ./host-oom.kit")
@options.common
def command(target: Path | None, as_json: bool, jobs: int | None, offline: bool) -> int:
    """`make host-oom`: eight ranks that run out of host memory in step 3, and hang. No GPU, no daemon."""
    with options.resumable("demo", *(["-o", str(target)] if target else [])):
        made = making.make(making.open_or_create(making.DEMO, target), "local", output.Progress())
    if as_json:
        output.json(made)
    else:
        output.data("\n".join(making.summary(made)))
    return made.exit_code

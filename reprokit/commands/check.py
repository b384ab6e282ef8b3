"""`reprokit check KIT`."""

from __future__ import annotations

from pathlib import Path

import click

from reprokit import options, output
from reprokit.pipeline import checking
from reprokit.store import kit as store_kit


@click.command("check")
@options.kit_argument
@options.common
def command(kit: Path, as_json: bool, jobs: int | None, offline: bool) -> int:
    """Is everything that was sealed still there and unchanged? Reads only.

    States: intact, open (a recording waits for its seal), altered, incomplete. A stale cache in derived/ is said and
    does no harm.
    """
    checked = checking.check(store_kit.open_kit(kit), jobs or options.default_jobs())
    if as_json:
        output.json(checked)
        return checked.exit_code
    output.data(
        f"kit {checked.kit.id or 'without checksums'}: {checked.kit.state}; derived: {checked.derived}"
    )
    for part in checked.parts:
        output.data(f"  {part.run}/{part.part}: {part.state}, {part.files} files")
    for problem in checked.problems:
        output.data(f"  {problem.path}: {problem.what}")
    return checked.exit_code

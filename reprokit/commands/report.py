"""`reprokit report KIT`."""

from __future__ import annotations

from pathlib import Path

import click

from reprokit import options, output
from reprokit.pipeline import reporting, sealing
from reprokit.store import kit as store_kit


@click.command("report")
@options.kit_argument
@click.option(
    "--format", "form", default="md", show_default=True, metavar="md", help="Markdown for an issue body."
)
@click.option(
    "--audience", type=click.Choice(reporting.AUDIENCES), default="public", show_default=True,
    help="public: hosts, users and paths become stand-ins.",
)  # fmt: skip
@options.common
def command(kit: Path, form: str, audience: str, as_json: bool, jobs: int | None, offline: bool) -> int:
    """Write the bug report to KIT/report/. Every figure names the evidence file and line it comes from.

    Nothing is uploaded. A report that would show what looks like a secret is not written (exit 6).
    """
    opened = store_kit.open_kit(kit)
    with opened.lock():
        sealing.seal_finished(opened)
        path, changed = reporting.write(opened, audience, form)
    if as_json:
        output.json({"kit": str(opened.root), "wrote": [str(path)] if changed else [], "report": str(path)})
    else:
        output.talk(f"{'wrote' if changed else 'unchanged:'} {path}")
        output.talk("  next: read it, then paste it")
    return 0

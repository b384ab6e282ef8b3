"""`reprokit verify KIT --patch FILE...`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from reprokit import options, output
from reprokit.errors import UsageError
from reprokit.model.verdict import CandidateVerdict
from reprokit.pipeline import making, running, showing, verifying
from reprokit.store import kit as store_kit


@click.command("verify")
@options.kit_argument
@click.option(
    "--patch", "patches", multiple=True, type=click.Path(path_type=Path), help="A candidate; repeat for more."
)
@click.option(
    "--base", metavar="REV", help="Another base revision in the kit's code. Default: the recipe's commit."
)
@click.option("--on", "on", metavar="local", help="Where jobs run.")
@click.option("--candidate", metavar="ID", help="Judge runs that exist: the candidate,")
@click.option("--control", metavar="RUN", help="the run without it,")
@click.option("--patched", metavar="RUN", help="and the run with it.")
@click.option("--print", "only_print", is_flag=True, help="Say which runs would be made, and make none.")
@options.common
def command(
    kit: Path,
    patches: tuple[Path, ...],
    base: str | None,
    on: str | None,
    candidate: str | None,
    control: str | None,
    patched: str | None,
    only_print: bool,
    as_json: bool,
    jobs: int | None,
    offline: bool,
) -> int:
    """Judge candidate patches, each alone on the base revision, against a control run of the same arm.

    \b
    fixes            the control reproduces the failure, the patched run passes
    does_not_fix     the same failure comes back with the patch
    changes_failure  it fails elsewhere or otherwise
    does_not_apply   git cannot apply it to the base
    inconclusive     anything else

    Exit 0 if each candidate was judged and any expected outcome was met, 1 if not met, 125 if one is inconclusive.
    """
    opened = store_kit.open_kit(kit)
    existing = (candidate, control, patched)
    if any(existing):
        if not all(existing) or patches or on or base:
            raise UsageError(
                "--candidate, --control and --patched go together, without --patch, --base and --on"
            )
        judged = verifying.judge_existing(opened, candidate or "", control or "", patched or "")
        return _tell(kit, (judged,), as_json)
    if not patches or on is None:
        raise UsageError("name the patches and where to run: --patch FILE --on local")
    executor = running.executor(on)
    if only_print:
        for line in verifying.plan(opened, patches, executor, base):
            output.data(line)
        return 0
    again = ["verify", str(kit), *(word for patch in patches for word in ("--patch", str(patch))), "--on", on]
    again += ["--base", base] if base else []
    with options.resumable(*again), opened.lock():
        verdicts = verifying.verify_patches(opened, patches, executor, output.Progress(), base)
    return _tell(kit, verdicts, as_json)


def _tell(kit: Path, verdicts: tuple[CandidateVerdict, ...], as_json: bool) -> int:
    if as_json:
        output.json({"candidates": verdicts})
    else:
        output.data("\n".join(showing.candidates_text(verdicts)))
        output.talk(f"  next: reprokit report {shlex.quote(str(kit))}")
    return making.candidates_code(verdicts)

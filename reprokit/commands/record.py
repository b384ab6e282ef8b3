"""`reprokit record -o KIT -- CMD...`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from reprokit import options, output
from reprokit.pipeline import recording
from reprokit.store import kit as store_kit


@click.command("record", context_settings={"ignore_unknown_options": False})
@click.option("-o", "target", type=click.Path(path_type=Path), required=True, help="The kit, new or not.")
@click.option("--run", "run_id", metavar="ID", help="The run's id. Default: recorded-N.")
@click.option(
    "--end-hang", type=click.IntRange(1), metavar="SECONDS",
    help="End the job after this many seconds without any movement. Without it a hung job is left alone.",
)  # fmt: skip
@click.option(
    "--print", "only_print", is_flag=True, help="Print the agent's command line, and start nothing."
)
@options.common
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- CMD...")
def command(
    target: Path,
    run_id: str | None,
    end_hang: int | None,
    only_print: bool,
    as_json: bool,
    jobs: int | None,
    offline: bool,
    words: tuple[str, ...],
) -> int:
    """Run CMD under the recording agent and seal what happened into KIT.

    The job's output goes to the kit and, as a copy, to this terminal. Exit code: CMD's own (128 + signal; 127 and
    126 where it cannot be started).
    """
    if only_print:
        spool = recording.spool_of(target, run_id or "recorded-1")
        output.data(shlex.join(recording.agent_command(spool, words, end_hang)))
        return 0
    kit = store_kit.create_kit(target)
    done = recording.record(kit, run_id, words, end_hang)
    if as_json:
        outcome = done.run.outcome if done.run else None
        output.json({"kit": str(kit.root), "run": done.run_id, "exit_code": done.code, "outcome": outcome})
    elif done.run is None:
        output.talk(f"reprokit: run {done.run_id} is not sealed: {done.trouble or 'nothing was recorded'}")
    else:
        output.talk(f"reprokit: sealed run {done.run_id} into {kit.root}")
        output.talk(f"  next: reprokit show {shlex.quote(str(target))}")
    return done.code

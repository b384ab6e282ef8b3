"""`reprokit run KIT --on EXECUTOR`."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from reprokit import errors, options, output
from reprokit.model.verdict import TrialOutcome
from reprokit.pipeline import running, showing
from reprokit.store import kit as store_kit

CODES: dict[TrialOutcome, int] = {
    "reproduced": errors.OK,
    "changed": errors.NO,
    "passed": errors.NO,
    "inconclusive": errors.INCONCLUSIVE,
}
BISECT_CODES: dict[TrialOutcome, int] = {
    "passed": 0,
    "reproduced": 1,
    "changed": errors.INCONCLUSIVE,
    "inconclusive": errors.INCONCLUSIVE,
}
"""What `git bisect run` reads: good 0, bad 1, skip 125."""


@click.command("run")
@options.kit_argument
@click.option("--on", "on", required=True, metavar="local", help="Where the job runs.")
@click.option(
    "--times", type=click.IntRange(1, 1000), default=1, show_default=True, help="Trials that decide, in all."
)
@click.option("--env", "env", multiple=True, metavar="K=V", help="Another arm: a variable of the job.")
@click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Another arm: a key of the recipe."
)
@click.option(
    "--patch", "patches", multiple=True, type=click.Path(path_type=Path), help="Another arm: with a patch."
)
@click.option(
    "--bisect", is_flag=True, help="Exit codes for `git bisect run`: passed 0, reproduced 1, else 125."
)
@click.option(
    "--print", "only_print", is_flag=True, help="Print the script that would run, and start nothing."
)
@options.common
def command(
    kit: Path,
    on: str,
    times: int,
    env: tuple[str, ...],
    overrides: tuple[str, ...],
    patches: tuple[Path, ...],
    bisect: bool,
    only_print: bool,
    as_json: bool,
    jobs: int | None,
    offline: bool,
) -> int:
    """Run the kit's job again and say whether the same failure comes back.

    \b
    reproduced    the same kind of failure at the same site            exit 0
    changed       it failed elsewhere or otherwise                     exit 1
    passed        the pass criterion was seen, and a clean exit        exit 1
    inconclusive  anything else; nothing is guessed                    exit 125

    Trials that exist for the same arm are counted, not repeated. Limits are recipe keys:
    --set limits.address_space_mib=null takes the memory limit away.
    """
    opened = store_kit.open_kit(kit)
    executor = running.executor(on)
    asked = running.Asked(
        env=options.variables(env, "--env"), overrides=options.pairs(overrides, "--set"), patches=patches
    )
    if only_print:
        output.data(running.script_text(opened, asked))
        return 0
    again = ["run", str(kit), "--on", on, "--times", str(times), *(["--bisect"] if bisect else [])]
    again += [word for value in env for word in ("--env", value)]
    again += [word for value in overrides for word in ("--set", value)]
    again += [word for path in patches for word in ("--patch", str(path))]
    with options.resumable(*again), opened.lock():
        ran = running.run(opened, asked, executor, times, output.Progress())
    if as_json:
        output.json({"verdict": ran.verdict, "runs": ran.runs, "new": ran.new})
    else:
        output.data("\n".join(showing.verdict_text(ran.verdict)))
        if not ran.new:
            output.talk(f"reprokit: done before; --times {times + 1} runs it once more")
        output.talk(f"  next: reprokit show {shlex.quote(str(kit))}")
    return (BISECT_CODES if bisect else CODES)[ran.verdict.outcome]

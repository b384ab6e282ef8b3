"""The face: the table of verbs, and one place where every error gets its message and exit code."""

from __future__ import annotations

import importlib
import signal
import sys
from types import FrameType
from typing import NoReturn

import click

from reprokit import errors, output
from reprokit.version import VERSION

VERBS = {
    "make": "From a recipe or kit to a report: record, emit, run, verify, report.",
    "demo": "`make` with the shipped host-memory recipe: no GPU, no daemon.",
    "record": "Run a command under the recording agent, into a kit.",
    "show": "What failed, where, when, on which ranks; findings and verdicts.",
    "emit": "Write launch scripts, container spec and README into a kit.",
    "check": "Is the kit whole and as sealed?",
    "run": "Run the kit's job again: does the same failure come back?",
    "verify": "Judge candidate patches on the base revision against a control.",
    "report": "The bug report, ready to read and paste.",
}
"""Verb -> help. The module is `reprokit.commands.<verb>`, and it is imported only when its verb is named."""


class Verbs(click.Group):
    """Loads a verb's module when it is called, so that `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Verbs in the order a newcomer needs them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's command."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"reprokit.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of verbs, from VERBS alone."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb, or a message that names those there are."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"no verb {args[0]!r}. Verbs: {', '.join(VERBS)}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog=(
        "Exit codes: 0 done, 1 the answer is no, 2 wrong use, 3 a bug in reprokit, 4 this machine cannot, "
        "5 input missing or invalid, 6 refused for safety, 125 inconclusive, 130 interrupted. "
        "No verb uploads anything; none of these reads the network."
    ),
)
@click.version_option(VERSION, prog_name="reprokit", message="%(prog)s %(version)s")
def program() -> None:
    """Turn a failing GPU training job into a sealed kit, a re-run with a verdict, and a bug report."""


def main() -> int:
    """Run the command line; its exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        result = program.main(prog_name="reprokit", standalone_mode=False)
    except click.ClickException as error:
        return _wrong_use(error)
    except (click.Abort, KeyboardInterrupt):
        output.error("interrupted")
        return errors.INTERRUPTED
    except errors.ReprokitError as error:
        output.error(error.what, error.hint)
        return error.exit_code
    except Exception:  # noqa: BLE001 - the one place where a bug becomes a note that can be pasted
        return _bug()
    return result if isinstance(result, int) else errors.OK


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """SIGTERM and SIGHUP end a verb as Ctrl-C does: jobs ended, what was done kept."""
    raise KeyboardInterrupt


def _wrong_use(error: click.ClickException) -> int:
    context = getattr(error, "ctx", None)
    output.error(error.format_message(), f"{context.command_path} --help" if context else "reprokit --help")
    return errors.USAGE


def _bug() -> int:
    """A note about a bug in reprokit itself, as Markdown. Frames are cut to file names below a package folder."""
    import platform
    import traceback

    kind, value, trace = sys.exc_info()
    name = kind.__name__ if kind else "error"
    frames = "\n".join(
        f"{'/'.join(frame.filename.split('/')[-3:])}:{frame.lineno} {frame.name}: {frame.line}"
        for frame in traceback.extract_tb(trace)
    )
    output.talk(
        "reprokit: this is a bug in reprokit; nothing that was sealed has been changed. "
        "Please report the note below, after reading it.\n\n"
        f"### reprokit {VERSION}: {name}\n\n"
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}\n\n"
        f"```text\n{frames}\n{name}: {value}\n```"
    )
    return errors.BUG

"""The command line of the agent."""

from __future__ import annotations

import argparse
from typing import NamedTuple

# Quiet seconds after which a hang is noted when nobody asked to end it.
NOTE_AFTER_S = 300.0


class Options(NamedTuple):
    """What was asked for."""

    spool: str
    command: list[str]
    end_hang: float | None
    time_limit: float | None
    end_on_signal: bool
    end_left: bool
    quiet: bool
    cwd: str | None
    env_allow: list[str]
    notes: dict[str, str]
    set_env: dict[str, str]
    unset_env: list[str]

    @property
    def quiet_window(self) -> float:
        """Seconds of silence that make a hang."""
        return NOTE_AFTER_S if self.end_hang is None else self.end_hang


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"seconds must be more than 0, not {text}")
    return value


def _note(text: str) -> tuple[str, str]:
    key, mark, value = text.partition("=")
    if not mark or not key:
        raise argparse.ArgumentTypeError(f"KEY=VALUE wanted, not {text!r}")
    return key, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agent",
        allow_abbrev=False,
        usage="agent --spool DIR [options] -- CMD [ARG...]",
        description="Run a command, record it into DIR, watch it for hangs and, if asked, end it. "
        "The exit code is the command's own.",
    )
    add = parser.add_argument
    add("--spool", required=True, metavar="DIR", help="new or empty folder for the records")
    add(
        "--end-hang",
        type=_seconds,
        metavar="SECONDS",
        help="end the job after a hang: SECONDS without any movement",
    )
    add("--time-limit", type=_seconds, metavar="SECONDS", help="end the job after SECONDS")
    add(
        "--end-on-signal",
        action="store_true",
        help="on SIGTERM, SIGINT or SIGHUP end the job's whole process tree",
    )
    add("--end-left", action="store_true", help="end processes that outlive the job's main one")
    add("--quiet", action="store_true", help="do not copy the job's output to stdout")
    add("--cwd", metavar="DIR", help="folder the job starts in")
    add("--env-allow", action="append", default=[], metavar="NAME", help="one more variable to record")
    add(
        "--set-env",
        action="append",
        default=[],
        type=_note,
        metavar="NAME=VALUE",
        help="a variable for the job alone",
    )
    add("--unset-env", action="append", default=[], metavar="NAME", help="a variable the job must not have")
    add(
        "--note", action="append", default=[], type=_note, metavar="KEY=VALUE", help="copied into the records"
    )
    return parser


def parse(arguments: list[str]) -> Options:
    """Read the command line; wrong use ends with code 2, as argparse does."""
    parser = _parser()
    # Split by hand: argparse would take options of the job for its own.
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    given = parser.parse_args(arguments[:cut])
    command = arguments[cut + 1 :]
    if not command:
        parser.error("no command: put it after --")
    return Options(
        spool=given.spool,
        command=command,
        end_hang=given.end_hang,
        time_limit=given.time_limit,
        end_on_signal=given.end_on_signal,
        end_left=given.end_left,
        quiet=given.quiet,
        cwd=given.cwd,
        env_allow=given.env_allow,
        notes=dict(given.note),
        set_env=dict(given.set_env),
        unset_env=given.unset_env,
    )

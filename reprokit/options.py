"""Options and manners that verbs share: `--json`, `-j`, `--offline`, the kit argument, what an interrupt says."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from reprokit.errors import Interrupted

F = TypeVar("F", bound=Callable[..., Any])

MAX_JOBS = 4
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def default_jobs() -> int:
    """Cores this process may use, at most four: a login node is shared."""
    return max(1, min(MAX_JOBS, len(os.sched_getaffinity(0))))


def common(function: F) -> F:
    """`--json`, `-j` and `--offline`, as every verb takes them."""
    function = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(function)
    function = click.option(
        "-j", "jobs", type=click.IntRange(1, 64), default=None, metavar="N",
        help="Workers for independent work. Default: the cores allowed, at most 4.",
    )(function)  # fmt: skip
    return click.option(
        "--offline", is_flag=True, help="Read nothing from the network. This verb never does."
    )(function)


def kit_argument(function: F) -> F:
    """KIT as a folder; that it is one is checked where it is opened, with the exit code that belongs to it."""
    return click.argument("kit", type=click.Path(path_type=Path), metavar="KIT")(function)


def pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """`KEY=VALUE` words of a repeated option."""
    found: dict[str, str] = {}
    for word in values:
        name, mark, value = word.partition("=")
        if not mark or not name:
            raise click.UsageError(f"{option} takes KEY=VALUE; this is {word!r}")
        found[name] = value
    return found


def variables(values: tuple[str, ...], option: str) -> dict[str, str]:
    """`NAME=VALUE` words whose names a shell takes for variables."""
    found = pairs(values, option)
    for name in found:
        if not VARIABLE.match(name):
            raise click.UsageError(f"{option}: {name!r} is not the name of a variable")
    return found


@contextmanager
def resumable(*command: str) -> Iterator[None]:
    """Ctrl-C inside becomes a message with the command that goes on from there."""
    try:
        yield
    except KeyboardInterrupt:
        again = shlex.join(["reprokit", *command])
        raise Interrupted("interrupted; what was done is kept", hint=f"go on with: {again}") from None

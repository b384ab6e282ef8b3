"""Starts the job as if the agent were not there: same environment, descriptors, umask and signal settings."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

from .options import Options

NOT_FOUND, NOT_EXECUTABLE = 127, 126


class NotStarted(NamedTuple):
    """Why there is no job; `code` is what a shell would return."""

    code: int
    errno: int | None
    text: str


def job_environment(options: Options) -> dict[bytes, bytes]:
    """The environment this process was started with, and what was asked for the job alone.

    Variables of the job such as PYTHONPATH must not reach the agent itself, so they come as options.
    """
    environment = _own_environment()
    for name in options.unset_env:
        environment.pop(os.fsencode(name), None)
    for name, value in options.set_env.items():
        environment[os.fsencode(name)] = os.fsencode(value)
    return environment


def _own_environment() -> dict[bytes, bytes]:
    """What this process was started with: Python itself may have added LC_CTYPE (PEP 538)."""
    environment = dict(os.environb)
    try:
        with open("/proc/self/environ", "rb") as file:
            first = file.read()
    except OSError:
        return environment
    if not any(entry.startswith(b"LC_CTYPE=") for entry in first.split(b"\0")):
        environment.pop(b"LC_CTYPE", None)
    return environment


def start_job(options: Options, output_fd: int) -> subprocess.Popen[bytes] | NotStarted:
    """Start the command in a session of its own, stdout and stderr on one appending descriptor."""
    try:
        return subprocess.Popen(
            options.command,
            stdout=output_fd,
            stderr=output_fd,
            cwd=options.cwd,
            env=job_environment(options),
            start_new_session=True,
            close_fds=False,  # what the caller handed on is the job's; the agent's own are close-on-exec
        )
    except OSError as error:
        missing = isinstance(error, (FileNotFoundError, NotADirectoryError))
        code = NOT_FOUND if missing else NOT_EXECUTABLE
        return NotStarted(code, error.errno, error.strerror or str(error))
    except ValueError as error:  # a NUL in an argument
        return NotStarted(NOT_EXECUTABLE, None, str(error))

"""The machine at hand: its name, and the Python that runs jobs here."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
from functools import cache

ASK_S = 20.0


def here() -> str:
    """The cluster at hand when a job runs on this machine: its name. Private; reports show a stand-in."""
    return socket.gethostname() or "this-machine"


def interpreter() -> str:
    """The Python that runs jobs: PYTHON, else the one that runs reprokit."""
    return os.environ.get("PYTHON") or sys.executable


@cache
def python_stack(program: str) -> str | None:
    """`python 3.11.7` of an interpreter: another one is another stack. None where it does not say."""
    if program == sys.executable:
        return f"python {platform.python_version()}"
    words = [program, "-I", "-c", "import platform; print(platform.python_version())"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=ASK_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = done.stdout.strip()
    return f"python {version}" if done.returncode == 0 and version else None

"""Executor `local`: the launch script as a process group on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from reprokit.launch.executor import Order, Watch

POLL_S = 0.1
TAIL_BYTES = 8192
GRACE_S = 20.0
"""How long the agent may take to end a job (its own grace, then SIGKILL) before its group is killed."""


class LocalExecutor:
    """Runs on this machine. The script starts the agent, the agent starts the job."""

    kind = "local"

    def run(self, order: Order, watch: Watch) -> int:
        """Exit code of the script; output goes to the spool, the script's own words to `order.log`."""
        environment = {
            **os.environ,
            "REPROKIT_KIT": str(order.kit),
            "REPROKIT_AGENT": str(order.agent),
            "REPROKIT_SPOOL": str(order.spool),
            "REPROKIT_QUIET": "1",
            "PYTHON": order.python,
        }
        environment.pop("REPROKIT_WORKTREE", None)
        if order.worktree is not None:
            environment["REPROKIT_WORKTREE"] = str(order.worktree)
        with os.fdopen(os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as log:
            process = subprocess.Popen(
                ["bash", str(order.script)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        try:
            return _wait(process, order.spool / "output.log", watch)
        finally:
            if process.poll() is None:
                _end(process)


def _wait(process: subprocess.Popen[bytes], output: Path, watch: Watch) -> int:
    """Poll for the end and show how far the job is."""
    while True:
        code = process.poll()
        watch(_tail(output))
        if code is not None:
            return code
        time.sleep(POLL_S)


def _tail(path: Path) -> bytes:
    """The last bytes of a growing file, or none."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - TAIL_BYTES))
            return file.read(TAIL_BYTES)
    except OSError:
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the script to end its job, wait, and kill what is left of its group."""
    # The agent moves the job into a session of its own, so only it can end the job: it must get its time.
    process.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
        except KeyboardInterrupt:
            continue
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

"""`record`: a command of the user's, live, through the agent, into a kit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from reprokit import resources
from reprokit.model.kit import RUN_SCHEMA, RunDeclaration
from reprokit.model.run import Run
from reprokit.pipeline import sealing
from reprokit.pipeline.facts import facts
from reprokit.pipeline.trial import PART, here, next_id
from reprokit.store import spool
from reprokit.store.kit import Kit
from reprokit.store.layout import Layout

LOCK_WAIT_S = 30.0


def spool_of(target: Path, run_id: str) -> Path:
    """Where the agent would write for a run of the kit at `target`."""
    return Layout(target).open / run_id / PART


def begin(kit: Kit, run_id: str | None, command: tuple[str, ...]) -> tuple[str, Path]:
    """An open run for a recording; its id and the spool for the agent. Raises before anything is started."""
    sealing.seal_finished(kit)
    chosen = run_id or next_id(kit, "recorded")
    declaration = RunDeclaration(
        schema=RUN_SCHEMA, id=chosen, role="recorded", origin="recorded", cluster=here(), command=command
    )
    return chosen, spool.begin(kit, declaration) / PART


def agent_command(part: Path, command: tuple[str, ...], end_hang: int | None) -> list[str]:
    """The agent's command line."""
    options = ["--end-hang", str(end_hang)] if end_hang is not None else []
    return [sys.executable, "-B", str(resources.agent()), "--spool", str(part), *options, "--", *command]


def run_agent(command: list[str]) -> int:
    """Run the agent in the foreground, whatever signal comes: it passes signals on to the job. Its exit code."""
    process = subprocess.Popen(command)
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            # From a terminal the agent got the signal too and passed it on; from elsewhere it must be handed on.
            if not sys.stdin.isatty():
                process.terminate()
            continue
        return 128 - code if code < 0 else code


def finish(kit: Kit, run_id: str) -> Run | None:
    """Seal the recording, and make it the kit's subject if it failed and there is none yet. None: nothing was there.

    Waits a little for another writer: a recording is not lost for a lock.
    """
    with kit.lock(wait_s=LOCK_WAIT_S):
        sealing.seal(kit, run_id)
        run = facts(kit).runs.get(run_id)
        if run is not None and run.fingerprint is not None and kit.declaration.subject is None:
            kit.declare(subject=run_id)
    return run

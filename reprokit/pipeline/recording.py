"""`record`: a command of the user's, live, through the agent, into a kit."""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType

from msgspec import Struct

from reprokit import resources
from reprokit.errors import ReprokitError, UsageError
from reprokit.model.kit import RUN_SCHEMA, RunDeclaration
from reprokit.model.run import Run
from reprokit.pipeline import sealing
from reprokit.pipeline.facts import facts
from reprokit.pipeline.trial import PART, next_id
from reprokit.probe.host import here
from reprokit.redact import secrets
from reprokit.store import spool
from reprokit.store.kit import Kit
from reprokit.store.layout import Layout

START_WAIT_S = 1.0
"""Another recording holds the kit for less than this; anything longer is refused before the command starts."""
LOCK_WAIT_S = 30.0
HANDED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


class Recorded(Struct, frozen=True, kw_only=True):
    """A recording: its run, the command's exit code, and what was made of it (None: see `trouble`)."""

    run_id: str
    code: int
    run: Run | None
    trouble: str | None = None


def spool_of(target: Path, run_id: str) -> Path:
    """Where the agent would write for a run of the kit at `target`."""
    return Layout(target).open / run_id / PART


def record(kit: Kit, run_id: str | None, command: tuple[str, ...], end_hang: int | None) -> Recorded:
    """Run `command` under the agent and seal what happened. Raises before the command is started, or never."""
    if run_id is not None and secrets.scan(run_id.encode()):
        raise UsageError(
            "--run: this id looks like a secret; ids become names of folders", hint="choose another id"
        )
    with ExitStack() as stack:
        with kit.lock(wait_s=START_WAIT_S):
            sealing.seal_finished(kit)
            chosen = run_id if run_id is not None else next_id(kit, "recorded")
            declaration = RunDeclaration(
                schema=RUN_SCHEMA,
                id=chosen,
                role="recorded",
                origin="recorded",
                cluster=here(),
                command=command,
            )
            folder = spool.begin(kit, declaration)
            stack.enter_context(spool.held(folder))
        code = run_agent(agent_command(folder / PART, command, end_hang))
        try:
            return Recorded(run_id=chosen, code=code, run=finish(kit, chosen))
        except ReprokitError as error:
            # The command's own code is what its caller waits for; the spool stays for the next verb that writes.
            return Recorded(run_id=chosen, code=code, run=None, trouble=error.what)


def agent_command(part: Path, command: tuple[str, ...], end_hang: int | None) -> list[str]:
    """The agent's command line."""
    options = ["--end-hang", str(end_hang)] if end_hang is not None else []
    return [sys.executable, "-B", str(resources.agent()), "--spool", str(part), *options, "--", *command]


def run_agent(command: list[str]) -> int:
    """Run the agent in the foreground and hand each signal on to it, once. Its exit code.

    A group of its own: a Ctrl-C reaches only us, so the job is told once and not twice.
    """
    process = subprocess.Popen(command, process_group=0)

    def hand_on(number: int, _frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            process.send_signal(number)

    before = {number: signal.signal(number, hand_on) for number in HANDED_ON}
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
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

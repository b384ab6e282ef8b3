"""`trial(kit, arm, executor)`: run one arm and seal what happened. The subject is recorded the same way."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import msgspec

from reprokit import resources
from reprokit.errors import InputError, MachineError
from reprokit.launch import worktree
from reprokit.launch.executor import Executor, Order
from reprokit.model.kit import RUN_SCHEMA, RunDeclaration
from reprokit.model.launch import Launch
from reprokit.pipeline import launches, sealing
from reprokit.pipeline.launches import Variation
from reprokit.pipeline.progress import Live, Progress
from reprokit.probe import git
from reprokit.probe.git import PatchError
from reprokit.probe.host import here, interpreter
from reprokit.store import files, spool
from reprokit.store.kit import Kit

PART = "node-0"
LAUNCH_PART = "launch"
MISSING = 4
"""Exit code of a launch script that found something missing before it started anything."""


def next_id(kit: Kit, stem: str) -> str:
    """`stem-N` with the first N that no run, sealed or open, has."""
    taken = {run.id for run in kit.runs()} | {run.id for run in spool.open_runs(kit.layout)}
    number = 1
    while f"{stem}-{number}" in taken:
        number += 1
    return f"{stem}-{number}"


def record_subject(kit: Kit, executor: Executor, progress: Progress) -> str:
    """Run the recipe's job once as the kit's subject; the run's id. It carries no arm key: it is never a trial."""
    declaration = RunDeclaration(
        schema=RUN_SCHEMA,
        id=next_id(kit, "failing"),
        role="failing",
        origin="recorded",
        cluster=here(),
        base=launches.launch_of(kit).base,
    )
    return _execute(kit, declaration, Variation(), executor, progress)


def trial(
    kit: Kit, variation: Variation, role: str, stem: str, executor: Executor, progress: Progress
) -> str:
    """Run one arm; the run's id. A patch that does not apply leaves a run that says so, and starts nothing."""
    arm = launches.arm_of(kit, variation, executor.kind)
    declaration = RunDeclaration(
        schema=RUN_SCHEMA,
        id=next_id(kit, f"{stem}-{executor.kind}"),
        role=role,
        origin="trial",
        cluster=here(),
        base=arm.base,
        patches=tuple(patch.sha256 for patch in arm.patches),
        arm=arm.key,
        arm_spec=arm,
    )
    return _execute(kit, declaration, variation, executor, progress)


def _execute(
    kit: Kit, declaration: RunDeclaration, variation: Variation, executor: Executor, progress: Progress
) -> str:
    """Spool, run, seal. Whatever interrupts, the spool stays readable and the job is ended."""
    launch = launches.launch_of(kit, variation)
    if launch.base is not None and not kit.layout.bundle.is_file():
        raise InputError(f"{kit.layout.bundle}: missing: this kit is incomplete")
    run_folder = spool.begin(kit, declaration)
    own = files.make_folder(run_folder / LAUNCH_PART)
    try:
        _in_worktree(kit, declaration.id, launch, variation, executor, progress, own)
    except PatchError as error:
        files.write(own / "not-applied.txt", error.stderr)
    except git.GitError as error:
        discard(kit, declaration.id)
        raise InputError(
            f"{kit.layout.bundle}: {error.what}", hint="reprokit check says whether it is damaged"
        ) from None
    progress.step("sealing the recording")
    sealing.seal(kit, declaration.id)
    return declaration.id


def _in_worktree(
    kit: Kit,
    run_id: str,
    launch: Launch,
    variation: Variation,
    executor: Executor,
    progress: Progress,
    own: Path,
) -> None:
    """Run the launch script in a fresh tree. `own`: the spool's folder for what belongs to the launch."""
    with _worktree(kit, launch.base, variation) as folder:
        files.write(own / "run.sh", launches.script(kit, launch, "reprokit"), files.SCRIPT_MODE)
        order = Order(
            script=own / "run.sh",
            kit=kit.root,
            agent=resources.agent(),
            spool=own.with_name(PART),
            log=own / "run.log",
            worktree=folder,
            python=interpreter(),
        )
        code = executor.run(order, Live(progress))
        if code == MISSING and not order.spool.exists():
            _refuse(kit, run_id, order.log)
        if variation.patches and folder is not None:
            proof = worktree.imported(folder, git.changed_files(folder))
            # The main script is not imported, it is named on the command line.
            proof = {name: seen or name in launch.command for name, seen in proof.items()}
            files.write(own / "patched-files.json", msgspec.json.encode(proof, order="sorted"))


def _worktree(kit: Kit, base: str | None, variation: Variation) -> AbstractContextManager[Path | None]:
    if base is None:
        return nullcontext(None)
    return worktree.worktree(git, kit.layout.bundle, base, list(variation.patches))


def discard(kit: Kit, run_id: str) -> None:
    """Take an open run away in which nothing was started."""
    for run in spool.open_runs(kit.layout):
        if run.id == run_id:
            spool.discard(run)


def _refuse(kit: Kit, run_id: str, log: Path) -> None:
    """The script found something missing: say its words, and leave no run behind that never was one."""
    lines = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    discard(kit, run_id)
    hint = next((line.strip() for line in lines if line.strip().startswith("install:")), None)
    what = " ".join(
        line.strip().removeprefix("run.sh: ") for line in lines if not line.strip().startswith("install:")
    )
    raise MachineError(what or "the launch script found something missing", hint=hint)

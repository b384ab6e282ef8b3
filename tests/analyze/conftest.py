"""Events by hand, as readers give them, and runs made of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reprokit.analyze.assemble import assemble
from reprokit.model.facts import Where
from reprokit.model.kit import RUN_SCHEMA, RunDeclaration
from reprokit.model.run import Run
from reprokit.model.trace import (
    AllocationFigures,
    Ended,
    Event,
    Frame,
    Iteration,
    MemoryLine,
    PartFacts,
    Phase,
    Raised,
    Stack,
)
from reprokit.model.units import Size, scaled

LOG = "node-0/output.log"
WORK = "/jobs/job"
STATEMENT = "shard_main_param.grad = shard_model_grad.astype(np.float32)"


def declaration(run_id: str = "r1", **fields: Any) -> RunDeclaration:
    return RunDeclaration(
        **{"schema": RUN_SCHEMA, "id": run_id, "role": "current", "origin": "recorded", **fields}
    )


def iteration(
    number: int, line: int, planned: int | None = 30, path: str = LOG, time: str | None = None
) -> Iteration:
    return Iteration(
        where=Where(path, line, f"iteration {number}"), iteration=number, planned=planned, time=time
    )


def phase(name: str, line: int, rank: int | None = None, path: str = LOG) -> Phase:
    return Phase(where=Where(path, line, name), rank=rank, name=name)


def memory(after: int, line: int, rank: int | None = 0, path: str = LOG, **printed: str) -> MemoryLine:
    """Figures in decimal GB: `mem_max_allocated_gigabytes="0.128"`."""
    values = {name.replace("_", "-"): Size(scaled(text, 10**9), text) for name, text in printed.items()}
    return MemoryLine(where=Where(path, line, "memory"), rank=rank, after_iteration=after, values=values)


def frame(path: str, function: str, statement: str | None = None, line: int = 1) -> Frame:
    return Frame(path, line, function, statement)


OWN = (
    frame(f"{WORK}/train.py", "<module>", "main()"),
    frame(f"{WORK}/host_oom/optimizer.py", "copy_group_grads", STATEMENT),
)


def raised(
    rank: int | None,
    line: int,
    exception: str | None = "numpy._core._exceptions._ArrayMemoryError",
    frames: tuple[Frame, ...] = OWN,
    path: str = LOG,
    kind: str | None = "cpu_oom",
    requested: int | None = 24 * 2**20,
    message: str = "Unable to allocate 24.0 MiB",
) -> Raised:
    """A traceback that ends on `line`, three lines long. `kind` None: nothing that is an allocation failure."""
    size = None if requested is None else Size(requested, f"{requested / 2**20:.1f} MiB")
    return Raised(
        where=Where(path, line, f"{exception}: {message}"),
        rank=rank,
        frames=frames,
        exception=exception,
        message=message,
        first=Where(path, line - 2, "Traceback (most recent call last):"),
        figures=AllocationFigures(kind=kind, requested=size) if kind else None,
    )


def error(rank: int | None, line: int, exception: str = "RuntimeError", **fields: Any) -> Raised:
    """A traceback of an exception that proves no kind."""
    return raised(rank, line, exception, kind=None, message="boom", **fields)


def part(path: str = "node-0/part.json", **fields: Any) -> PartFacts:
    return PartFacts(
        **{
            "where": Where(path, 0), "argv": ("python", "train.py"), "cwd": WORK, "host": "node-a",
            "started": "2026-10-02T03:04:04Z", "python": "3.11.7", "facts": {"os": "Linux"}, "env": {}, **fields,
        }
    )  # fmt: skip


def ended(by: str = "exit", exit_code: int | None = 1, path: str = "node-0/end.json", **fields: Any) -> Ended:
    return Ended(
        where=Where(path, 0),
        exit_code=exit_code,
        **{"signal": None, "ended_by": by, "ended": "2026-10-02", **fields},
    )


def hung(by: str = "agent", failure_seen: bool = True, **fields: Any) -> Ended:
    """The end of a job that stood still for 5.2 seconds."""
    return ended(
        by,
        **{
            "exit_code": None,
            "signal": 15,
            "hang_since": "2026-10-02T03:04:07Z",
            "hang_seconds": 5.2,
            **fields,
        },
        failure_seen=failure_seen,
    )


def stack(pid: int, *frames: Frame, rank: int | None = None, thread: str | None = "MainThread") -> Stack:
    """`frames` innermost first."""
    where = Where(f"node-0/stacks/{pid}.txt", 3, "Thread")
    return Stack(where=where, rank=rank, pid=pid, tool="py-spy", thread=thread, frames=frames)


def run(*events: Event, run_id: str = "r1", **fields: Any) -> Run:
    """The run that the events tell of."""
    return assemble(declaration(run_id, **fields), sorted({event.where.path for event in events}), events)


def oom(*more: Event, run_id: str = "r1", ranks: tuple[int, ...] = (0, 2), **fields: Any) -> Run:
    """Two iterations, a capture in the third, then an allocation failure on some ranks."""
    return run(
        part(),
        iteration(1, 10),
        iteration(2, 12),
        phase("capture_begin", 13),
        phase("capture_done", 14),
        *(raised(rank, 20 + 3 * rank) for rank in ranks),
        *(more or (hung(),)),
        run_id=run_id,
        **fields,
    )


@pytest.fixture(scope="session")
def by_hand() -> SimpleNamespace:
    """All of the makers above; the words of DESIGN are their names."""
    return SimpleNamespace(
        declaration=declaration, iteration=iteration, phase=phase, memory=memory, frame=frame, raised=raised,
        error=error, part=part, ended=ended, hung=hung, stack=stack, run=run, oom=oom, own=OWN, log=LOG, work=WORK,
        statement=STATEMENT,
    )  # fmt: skip

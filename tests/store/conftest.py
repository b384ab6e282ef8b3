"""A kit and open runs of it, as recorders leave them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reprokit.model.kit import RUN_SCHEMA, RunDeclaration
from reprokit.store import spool
from reprokit.store.kit import Kit, create_kit

Open = Callable[..., spool.OpenRun]


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return create_kit(tmp_path / "job.kit")


@pytest.fixture
def open_run(kit: Kit) -> Open:
    """open_run("r1", {"node-0/output.log": b"..."}): a run whose recorder has gone."""

    def make(
        run_id: str, content: dict[str, bytes] | None = None, command: tuple[str, ...] = ()
    ) -> spool.OpenRun:
        declaration = RunDeclaration(
            schema=RUN_SCHEMA, id=run_id, role="first-failing", origin="recorded", command=command
        )
        folder = spool.begin(kit, declaration)
        for name, data in (content or {"node-0/output.log": b"a line\n"}).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return next(run for run in spool.open_runs(kit.layout) if run.id == run_id)

    return make


@pytest.fixture
def sha256sum() -> Callable[[Path], None]:
    """sha256sum(folder): coreutils' own check of folder/SHA256SUMS must hold."""

    def check(folder: Path) -> None:
        done = subprocess.run(
            ["sha256sum", "--strict", "-c", "SHA256SUMS"],
            cwd=folder,
            capture_output=True,
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/local/bin"},
            check=False,
        )
        assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")

    return check

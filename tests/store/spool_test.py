from __future__ import annotations

import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reprokit.errors import SafetyError, UsageError
from reprokit.model.kit import RUN_SCHEMA, RunDeclaration
from reprokit.store import spool
from reprokit.store.kit import Kit

Open = Callable[..., spool.OpenRun]
HOLD = """
import fcntl, sys
file = open(sys.argv[1])
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process holds the lock of `path`."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def declare(run_id: str) -> RunDeclaration:
    return RunDeclaration(
        schema=RUN_SCHEMA,
        id=run_id,
        role="current",
        origin="recorded",
        command=("python", "-c", "print('no: 3.10')\n"),
        stated={"driver": "580.10", "note": "~"},
    )


def test_what_was_declared_is_read_back(kit: Kit) -> None:
    folder = spool.begin(kit, declare("r1"))
    (run,) = spool.open_runs(kit.layout)
    assert (run.id, run.folder, run.declaration) == ("r1", folder, declare("r1"))
    assert run.parts == [] and run.state == "open"


def test_a_spool_is_private(kit: Kit) -> None:
    folder = spool.begin(kit, declare("r1"))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "run.yaml").stat().st_mode) == 0o600


def test_an_open_run_of_the_same_id_is_refused(kit: Kit) -> None:
    spool.begin(kit, declare("r1"))
    with pytest.raises(SafetyError, match="a run 'r1' exists") as caught:
        spool.begin(kit, declare("r1"))
    assert caught.value.hint and "--run" in caught.value.hint


def test_a_sealed_run_of_the_same_id_is_refused(kit: Kit) -> None:
    (kit.layout.evidence / "r1").mkdir(parents=True)
    with pytest.raises(SafetyError, match="a run 'r1' exists"):
        spool.begin(kit, declare("r1"))
    assert not kit.layout.open.exists()


@pytest.mark.parametrize("run_id", ["", ".", "..", "../up", "a/b", "-x", ".x", "a b", "a\n", "x" * 81, "é"])
def test_ids_that_could_leave_the_folder(kit: Kit, run_id: str) -> None:
    with pytest.raises(UsageError, match="is no run id"):
        spool.begin(kit, declare(run_id))
    assert not kit.layout.open.exists()


def test_a_live_recorder_is_seen(open_run: Open) -> None:
    run = open_run("r1", {"node-0/lock": b"", "node-1/lock": b""})
    assert not run.alive()
    with held(run.folder / "node-1" / "lock"):
        assert run.alive()
    assert not run.alive()


def test_looking_does_not_take_the_lock(open_run: Open) -> None:
    """Else a recorder that starts just then could not get it."""
    run = open_run("r1", {"node-0/lock": b""})
    assert not run.alive()
    with held(run.folder / "node-0" / "lock"):
        pass


def test_without_a_lock_file_nobody_records(open_run: Open) -> None:
    assert not open_run("r1", {"node-0/output.log": b""}).alive()


def test_only_folders_with_a_declaration_are_runs(kit: Kit, open_run: Open, tmp_path: Path) -> None:
    open_run("b")
    open_run("a")
    (kit.layout.open / "empty").mkdir()
    (kit.layout.open / "file").write_text("")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "run.yaml").write_text("")
    (kit.layout.open / "link").symlink_to(tmp_path / "elsewhere")
    assert [run.id for run in spool.open_runs(kit.layout)] == ["a", "b"]


@pytest.mark.parametrize("text", ["", "schema: reprokit/run/1.0\nid: cut\nro", "\0\0\0\0"])
def test_a_run_that_never_began_is_left_out(kit: Kit, open_run: Open, text: str) -> None:
    """run.sh writes the declaration too, and may be killed while it does."""
    open_run("whole")
    (kit.layout.open / "cut").mkdir()
    (kit.layout.open / "cut" / "run.yaml").write_text(text)
    assert [run.id for run in spool.open_runs(kit.layout)] == ["whole"]


def test_an_id_that_is_not_its_folder_is_not_taken(kit: Kit, open_run: Open) -> None:
    """The id becomes a path under evidence/."""
    path = open_run("r1").folder / "run.yaml"
    path.write_text(path.read_text().replace("id: r1", "id: ../../outside"))
    assert all(run.id == run.folder.name for run in spool.open_runs(kit.layout))


def test_no_spool_no_runs(kit: Kit) -> None:
    assert spool.open_runs(kit.layout) == []


def test_discarding_the_last_run_removes_the_folder(kit: Kit, open_run: Open) -> None:
    first, second = open_run("a"), open_run("b")
    spool.discard(first)
    assert [run.id for run in spool.open_runs(kit.layout)] == ["b"]
    spool.discard(second)
    assert not kit.layout.open.exists()

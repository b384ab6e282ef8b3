"""Executor `local` and its working trees: whatever happens, nothing of a job is left."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from reprokit.launch import worktree
from reprokit.launch.executor import Order
from reprokit.launch.local import LocalExecutor
from reprokit.launch.table import EXECUTORS
from reprokit.probe import git

pytestmark = pytest.mark.job

PATCH = "--- a/one.py\n+++ b/one.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"


@pytest.fixture
def order(tmp_path: Path) -> Order:
    (tmp_path / "spool").mkdir()
    return Order(
        script=tmp_path / "run.sh", kit=tmp_path / "the kit", agent=tmp_path / "agent", spool=tmp_path / "spool",
        log=tmp_path / "log", worktree=tmp_path / "a tree", python="/a python",
    )  # fmt: skip


def test_the_script_is_told_where_everything_is(order: Order) -> None:
    order.script.write_text('env | grep -E "^(REPROKIT_|PYTHON=)" | sort; echo to stderr >&2; exit 7\n')
    assert LocalExecutor().run(order, lambda _: None) == 7
    assert order.log.read_text().splitlines() == [
        "PYTHON=/a python",
        f"REPROKIT_AGENT={order.agent}",
        f"REPROKIT_KIT={order.kit}",
        "REPROKIT_QUIET=1",
        f"REPROKIT_SPOOL={order.spool}",
        f"REPROKIT_WORKTREE={order.worktree}",
        "to stderr",
    ]
    assert EXECUTORS["local"].kind == "local"


def test_the_watch_sees_the_tail_of_the_output(order: Order) -> None:
    seen: list[bytes] = []
    order.script.write_text(
        'yes long | head -c 20000 > "$REPROKIT_SPOOL/output.log"; sleep 0.3; echo end >> "$REPROKIT_SPOOL/output.log"\n'
    )
    assert LocalExecutor().run(order, seen.append) == 0
    assert seen[-1].endswith(b"end\n") and len(seen[-1]) == 8192


@pytest.mark.parametrize("stubborn", [False, True], ids=["ends", "stubborn"])
def test_an_interrupt_ends_the_group(order: Order, stubborn: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script gets SIGTERM and time; one that takes no notice is killed with its group."""
    monkeypatch.setattr("reprokit.launch.local.GRACE_S", 0.5)
    trap = "trap '' TERM" if stubborn else "trap 'echo told; kill $!; exit 143' TERM"
    order.script.write_text(f"{trap}\necho $$\n{'sleep 60' if stubborn else 'sleep 60 & wait'}\n")
    threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        LocalExecutor().run(order, lambda _: None)
    pid, *rest = order.log.read_text().split()
    assert rest == ([] if stubborn else ["told"])
    assert living(int(pid)) == []


def living(group: int) -> list[int]:
    """Processes of a group that are no zombies."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, member_of = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(member_of) == group and state not in "ZX":
            found.append(int(path.parent.name))
    return found


def test_a_watch_that_raises_ends_the_job_too(order: Order) -> None:
    def broken(_: bytes) -> None:
        raise ZeroDivisionError

    order.script.write_text("exec sleep 60\n")
    with pytest.raises(ZeroDivisionError):
        LocalExecutor().run(order, broken)


@pytest.fixture
def bundle(tmp_path: Path) -> tuple[Path, str]:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "one.py").write_text("x = 1\n")
    (tmp_path / "source" / "two.py").write_text("x = 1\n")
    commit = git.commit_folder(tmp_path / "source", tmp_path / "repository", "m")
    git.bundle(tmp_path / "repository", tmp_path / "b")
    return tmp_path / "b", commit


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def test_a_working_tree_is_private_and_gone_afterwards(
    tmp_path: Path, bundle: tuple[Path, str], scratch: Path
) -> None:
    (tmp_path / "p.patch").write_text(PATCH)
    with worktree.worktree(git, *bundle, [tmp_path / "p.patch"]) as folder:
        assert (folder / "one.py").read_text() == "x = 2\n"
        assert (folder.parent.stat().st_mode & 0o777) == 0o700
        assert git.changed_files(folder) == ["one.py"]
    assert list(scratch.iterdir()) == []


def test_nothing_is_left_where_git_refuses(tmp_path: Path, bundle: tuple[Path, str], scratch: Path) -> None:
    (tmp_path / "p.patch").write_text(PATCH.replace("x = 1", "y = 1"))
    with pytest.raises(git.PatchError), worktree.worktree(git, *bundle, [tmp_path / "p.patch"]):
        pytest.fail("the patch does not fit")
    with pytest.raises(git.GitError), worktree.worktree(git, bundle[0], "a" * 40, []):
        pytest.fail("there is no such commit")
    assert list(scratch.iterdir()) == []


def test_only_a_compiled_file_proves_an_import(tmp_path: Path) -> None:
    for name in ("pkg/one.py", "pkg/two.py", "pkg/data.txt", "main.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "pkg" / "__pycache__").mkdir()
    (tmp_path / "pkg" / "__pycache__" / "one.cpython-311.pyc").write_bytes(b"")
    (tmp_path / "pkg" / "__pycache__" / "data.cpython-311.pyc").write_bytes(b"")
    assert worktree.imported(tmp_path, ["pkg/one.py", "pkg/two.py", "pkg/data.txt", "main.py"]) == {
        "pkg/one.py": True,
        "pkg/two.py": False,
        "pkg/data.txt": False,
        "main.py": False,
    }

"""`bash KIT/launch/run.sh` where no reprokit is installed: what it needs, what it leaves, and how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.harness import Answer, Desk, wait_until
from tests.commands.recipe_maker import copy_kit, write_recipe

pytestmark = pytest.mark.job

TOOLS = ("bash", "sh", "env", "dirname", "mktemp", "rm", "date", "mkdir", "cat", "git", "timeout", "kill")
PINS = (("requires:\n", 'requires:\n  packages: ["numpy==2.4.6", "no-such-package==1.0"]\n'),)


@pytest.fixture
def tools(desk: Desk) -> Path:
    """A PATH with just the tools a plain machine has."""
    folder = desk.folder / "tools"
    folder.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)
    return folder


Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(desk: Desk, tools: Path) -> Iterator[Start]:
    """Start a script of the kit in an environment that has PATH, PYTHON and nothing else of ours but a mark."""
    started: list[subprocess.Popen[str]] = []

    def run(script: Path, python: str | None = sys.executable, **variables: str) -> subprocess.Popen[str]:
        clean = {
            "PATH": str(tools),
            "TMPDIR": str(desk.temporary),
            "DESK": str(desk.folder),
            "HOME": os.environ["HOME"],
        }
        if python is not None:
            clean["PYTHON"] = python
        how: Any = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "start_new_session": True,
        }
        process = subprocess.Popen(["bash", str(script)], cwd="/", env={**clean, **variables}, **how)
        started.append(process)
        return process

    yield run
    for process in started:
        process.kill()
        process.communicate()


def end(process: subprocess.Popen[str]) -> Answer:
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    return Answer(["run.sh"], process.returncode, out, err)


def test_a_run_by_hand(desk: Desk, kit: Path, start: Start) -> None:
    answer = end(start(kit / "launch" / "run.sh"))
    assert answer.code not in {0, 4}, str(answer)
    assert "[rank0]: MemoryError" in answer.out, "the job's output is shown"
    assert "run.sh: recording to" in answer.err
    desk.tidy()
    (spool,) = kit.with_name("tiny.kit.open").iterdir()
    assert {path.stat().st_mode & 0o077 for path in [spool, *spool.rglob("*")]} == {0}
    checked = desk.call("check", kit, "--json", code=0).json()
    assert (checked["kit"]["state"], checked["derived"]) == ("open", "fresh")
    (run,) = desk.call("show", kit, "--run", spool.name, "--json", code=0).json()["runs"]
    assert (run["failure"]["kind"], run["failure"]["site"]) == ("cpu_oom", "tiny/step.py:grow")
    assert run["failure"]["hang_after_failure"] is True
    assert run["ended_by"] == "agent"
    desk.call("report", kit, code=0)
    assert desk.call("check", kit, "--json", code=0).json()["kit"]["state"] == "intact"
    assert (kit / "evidence" / spool.name / "node-0" / "output.log").is_file()
    assert not spool.exists()
    assert "done before" in desk.call("run", kit, "--on", "local", code=0).err


def test_a_kit_with_quotes_and_spaces_in_its_path(
    desk: Desk, made: tuple[Path, Answer], start: Start
) -> None:
    kit = desk.folder / 'it\'s a "kit"; $(touch started) `x`' / "new one.kit"
    kit.parent.mkdir()
    copy_kit(made[0], kit)
    python = desk.folder / "a python's folder" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    answer = end(start(kit / "launch" / "run.sh", str(python)))
    assert "[rank0]: MemoryError" in answer.out, str(answer)
    assert answer.code not in {0, 4}
    assert "open: not sealed yet" in desk.call("show", kit, code=0).out
    assert not list(desk.folder.rglob("started"))


def test_repro_script(desk: Desk, kit: Path, start: Start, tools: Path) -> None:
    """The ten lines of the report do as run.sh does, and print nothing of the environment."""
    process = start(kit / "launch" / "repro.sh", SECRET="not for others")
    seen: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        seen.append(line)
        if line.startswith("[rank0]: MemoryError"):
            break
    desk.end_all()
    end(process)
    assert "[rank0]: MemoryError\n" in seen
    assert "not for others" not in "".join(seen)
    for left in desk.temporary.iterdir():
        shutil.rmtree(left)


@pytest.fixture(scope="module")
def pinned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit whose job needs packages that are not there; its recording was refused, its scripts are written."""
    desk = Desk(tmp_path_factory.mktemp("pinned"))
    recipe = write_recipe(desk.folder / "tiny", *PINS)
    answer = desk.call("make", recipe, "-o", "pinned.kit", code=4)
    assert "no-such-package 1.0 is needed; not installed" in answer.err, str(answer)
    assert "-m pip install" in answer.err, str(answer)
    desk.call("emit", "pinned.kit", code=0)
    desk.tidy()
    return desk.folder / "pinned.kit"


def test_packages_that_are_missing(desk: Desk, pinned: Path, start: Start) -> None:
    bare = desk.folder / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    answer = end(start(pinned / "launch" / "run.sh", str(bare / "bin" / "python")))
    assert answer.code == 4, str(answer)
    assert "numpy 2.4.6 is needed; not installed" in answer.err
    assert "no-such-package 1.0 is needed; not installed" in answer.err
    assert "install: " in answer.err and "-m pip install numpy==2.4.6 no-such-package==1.0" in answer.err
    assert not pinned.with_name("pinned.kit.open").exists()


def test_a_recording_that_lacks_packages_leaves_no_run(pinned: Path) -> None:
    assert not list((pinned / "evidence").glob("*")) if (pinned / "evidence").exists() else True
    assert not pinned.with_name("pinned.kit.open").exists()


def test_without_git(kit: Path, start: Start, tools: Path) -> None:
    (tools / "git").unlink()
    answer = end(start(kit / "launch" / "run.sh"))
    assert (answer.code, answer.out) == (4, "")
    assert "run.sh: git is not here; install it" in answer.err


@pytest.mark.parametrize("python", [None, "/nonexistent/python"])
def test_without_python(kit: Path, start: Start, python: str | None) -> None:
    answer = end(start(kit / "launch" / "run.sh", python))
    assert answer.code == 4
    assert f"the Python {python or 'python3'} is not here; set PYTHON=/path/to/python" in answer.err


def test_an_incomplete_kit(kit: Path, start: Start) -> None:
    (kit / "inputs" / "source.bundle").unlink()
    (kit / "launch" / "agent" / "__main__.py").unlink()
    answer = end(start(kit / "launch" / "run.sh"))
    assert answer.code == 4
    assert "source.bundle is missing" in answer.err and "the agent is missing" in answer.err


@pytest.mark.parametrize("group", [False, True], ids=["script", "group"])
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name
)
def test_a_signal_ends_everything(
    desk: Desk, kit: Path, start: Start, number: signal.Signals, group: bool
) -> None:
    process = start(kit / "launch" / "run.sh", TINY_STEP_S="0.3")
    logs = kit.with_name("tiny.kit.open")
    wait_until(
        lambda: any("iteration        1/" in path.read_text() for path in logs.glob("*/node-0/output.log"))
    )
    (os.killpg if group else os.kill)(process.pid, number)
    answer = end(process)
    assert answer.code != 0, str(answer)
    desk.tidy()
    (run,) = desk.call("show", kit, "--run", next(logs.iterdir()).name, "--json", code=0).json()["runs"]
    assert run["ended_by"] == "cancelled"


def test_a_git_environment_of_the_caller_is_not_touched(desk: Desk, kit: Path, start: Start) -> None:
    """As inside a git hook: GIT_DIR names the caller's repository."""
    mine = desk.folder / "mine"
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.invalid"]
    subprocess.run(["git", "init", "-q", str(mine)], check=True)
    subprocess.run([*git, "-C", str(mine), "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    variables = {
        "GIT_DIR": str(mine / ".git"),
        "GIT_WORK_TREE": str(mine),
        "GIT_INDEX_FILE": str(mine / "index"),
    }
    answer = end(start(kit / "launch" / "run.sh", **variables))
    assert "[rank0]: MemoryError" in answer.out, str(answer)
    assert sorted(path.name for path in mine.iterdir()) == [".git"]

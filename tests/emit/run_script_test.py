"""What run.sh and repro.sh do around the job, played by a real bash."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reprokit.model.kit import RunDeclaration
from reprokit.model.launch import PYTHON
from reprokit.store import runs

Emit = Callable[..., dict[str, str]]
Play = Callable[..., Any]
DUMP = (
    "import json,os,sys; json.dump({'argv': sys.argv, 'env': dict(os.environ), 'cwd': os.getcwd()}, "
    "open(os.environ['WITNESS'], 'w')); sys.exit(int(os.environ.get('EXIT', '0')))"
)


@pytest.fixture
def bundle(kit: Path, tmp_path: Path) -> str:
    """A commit in KIT/inputs/source.bundle; its id."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "train.py").write_text("print('hello')\n")

    def git(*words: str) -> str:
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *identity, *words], cwd=source, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "all")
    (kit / "inputs").mkdir()
    git("bundle", "create", "-q", str(kit / "inputs" / "source.bundle"), "HEAD")
    return git("rev-parse", "HEAD")


def bare(emit: Emit, **changes: Any) -> str:
    """run.sh without code and without packages to look for."""
    return emit(**{"base": None, "python": None, "packages": (), "requirements": None, **changes})[
        "launch/run.sh"
    ]


def test_the_agent_gets_the_limits(emit: Emit, play: Play) -> None:
    played = play(bare(emit), REPROKIT_SPOOL="/spool/x y")
    before = played.argv[1 : played.argv.index("--")]
    assert before[:8] == [
        "--spool",
        "/spool/x y",
        "--end-hang",
        "4",
        "--time-limit",
        "120",
        "--end-on-signal",
        "--end-left",
    ]
    quiet = play(bare(emit), REPROKIT_SPOOL="/spool", REPROKIT_QUIET="1")
    assert "--quiet" in quiet.argv[: quiet.argv.index("--")]


@pytest.mark.parametrize("code", ["0", "1", "7", "124", "137"])
def test_the_exit_code_is_the_job_s(emit: Emit, play: Play, code: str) -> None:
    assert play(bare(emit), EXIT=code, REPROKIT_SPOOL="/spool").code == int(code)


def test_by_hand_a_spool_is_made_that_reprokit_reads(emit: Emit, play: Play, kit: Path) -> None:
    played = play(bare(emit))
    (folder,) = Path(f"{kit}.open").iterdir()
    assert played.argv[played.argv.index("--spool") + 1] == str(folder / "node-0")
    declaration = runs.read_run(folder / "run.yaml")
    assert declaration == RunDeclaration(
        schema="reprokit/run/1.0", id=folder.name, role="by-hand", origin="by_hand"
    )
    for path, mode in ((folder, 0o700), (folder.parent, 0o700), (folder / "run.yaml", 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_job_runs_in_a_checkout_that_is_removed(
    emit: Emit, play: Play, kit: Path, bundle: str, tmp_path: Path
) -> None:
    played = play(emit(base=bundle, python=None, packages=(), requirements=None)["launch/run.sh"])
    assert played.code == 0, played.err
    assert played.cwd.startswith(str(tmp_path / "tmp")) and played.cwd.endswith("/src")
    assert list((tmp_path / "tmp").iterdir()) == []
    (folder,) = Path(f"{kit}.open").iterdir()
    assert runs.read_run(folder / "run.yaml").base == bundle


def test_a_working_tree_that_is_given_is_used_and_kept(
    emit: Emit, play: Play, bundle: str, tmp_path: Path
) -> None:
    (tmp_path / "tree").mkdir()
    text = emit(base=bundle, python=None, packages=(), requirements=None)["launch/run.sh"]
    played = play(text, REPROKIT_WORKTREE=str(tmp_path / "tree"), REPROKIT_SPOOL="/spool")
    assert (played.code, played.cwd) == (0, str(tmp_path / "tree"))
    assert (tmp_path / "tree").is_dir()


def test_everything_that_is_missing_is_named_before_anything_starts(
    emit: Emit, play: Play, kit: Path
) -> None:
    (kit / "launch" / "agent" / "__main__.py").unlink()
    text = emit(packages=("surely-not-there==1.0", "pytest==0.0.1"), requirements=None)["launch/run.sh"]
    played = play(text)
    assert (played.code, played.started) == (4, False)
    assert "surely-not-there 1.0 is needed; not installed" in played.err
    assert "pytest 0.0.1 is needed; " in played.err
    assert "-m pip install surely-not-there==1.0 pytest==0.0.1" in played.err
    assert "inputs/source.bundle is missing: this kit is incomplete" in played.err
    assert "the agent is missing" in played.err
    assert not Path(f"{kit}.open").exists()


def test_with_a_lock_the_install_line_names_it(emit: Emit, play: Play, kit: Path) -> None:
    played = play(emit(packages=("surely-not-there==1.0",))["launch/run.sh"])
    assert f"-m pip install --require-hashes -r {kit}/inputs/requirements.txt" in played.err


def test_an_old_python_is_named(emit: Emit, play: Play) -> None:
    played = play(bare(emit, python=">=3.99"), REPROKIT_SPOOL="/spool")
    assert (played.code, played.started) == (4, False)
    assert f"{sys.version.split()[0]}; >=3.99 is needed" in played.err


def test_no_python_is_named(emit: Emit, play: Play) -> None:
    played = play(bare(emit), PYTHON="no-such-python", REPROKIT_SPOOL="/spool")
    assert (played.code, played.started) == (4, False)
    assert "the Python no-such-python is not here; set PYTHON=" in played.err


def test_packages_that_are_there_are_fine(emit: Emit, play: Play) -> None:
    from importlib import metadata

    text = bare(emit, python=">=3.8", packages=(f"pytest=={metadata.version('pytest')}",))
    played = play(text, REPROKIT_SPOOL="/spool")
    assert (played.code, played.started) == (0, True), played.err


def test_the_repro_runs_the_job_alone(emit: Emit, play: Play, bundle: str) -> None:
    words = ("$(touch x)", "a\nb", "'", "-x", "é")
    text = emit(base=bundle, command=(PYTHON, "-c", DUMP, *words), env={"NOTE": "it's\n$(touch x)"})
    played = play(text["launch/repro.sh"], "repro.sh", EXIT="3")
    assert (played.code, played.argv, played.env["NOTE"]) == (3, ["-c", *words], "it's\n$(touch x)"), (
        played.err
    )
    assert played.cwd.endswith("/src")


def test_the_repro_of_a_job_without_variables_prints_none(emit: Emit, play: Play, bundle: str) -> None:
    """A bare `export` would print the whole environment, tokens too."""
    text = emit(base=bundle, command=(PYTHON, "-c", DUMP), env={})["launch/repro.sh"]
    played = play(text, "repro.sh", SOME_TOKEN="hunter2")
    assert (played.code, played.out) == (0, "")


def test_the_repro_ends_what_hangs(emit: Emit, play: Play, bundle: str) -> None:
    text = emit(base=bundle, command=(PYTHON, "-c", "import time; time.sleep(60)"), time_s=1)[
        "launch/repro.sh"
    ]
    assert play(text, "repro.sh").code == 124


def test_users_settings_of_git_stay_out(emit: Emit, play: Play, bundle: str, tmp_path: Path) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    os.chmod(hooks / "post-checkout", 0o755)
    (tmp_path / "config").write_text(f"[core]\n\thooksPath = {hooks}\n")
    text = emit(base=bundle, python=None, packages=(), requirements=None)["launch/run.sh"]
    assert play(text, GIT_CONFIG_GLOBAL=str(tmp_path / "config")).code == 0
    assert not (tmp_path / "hooked").exists()

"""The wheel holds all that a checkout has, and works where there is no checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture.source_tree import PACKAGE, ROOT, tracked_files

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pip(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """Asks each compiler for its version, which may write into the home folder: so it has one of its own."""
    env = {**os.environ, "HOME": str(tmp_path_factory.mktemp("pip-home"))}

    def call(*words: object) -> None:
        told = [sys.executable, "-m", "pip", "--disable-pip-version-check", *(str(word) for word in words)]
        done = subprocess.run(told, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    return call


@pytest.fixture(scope="module")
def wheel(pip: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as a user's pip would, but offline and with the pinned build backend."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-index", "--no-deps", "--no-build-isolation", "-q", "-w", folder, ROOT)
    (made,) = folder.glob("reprokit-*.whl")
    return made


@pytest.fixture(scope="module")
def installed(pip: Callable[..., None], wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel in it. It borrows our libraries, but not our editable install."""
    root = tmp_path_factory.mktemp("installed")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    pip("--python", root / "bin/python", "install", "--no-index", "--no-deps", "-q", wheel)
    (site,) = root.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return root


def say(installed: Path, *words: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    done = subprocess.run(words, cwd=installed, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_package_templates_recipes_and_agent(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    missing = []
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        inside = f"reprokit/_data/{name}" if name.startswith(("templates/", "recipes/")) else name
        if inside.startswith("reprokit/") and inside not in held:
            missing.append(name)
    assert missing == []
    assert [name for name in held if name.startswith("reprokit/_data/templates/")]
    assert [name for name in held if name.startswith("reprokit/_data/recipes/")]
    assert "reprokit/agent/__main__.py" in held


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    held = zipfile.ZipFile(wheel).namelist()
    assert [
        name for name in held if "__pycache__" in name or not name.startswith(("reprokit/", "reprokit-"))
    ] == []


def test_an_installed_reprokit_says_its_version(installed: Path, wheel: Path) -> None:
    said = say(installed, "bin/reprokit", "--version")
    assert wheel.name.split("-")[1] in said


def test_an_installed_reprokit_finds_its_own_data(installed: Path) -> None:
    program = "import reprokit.resources as r; print(r.folder('templates'), r.folder('recipes'), r.agent(), sep='\\n')"
    folders = say(installed, "bin/python", "-c", program).splitlines()
    assert all(Path(folder).is_dir() and Path(folder).is_relative_to(installed) for folder in folders), (
        folders
    )
    recipes = say(
        installed, "bin/python", "-c", "import reprokit.resources as r; print(*r.recipe_names())"
    ).split()
    assert recipes == sorted(path.parent.name for path in (ROOT / "recipes").glob("*/recipe.yaml"))


def test_every_verb_of_an_installed_reprokit_says_its_help(installed: Path) -> None:
    for path in sorted((PACKAGE / "commands").glob("[!_]*.py")):
        assert say(installed, "bin/reprokit", path.stem, "--help")

"""The law of layers holds in the tree, and the checker that says so really breaks when it is broken."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import PACKAGE, ROOT, imports, modules

PROGRAM = Path(sys.executable).parent / "lint-imports"


def check(root: Path) -> subprocess.CompletedProcess[str]:
    """The contracts of pyproject.toml over the tree in `root`."""
    words = [str(PROGRAM), "--no-cache", "--no-logo", str(root / "pyproject.toml")]
    return subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)


def test_the_tree_keeps_the_law() -> None:
    done = check(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(PACKAGE, tmp_path / "reprokit", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_an_untouched_copy_passes(copy: Path) -> None:
    assert check(copy).returncode == 0


LAYERS = "each room imports only rooms below it"
VERBS = "a verb never imports another verb"
AGENT = "nothing imports the agent"


@pytest.mark.parametrize(
    ("file", "text", "contract"),
    [
        ("parse/broken.py", "import reprokit.store", LAYERS),
        ("parse/broken.py", "def late() -> None:\n    import reprokit.store", LAYERS),
        ("analyze/broken.py", "import reprokit.report", LAYERS),
        ("report/broken.py", "from reprokit import emit", LAYERS),
        ("store/broken.py", "import reprokit.probe", LAYERS),
        ("launch/broken.py", "from reprokit import render", LAYERS),
        ("model/broken.py", "import reprokit.parse", LAYERS),
        ("pipeline/broken.py", "from reprokit import output", LAYERS),
        ("redact/broken.py", "from reprokit.resources import folder", LAYERS),
        ("agent/broken.py", "from reprokit.errors import ReprokitError", LAYERS),
        ("errors.py", "from reprokit import model", LAYERS),
        ("grabbag.py", "", "exhaustive"),
        ("launch/broken.py", "import reprokit.agent", AGENT),
        ("commands/broken.py", "def late() -> None:\n    from reprokit.agent import main", AGENT),
    ],
)
def test_a_broken_law_is_found(copy: Path, file: str, text: str, contract: str) -> None:
    (copy / "reprokit" / file).write_text(text + "\n")
    done = check(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    assert contract in done.stdout.partition("Broken contracts")[2]


def test_verbs_that_import_each_other_are_found(copy: Path) -> None:
    (copy / "reprokit/commands/one.py").write_text("from reprokit.commands import two\n")
    (copy / "reprokit/commands/two.py").write_text("")
    done = check(copy)
    assert done.returncode == 1, done.stdout + done.stderr
    assert VERBS in done.stdout.partition("Broken contracts")[2]


def test_the_agent_knows_the_standard_library_and_itself_only() -> None:
    """Also what import-linter cannot see: it never has to find anything installed."""
    foreign = [
        f"{module.path}:{one.line} {one.name}"
        for module in modules()
        if module.room == "agent"
        for one in imports(module.tree)
        if not one.name.startswith(".") and one.top not in sys.stdlib_module_names
    ]
    assert not foreign

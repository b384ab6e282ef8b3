"""Set-up: done once, begun afresh after an interruption, and clear about what it lacks."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.architecture.source_tree import ROOT

FOLDER, LOCK = ".venv-run", "requirements/run.txt"


class Set:
    """tools/environment.py over a small checkout, with commands recorded instead of run."""

    def __init__(self, module: ModuleType, root: Path) -> None:
        self.module, self.root = module, root
        self.said: list[str] = []
        self.interrupt_at = ""

    def call(self, *words: str) -> None:
        said = " ".join(words)
        if self.interrupt_at and self.interrupt_at in said:
            raise KeyboardInterrupt
        if "-m venv" in said:
            python = self.root / FOLDER / "bin/python"
            python.parent.mkdir(parents=True)
            python.touch(0o755)
        self.said.append(said)

    def up(self) -> list[str]:
        """Bring the environment up; which steps that took."""
        self.said = []
        self.module.bring_up(str(self.root / FOLDER), LOCK)
        return [
            name
            for said in self.said
            for name, sign in {"create": "-m venv", "lock": "--require-hashes", "project": "-e ."}.items()
            if sign in said
        ]


@pytest.fixture
def environment() -> ModuleType:
    spec = spec_from_file_location("environment", ROOT / "tools/environment.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(environment: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Set:
    for name in (LOCK, "pyproject.toml", "reprokit/version.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    made = Set(environment, tmp_path)
    monkeypatch.setattr(environment, "ROOT", str(tmp_path))
    monkeypatch.setattr(environment, "call", made.call)
    return made


def append(line: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(path.read_text() + line)


def test_the_second_call_does_nothing(checkout: Set) -> None:
    assert checkout.up() == ["create", "lock", "project"]
    assert checkout.up() == []


@pytest.mark.parametrize("step", ["-m venv", "--require-hashes", "-e ."])
def test_an_interrupted_set_up_starts_afresh(checkout: Set, step: str) -> None:
    checkout.interrupt_at = step
    with pytest.raises(KeyboardInterrupt):
        checkout.up()
    (checkout.root / FOLDER).mkdir(exist_ok=True)
    (checkout.root / FOLDER / "half").touch()
    checkout.interrupt_at = ""
    assert checkout.up() == ["create", "lock", "project"]
    assert not (checkout.root / FOLDER / "half").exists()


@pytest.mark.parametrize(
    ("name", "change", "steps"),
    [
        (LOCK, append("# changed\n"), ["create", "lock", "project"]),
        ("reprokit/version.py", append("# changed\n"), ["project"]),
        ("pyproject.toml", append("[tool.elsewhere]\nx = 1\n"), []),
        (f"{FOLDER}/bin/python", Path.unlink, ["create", "lock", "project"]),
        (f"{FOLDER}/reprokit-stamp.json", Path.unlink, ["create", "lock", "project"]),
    ],
)
def test_a_change_redoes_what_hangs_on_it(
    checkout: Set, name: str, change: Callable[[Path], None], steps: list[str]
) -> None:
    checkout.up()
    change(checkout.root / name)
    assert checkout.up() == steps
    assert checkout.up() == []


def test_a_file_in_the_way_is_replaced(checkout: Set) -> None:
    (checkout.root / FOLDER).write_text("")
    assert checkout.up() == ["create", "lock", "project"]


def test_an_old_python_is_told_so(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "OLDEST", (4, 0))
    with pytest.raises(environment.CannotError, match=r"needs 4\.0 or newer\.\n.*PYTHON="):
        environment.check_python()


def test_a_python_without_venv_is_told_so(environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "can_import", lambda name: name != "ensurepip")
    with pytest.raises(
        environment.CannotError, match=r"without ensurepip.*\n.*apt-get install python3\.\d+-venv"
    ):
        environment.check_python()


def test_a_failing_step_shows_what_it_said(
    environment: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(environment.CannotError, match="code 3"):
        environment.call("sh", "-c", "echo why; exit 3")
    assert "why" in capsys.readouterr().err


def test_make_without_a_python_says_what_to_do() -> None:
    done = subprocess.run(
        ["make", "demo", "PYTHON=no-such-python"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "'no-such-python' is no Python 3.11 or newer" in done.stderr

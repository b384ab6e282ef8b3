"""What every test gets: an own home that must stay empty, no settings from outside, no process left behind."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"
ROOMS = (
    "agent",
    "analyze",
    "architecture",
    "cli",
    "commands",
    "emit",
    "errors",
    "launch",
    "model",
    "options",
    "output",
    "parse",
    "pipeline",
    "probe",
    "recipes",
    "redact",
    "render",
    "report",
    "resources",
    "store",
)
HEAVY = ("job", "slow", "daemon", "gpu")
# settings of the shell or of make that would change what is tested
OUTSIDE = (
    "FORCE_COLOR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_WORK_TREE",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "NO_COLOR",
)
LEAVING_S = 3.0
PROC = Path("/proc")

# Assertions in helpers (tests/ROOM/NAME.py) explain themselves too, whichever test imports them first.
HELPERS = [path for path in TESTS.glob("*/*.py") if not path.stem.endswith(("_test", "conftest"))]
pytest.register_assert_rewrite(*(f"tests.{path.parent.name}.{path.stem}" for path in HELPERS))

# Two runs of one commit test the same: a property's examples do not change, and nothing is kept between runs.
hypothesis.settings.register_profile("same", deadline=None, derandomize=True, database=None, print_blob=True)
hypothesis.settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write tests/golden/ from what the tests made"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "unit: neither job, slow, daemon nor gpu (given by itself)")
    for room in ROOMS:
        config.addinivalue_line("markers", f"{room}: tests of that room (given by folder or file name)")
    # a shell that starts us in the background makes us ignore Ctrl-C, and so would every program under test
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(TESTS):
            room = item.path.relative_to(TESTS).parts[0].removesuffix("_test.py")
            if room in ROOMS:
                item.add_marker(room)
        if not any(item.get_closest_marker(name) for name in HEAVY):
            item.add_marker("unit")


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty HOME for the whole session, and an environment without our settings or those of make."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("REPROKIT_", "XDG_")) or name in OUTSIDE:
                patch.delenv(name)
        patch.setenv("HOME", str(folder))
        patch.setenv("COLUMNS", "80")
        patch.setenv("PIP_NO_CACHE_DIR", "1")
        patch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", str(tmp_path_factory.mktemp("hypothesis")))
        yield folder


@pytest.fixture(autouse=True)
def clean_house(home: Path, processes: Processes) -> Iterator[None]:
    """After each test: nothing in the home folder, no process still there (it is ended, and the test fails)."""
    yield
    written = sorted(path.relative_to(home).as_posix() for path in home.rglob("*"))
    for path in home.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    left = processes.still_there(LEAVING_S)
    assert not written, f"wrote into the home folder: {written[:5]}"
    assert not left, f"left processes behind: {left}"


@pytest.fixture(scope="session")
def processes(home: Path) -> Processes:
    return Processes(home)


class Processes:
    """Those that our tests started: children of ours, or any process that got our home folder from us."""

    def __init__(self, home: Path) -> None:
        self.mark = b"HOME=" + bytes(home)
        self.known = self.all_pids()

    @staticmethod
    def all_pids() -> set[int]:
        return {int(name) for name in os.listdir(PROC) if name.isdigit()} if PROC.is_dir() else set()

    def still_there(self, patience_s: float) -> list[str]:
        """What is left after a moment's patience, ended and named."""
        now = self.all_pids()
        suspects = {pid for pid in now - self.known if self.is_ours(pid)}
        deadline = time.monotonic() + patience_s
        while suspects and time.monotonic() < deadline:
            time.sleep(0.02)
            suspects = {pid for pid in suspects if self.is_ours(pid)}
        named = [self.name(pid) for pid in sorted(suspects)]
        for pid in suspects:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        # those found foreign are not looked at again while they live
        self.known = now - suspects
        return named

    def is_ours(self, pid: int) -> bool:
        try:
            fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
            state, parent = fields[0], int(fields[1])
            environment = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
        except (OSError, IndexError):
            return False
        return state != "Z" and (parent == os.getpid() or self.mark in environment)

    @staticmethod
    def name(pid: int) -> str:
        try:
            words = (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ")
        except OSError:
            words = b""
        return f"{pid}: {words.decode(errors='replace').strip()}"


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """golden(text, "name.md"): text must equal tests/golden/name.md; --update-golden writes it instead."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(text: str, name: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        assert path.is_file(), f"no tests/golden/{name} yet: look at the text, then run with --update-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare

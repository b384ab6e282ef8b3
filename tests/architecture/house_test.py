"""The promises of tests/conftest.py, kept to tests that break them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT

HEAD = "import os, pathlib, subprocess, sys, time\n"
SLEEPER = "[sys.executable, '-c', 'import time; time.sleep(600)']"
ORPHAN_CODE = f"import subprocess, sys; subprocess.Popen({SLEEPER}, start_new_session=True)"
ORPHAN = f'subprocess.run([sys.executable, "-c", "{ORPHAN_CODE}"])'


def outcome(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "tests").mkdir(exist_ok=True)
    conftest = (ROOT / "tests/conftest.py").read_text().replace("LEAVING_S = 3.0", "LEAVING_S = 0.3")
    (folder / "tests/conftest.py").write_text(conftest)
    (folder / "tests/it_test.py").write_text(HEAD + text)
    (folder / "pytest.ini").write_text(
        "[pytest]\npython_files = *_test.py\naddopts = --import-mode=importlib\n"
    )
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        f"--basetemp={folder / 'temp'}",
        *options,
    ]
    env = {**os.environ, "REPROKIT_SAMPLE": "1"}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)


def test_a_clean_test_passes_with_an_own_empty_home(tmp_path: Path) -> None:
    text = """
def test_it():
    assert "REPROKIT_SAMPLE" not in os.environ
    assert list(pathlib.Path.home().iterdir()) == []
    subprocess.run([sys.executable, "-c", ""])
"""
    done = outcome(tmp_path, text)
    assert done.returncode == 0, done.stdout


def test_writing_into_the_home_folder_is_an_error_of_that_test_alone(tmp_path: Path) -> None:
    text = """
def test_1(): (pathlib.Path.home() / ".sample").mkdir()
def test_2(): pass
"""
    done = outcome(tmp_path, text)
    assert done.returncode == 1
    assert "wrote into the home folder: ['.sample']" in done.stdout
    assert "2 passed, 1 error" in done.stdout


@pytest.mark.parametrize("start", [f"subprocess.Popen({SLEEPER})", ORPHAN], ids=["child", "orphan"])
def test_leaving_a_process_is_an_error_and_the_process_is_ended(tmp_path: Path, start: str) -> None:
    done = outcome(tmp_path, f"def test_1(): keep.append({start})\nkeep = []\ndef test_2(): pass\n")
    assert done.returncode == 1
    assert "left processes behind" in done.stdout
    assert "time.sleep(600)" in done.stdout
    assert "2 passed, 1 error" in done.stdout


def test_golden_compares_and_updates(tmp_path: Path) -> None:
    text = "def test_it(golden): golden(TEXT, 'room/it.txt')\n"
    assert "run with --update-golden" in outcome(tmp_path, text + "TEXT = 'a\\n'").stdout
    assert outcome(tmp_path, text + "TEXT = 'a\\n'", "--update-golden").returncode == 0
    assert (tmp_path / "tests/golden/room/it.txt").read_text() == "a\n"
    assert outcome(tmp_path, text + "TEXT = 'a\\n'").returncode == 0
    assert outcome(tmp_path, text + "TEXT = 'b\\n'").returncode == 1

"""Whole files as they are written for one fixed launch."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reprokit.emit.table import TARGETS
from reprokit.model.launch import PYTHON, Launch, Provenance, without_header
from reprokit.render import render

Emit = Callable[..., dict[str, str]]
NAMES = ("launch/run.sh", "launch/repro.sh", "container/Dockerfile", "README.md")
SCRIPTS = NAMES[:2]
VARIANTS: dict[str, dict[str, Any]] = {
    "fixed": {},
    "no code": {"base": None},
    "no packages": {"packages": (), "requirements": None},
    "packages without a lock": {"requirements": None},
    "no Python": {"python": None, "packages": (), "requirements": None},
    "no variables": {"env": {}},
    "pieces around the interpreter": {"command": (f"a{PYTHON}b{PYTHON}", PYTHON, "")},
    "hostile": {"command": ("-x", "$(touch x)", "`touch x`", "a\nb", "'"), "env": {"A": "\n'; touch x\n"}},
}


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_text(emit: Emit, golden: Callable[[str, str], None], name: str) -> None:
    golden(emit()[name], f"emit/{name.rsplit('/', 1)[-1]}")


def test_nothing_else_is_written(emit: Emit) -> None:
    assert sorted(emit()) == sorted(NAMES)


def test_two_renders_are_equal(emit: Emit, launch: Launch) -> None:
    """Whatever order the variables came in."""
    assert emit() == emit() == emit(env=dict(reversed(launch.env.items())))


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_the_header_says_who_and_never_counts(target: Any, launch: Launch, provenance: Provenance) -> None:
    other = Provenance(version="0.0.1", kit="another", subject=None, command="reprokit run x")
    ours, theirs = target.files(launch, provenance, render), target.files(launch, other, render)
    for name in ours:
        assert provenance.text in ours[name] and other.text in theirs[name]
        assert "9.9.9" not in without_header(ours[name])
        assert without_header(ours[name]) == without_header(theirs[name]) != ours[name]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("command", ("Made by reprokit A",)),
        ("env", {"NOTE": "Made by reprokit A"}),
        ("env", {"NOTE": "one\nMade by reprokit A\ntwo"}),
    ],
)
def test_only_the_header_is_left_out(emit: Emit, field: str, value: Any) -> None:
    """A line of the job that happens to hold the header's words is part of the script that is compared."""
    text = without_header(emit(**{field: value})["launch/run.sh"])
    assert "Made by reprokit A" in text


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SCRIPTS)
def test_bash_can_read_it(emit: Emit, variant: str, name: str) -> None:
    text = emit(**VARIANTS[variant]).get(name)
    if text is None:
        assert VARIANTS[variant] == {"base": None} and name == "launch/repro.sh"
        return
    done = subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert text.startswith("#!/usr/bin/env bash\n")


@pytest.mark.parametrize("variant", VARIANTS)
def test_shellcheck_has_nothing_to_say(emit: Emit, tmp_path: Path, variant: str) -> None:
    program = shutil.which("shellcheck", path=str(Path(sys.executable).parent)) or shutil.which("shellcheck")
    if program is None:
        pytest.skip("no shellcheck here")
    texts = emit(**VARIANTS[variant])
    paths = []
    for name in SCRIPTS:
        if name in texts:
            path = tmp_path / name.replace("/", "-")
            path.write_text(texts[name])
            paths.append(str(path))
    done = subprocess.run(
        [program, "--severity=warning", *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_repro_is_short_enough_to_paste(emit: Emit) -> None:
    assert len(emit()["launch/repro.sh"].splitlines()) <= 12


def test_no_text_has_a_mark_of_ours_left(emit: Emit) -> None:
    for name, text in emit().items():
        assert "\0" not in text and "None" not in text and "{{" not in text, name
        assert text.endswith("\n") and "\n\n\n" not in text, name


def test_where_there_is_no_code_there_is_no_checkout(emit: Emit) -> None:
    texts = emit(base=None)
    assert sorted(texts) == ["README.md", "launch/run.sh"]
    assert "git" not in without_header(texts["launch/run.sh"]).replace("digits", "")
    assert "git" not in texts["README.md"]


def test_a_container_needs_its_base(emit: Emit) -> None:
    assert "container/Dockerfile" not in emit(container_base=None)


def test_what_is_loose_in_the_container_is_said(emit: Emit) -> None:
    text = emit()["container/Dockerfile"]
    assert "#   - python:3.12-slim is a tag, not a digest" in text
    pinned = emit(container_base="python@sha256:" + "0" * 64)["container/Dockerfile"]
    assert "is a tag" not in pinned and "#   - git and its dependencies" in pinned

"""Locks: hashed, from no named registry, and in step with pyproject.toml and the recipe."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.source_tree import ROOT

FOLDER = ROOT / "requirements"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
RUN = [
    *PROJECT["project"]["dependencies"],
    *EXTRAS["demo"],
    *EXTRAS["hang"],
    *PROJECT["build-system"]["requires"],
]


def pins(name: str) -> dict[str, list[str]]:
    """Package -> its locked versions (more than one where a marker tells them apart)."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / name).read_text().splitlines():
        match = re.match(r"([a-z0-9-]+)==(\S+)", line)
        if match:
            found.setdefault(match[1], []).append(match[2])
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.name)
def test_locks_hold_hashed_pins_and_nothing_else(path: Path) -> None:
    text = re.sub(r"^ *#.*\n", "", path.read_text(), flags=re.MULTILINE).replace("\\\n", "")
    for line in text.splitlines():
        assert re.fullmatch(r"[a-z0-9-]+==\S+( ; [^#]+?)?( +--hash=sha256:[0-9a-f]{64})+ *", line), line


@pytest.mark.parametrize(("name", "wanted"), [("run.txt", RUN), ("dev.txt", RUN + EXTRAS["dev"])])
def test_locks_hold_what_pyproject_asks_for(name: str, wanted: list[str]) -> None:
    locked = pins(name)
    for text in wanted:
        requirement = Requirement(text)
        versions = locked.get(canonicalize_name(requirement.name), [])
        assert versions, f"{text} is not in {name}: make lock"
        assert all(requirement.specifier.contains(version) for version in versions), f"{text}: make lock"


def test_both_environments_hold_the_same_versions() -> None:
    run, dev = pins("run.txt"), pins("dev.txt")
    assert {name: dev.get(name) for name in run} == run


def test_the_demo_is_locked_as_its_recipe_pins_it() -> None:
    recipe = (ROOT / "recipes/host-oom/requirements.txt").read_text()
    assert sorted(re.findall(r"^[A-Za-z0-9._-]+==[^\s;\\]+", recipe, re.MULTILINE)) == sorted(EXTRAS["demo"])

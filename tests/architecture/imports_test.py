"""Third-party libraries: declared, each behind one module, and none of the heavy ones paid for by --help."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source_tree import PACKAGE, ROOT, imports, modules

# library -> the one module that imports it, and only inside functions
HOMES = {
    "git": "reprokit/probe/git.py",
    "jinja2": "reprokit/render.py",
    "rich": "reprokit/output.py",
    "yaml": "reprokit/store/yamlfile.py",
    # come with the issues that use them
    "docker": "",
    "hyperscan": "",
    "psutil": "",
    "pynvml": "",
    # only ever in the job's own process
    "numpy": "",
    "torch": "",
}
# these import in 50 to 90 ms and are used by nearly every verb
EVERYWHERE = {"click", "msgspec"}
# import name -> distribution name, where they differ
DISTRIBUTIONS = {"git": "gitpython", "pynvml": "nvidia-ml-py", "yaml": "pyyaml"}

VERBS = sorted(path.stem for path in (PACKAGE / "commands").glob("[!_]*.py"))


def third_party() -> list[tuple[str, str, int, bool]]:
    return [
        (one.top, module.path, one.line, one.deferred)
        for module in modules()
        for one in imports(module.tree)
        if one.top and not one.name.startswith(".") and one.top not in {"reprokit", *sys.stdlib_module_names}
    ]


def test_each_library_has_one_home_and_is_imported_late() -> None:
    breaks = []
    for top, path, line, deferred in third_party():
        if top in EVERYWHERE:
            continue
        if HOMES.get(top) != path:
            breaks.append(f"{path}:{line} imports {top}, at home in {HOMES.get(top) or 'no module yet'}")
        elif not deferred:
            breaks.append(f"{path}:{line} imports {top} outside a function")
    assert not breaks, "\n" + "\n".join(breaks)


def test_homes_exist() -> None:
    assert [path for path in HOMES.values() if path and not (ROOT / path).is_file()] == []


def test_each_library_is_a_declared_dependency_and_each_declared_one_is_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[^a-z0-9-]", line)[0] for line in project["dependencies"]}
    used = {DISTRIBUTIONS.get(top, top) for top, *_ in third_party()}
    assert used == declared


@pytest.mark.parametrize(
    "words", [["--help"], ["--version"], [], *([verb, "--help"] for verb in VERBS)], ids=" ".join
)
def test_help_imports_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "reprokit", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if not line.startswith("import time:")]
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip().split(".")[0] for line in lines}
    assert "reprokit" in imported
    if words:
        assert done.returncode == 0, "\n".join(told)
        assert done.stdout.strip()
    assert sorted(imported & HOMES.keys()) == []

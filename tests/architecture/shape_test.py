"""Size and shape: what keeps the tree readable for someone new."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source_tree import PACKAGE, ROOT, modules, parsed, tracked_files

FILE_LINES = 300
FUNCTION_LINES = 60
FILE_BYTES = 25 * 2**20

# path or path:function -> why it may be longer
LONGER: dict[str, str] = {}

UNTESTED_ALONE = {"__init__", "__main__", "version", "options"}
"""Options are tested by the tests of each verb that takes them."""

# text that only makes sense on one person's machine
HOME_PATHS = re.compile(r"(?<![\w.$}~-])/(?:home|Users)/[A-Za-z][\w.-]*/|(?<![\w.$}~-])/root/")
# path -> why such text stands there
HOME_PATHS_MEANT = {
    "reprokit/redact": "its tables hold samples of what it finds",
    "tests": "evidence from real machines",
    "docs": "examples of evidence",
}

# what a newer Python brought and the agent's oldest Python lacks
AGENT_PYTHON = (3, 8)
NEWER_CALLS = {
    "removeprefix",
    "removesuffix",
    "pairwise",
    "bit_count",
    "is_relative_to",
    "with_stem",
    "hardlink_to",
}
NEWER_KEYWORDS = {"strict", "slots", "kw_only", "root_dir", "process_group"}
NEWER_MODULES = {"tomllib", "zoneinfo", "graphlib"}


def python_files() -> Iterator[Path]:
    for folder in ("reprokit", "recipes", "tools"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def test_package_files_are_empty() -> None:
    """A package is a folder: importing one must not import its neighbours."""
    filled = [
        str(path.relative_to(ROOT)) for path in PACKAGE.rglob("__init__.py") if path.read_text().strip()
    ]
    assert filled == []


def test_files_and_functions_are_short() -> None:
    long = {}
    for path in python_files():
        module = parsed(path)
        if module.lines > FILE_LINES:
            long[module.path] = module.lines
        for function in functions(module.tree):
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if lines > FUNCTION_LINES:
                long[f"{module.path}:{function.name}"] = lines
    assert {name: lines for name, lines in long.items() if name not in LONGER} == {}
    assert LONGER.keys() - long.keys() == set(), "no longer long: take it off the list"


def test_tracked_files_are_small() -> None:
    sizes = {str(path.relative_to(ROOT)): path.stat().st_size for path in tracked_files()}
    assert sum(sizes.values()) < FILE_BYTES, sorted(sizes.items(), key=lambda item: -item[1])[:10]


def test_nothing_speaks_of_one_machine() -> None:
    found = []
    for path in tracked_files():
        name = path.relative_to(ROOT).as_posix()
        if any(name.startswith(meant + "/") for meant in HOME_PATHS_MEANT):
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{name}: {match.group()}" for match in HOME_PATHS.finditer(text)]
    assert found == []


def test_every_room_has_tests() -> None:
    """tests/ mirrors reprokit/: a folder for a folder, room_test.py for a module."""
    missing = []
    for module in modules():
        if module.path.count("/") == 1 and module.room not in UNTESTED_ALONE:
            missing += [module.room] if not (ROOT / "tests" / f"{module.room}_test.py").is_file() else []
        elif module.path.count("/") > 1 and not list((ROOT / "tests" / module.room).rglob("*_test.py")):
            missing.append(module.room)
    assert sorted(set(missing)) == []


def test_the_agent_runs_on_an_old_python() -> None:
    breaks = []
    for path in sorted((PACKAGE / "agent").rglob("*.py")):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        tree = ast.parse(text, name, feature_version=AGENT_PYTHON)
        if text.strip() and "from __future__ import annotations" not in text:
            breaks.append(f"{name}: annotations are evaluated")
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in NEWER_CALLS:
                breaks.append(f"{name}:{node.lineno} .{node.attr}")
            if isinstance(node, ast.keyword) and node.arg in NEWER_KEYWORDS:
                breaks.append(f"{name}:{node.lineno} {node.arg}=")
            if isinstance(node, ast.Import) and {alias.name for alias in node.names} & NEWER_MODULES:
                breaks.append(f"{name}:{node.lineno} import")
            if isinstance(node, ast.Match if hasattr(ast, "Match") else ()):
                breaks.append(f"{name}:{node.lineno} match")
    assert breaks == []

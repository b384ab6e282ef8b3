"""What import-linter cannot see: the pure rooms touch nothing, and only one room prints."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source_tree import Module, imports, modules

PURE_ROOMS = {"model", "parse", "analyze", "redact", "emit", "report"}

# the world: files, processes, network, environment, clock, chance, threads
WORLD_MODULES = {
    *(
        "asyncio",
        "concurrent",
        "ctypes",
        "fcntl",
        "fileinput",
        "getpass",
        "glob",
        "http",
        "io",
        "locale",
        "logging",
    ),
    *(
        "mmap",
        "multiprocessing",
        "os",
        "platform",
        "pwd",
        "random",
        "resource",
        "secrets",
        "select",
        "shutil",
    ),
    *(
        "signal",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "uuid",
    ),
    *("warnings", "webbrowser", "linecache"),
}
# parts of those that are plain functions of their arguments
HARMLESS = {"urllib.parse", "os.path"}
WORLD_CALLS = {"open", "print", "input", "breakpoint", "exec", "eval", "__import__"}
WORLD_METHODS = {
    *(
        ".read_text",
        ".read_bytes",
        ".write_text",
        ".write_bytes",
        ".exists",
        ".is_file",
        ".is_dir",
        ".is_symlink",
    ),
    *(
        ".iterdir",
        ".rglob",
        ".stat",
        ".lstat",
        ".unlink",
        ".mkdir",
        ".rmdir",
        ".touch",
        ".chmod",
        ".symlink_to",
    ),
    *(".expanduser", ".resolve", ".absolute", ".cwd", ".home", ".readlink", ".samefile", ".open"),
    *(".now", ".utcnow", ".today", ".fromtimestamp", ".astimezone"),
}
WORLD_NAMES = {"Path", "PosixPath"}
"""Of pathlib; PurePath and PurePosixPath are only text."""

# room -> why it may print
PRINTERS = {
    "output": "all printing goes through it",
    "agent": "runs where reprokit is not installed",
}


def touches(module: Module) -> Iterator[str]:
    for one in imports(module.tree):
        if one.top in WORLD_MODULES and one.name not in HARMLESS:
            yield f"{module.path}:{one.line} imports {one.name}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "pathlib":
            bad = sorted({alias.name for alias in node.names} & WORLD_NAMES)
            if bad:
                yield f"{module.path}:{node.lineno} imports pathlib.{bad[0]}: PurePosixPath is enough for text"
        if isinstance(node, ast.Call):
            name = called(node)
            if name in WORLD_CALLS or name in WORLD_METHODS:
                yield f"{module.path}:{node.lineno} calls {name}()"


def called(node: ast.Call) -> str:
    """`open` for open(...), `.open` for anything.open(...)."""
    if isinstance(node.func, ast.Name):
        return node.func.id
    return "." + node.func.attr if isinstance(node.func, ast.Attribute) else ""


def prints(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and called(node) in {"print", ".echo", ".secho", "echo", "secho"}:
            yield f"{module.path}:{node.lineno} {called(node)}()"
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.stdout", "sys.stderr"}:
            yield f"{module.path}:{node.lineno} {ast.unparse(node)}"


def test_pure_rooms_touch_nothing() -> None:
    breaks = [text for module in modules() if module.room in PURE_ROOMS for text in touches(module)]
    assert not breaks, "\n" + "\n".join(breaks)


def test_only_output_prints() -> None:
    breaks = [text for module in modules() if module.room not in PRINTERS for text in prints(module)]
    assert not breaks, "\n" + "\n".join(breaks)


@pytest.mark.parametrize(
    "text",
    [
        "open('x')",
        "import os",
        "import os.path as p, subprocess",
        "from time import time",
        "def late():\n    import socket",
        "from pathlib import Path",
        "def f(p):\n    return p.read_text()",
        "def f(p):\n    return p.exists()",
        "from datetime import datetime, UTC\nx = datetime.now(UTC)",
        "import datetime\nx = datetime.date.today()",
        "print('x')",
    ],
)
def test_a_touch_is_seen(text: str) -> None:
    assert list(touches(Module("reprokit/parse/sample.py", ast.parse(text), 1)))


@pytest.mark.parametrize(
    "text",
    [
        "from pathlib import PurePosixPath\nx = PurePosixPath('a').name",
        "from urllib.parse import urlsplit",
        "import re, hashlib, datetime",
        "def f(now: object, x: list[str]) -> None:\n    x.remove('open')",
    ],
)
def test_plain_functions_are_left_alone(text: str) -> None:
    assert not list(touches(Module("reprokit/parse/sample.py", ast.parse(text), 1)))


@pytest.mark.parametrize(
    "text", ["print('x')", "import click\nclick.echo('x')", "import sys\nsys.stderr.write('x')"]
)
def test_a_print_is_seen(text: str) -> None:
    assert list(prints(Module("reprokit/store/sample.py", ast.parse(text), 1)))

"""The package's sources as syntax trees, for the tests of this folder."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "reprokit"


@dataclass(frozen=True)
class Module:
    path: str
    """Relative to the checkout, with slashes."""
    tree: ast.Module
    lines: int

    @property
    def room(self) -> str:
        """`parse` for reprokit/parse/readers/x.py, `cli` for reprokit/cli.py."""
        return self.path.split("/")[1].removesuffix(".py")


@dataclass(frozen=True)
class Import:
    name: str
    """Absolute and dotted; a relative import keeps its leading dots."""
    line: int
    deferred: bool
    """Inside a function, or for the type checker only: importing the module does not run it."""

    @property
    def top(self) -> str:
        return self.name.split(".")[0]


def parsed(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(path.relative_to(ROOT).as_posix(), ast.parse(text, str(path)), len(text.splitlines()))


@cache
def modules() -> tuple[Module, ...]:
    return tuple(parsed(path) for path in sorted(PACKAGE.rglob("*.py")))


def imports(tree: ast.Module) -> Iterator[Import]:
    yield from _imports(tree, deferred=False)


def _imports(node: ast.AST, deferred: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(alias.name, node.lineno, deferred) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield Import("." * node.level + (node.module or ""), node.lineno, deferred)
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        for child in node.body:
            yield from _imports(child, deferred=True)
        for child in node.orelse:
            yield from _imports(child, deferred)
    else:
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            yield from _imports(child, deferred or inside)


@cache
def tracked_files() -> tuple[Path, ...]:
    """Files in git or about to be."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(words, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return tuple(ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file())

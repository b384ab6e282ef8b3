"""A tiny failing job as a recipe: one rank that runs out of memory in step 3 and hangs, in a second instead of ten."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

from reprokit.probe import git

TRAIN = '''\
"""One rank that trains nothing: the lines of a training job, and its memory."""

import os
import sys
import time
import traceback

from tiny import step


def say(text):
    os.write(1, (text + "\\n").encode())


def main(limit, steps):
    now = "2026-10-02 03:04:05"
    say(f"> limit: {limit}")
    for number in range(1, steps + 1):
        time.sleep(float(os.environ.get("TINY_STEP_S", "0")))
        try:
            held = step.train(number, limit)
        except MemoryError:
            for text in traceback.format_exc().splitlines():
                say(f"[rank0]: {text}")
            os.read(os.pipe()[0], 1)
        done = f"iteration {number:8d}/{steps:8d} | consumed samples: {number:12d}"
        say(f" [{now}] {done} | elapsed time per iteration (ms): 1.0 | lm loss: 1.000000E+00 |")
        figures = f"mem-allocated-gigabytes: {held / 1e9:.5g} | mem-max-allocated-gigabytes: {held / 1e9:.5g}"
        say(f"[Rank 0] (after {number} iterations) memory (GB) | {figures}")
    say(f"[after training is done] datetime: {now} ")


main(sys.argv[1], int(sys.argv[2]))
'''
STEP = '''\
"""The step that fails."""

SPARE = 4_000_000


def train(number, limit):
    held = bytearray(SPARE)
    if number == 3:
        grow(limit)
    return len(held)


def grow(limit):
    wanted = 1 if limit == "none" else 10**15
    return bytearray(wanted)
'''
PROGRAM = {"train.py": TRAIN, "tiny/__init__.py": "", "tiny/step.py": STEP}
STATEMENT = "return bytearray(wanted)"
SITE = "tiny/step.py:grow"

_HEAD = "diff --git a/tiny/step.py b/tiny/step.py\n--- a/tiny/step.py\n+++ b/tiny/step.py\n"
PATCHES = {
    "ask-for-less": _HEAD
    + """\
@@ -11,5 +11,5 @@ def train(number, limit):


 def grow(limit):
-    wanted = 1 if limit == "none" else 10**15
+    wanted = 1 if limit == "none" else 10**3
     return bytearray(wanted)
""",
    "hold-less": _HEAD
    + """\
@@ -1,6 +1,6 @@
 \"\"\"The step that fails.\"\"\"

-SPARE = 4_000_000
+SPARE = 3_000_000


 def train(number, limit):
""",
    "move-it": _HEAD
    + """\
@@ -12,4 +12,8 @@ def train(number, limit):

 def grow(limit):
     wanted = 1 if limit == "none" else 10**15
+    return expand(wanted)
+
+
+def expand(wanted):
     return bytearray(wanted)
""",
    "of-another-tree": _HEAD
    + """\
@@ -12,4 +12,4 @@ def train(number, limit):

 def shrink(limit):
-    wanted = 5
+    wanted = 6
     return bytearray(wanted)
""",
}
RECIPE = """\
schema: reprokit/recipe/1
name: tiny
title: The third step asks for too much
summary: A job of one rank asks for more memory than there is in its third step, and hangs.

source:
  path: program
  commit: "COMMIT"

requires:
  python: ">=3.11"

job:
  command: ["{python}", train.py, "{address_space_mib}", "{steps}"]
  ranks: 1
  steps: 4

limits:
  address_space_mib: 64
  time_s: 60

hang:
  end_after_s: 1

expect:
  pass_iterations: 4
  behavior: All four steps complete.

candidates:
  - id: ask-for-less
    title: Ask for less
    patch: patches/ask-for-less.patch
    expect: fixes
  - id: hold-less
    title: Hold less in every step
    patch: patches/hold-less.patch
    expect: does_not_fix

container:
  base: python:3.12-slim
"""


def commit_of(program: Path, name: str = "tiny") -> str:
    """The commit that reprokit makes of a recipe's program."""
    with tempfile.TemporaryDirectory() as scratch:
        message = f"{name}: the program as shipped with its recipe"
        return git.commit_folder(program, Path(scratch, "repository"), message)


@cache
def _tiny() -> str:
    with tempfile.TemporaryDirectory() as scratch:
        _write(Path(scratch), PROGRAM)
        return commit_of(Path(scratch))


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_recipe(folder: Path, *changes: tuple[str, str], program: dict[str, str] | None = None) -> Path:
    """The tiny recipe in a new `folder`; `changes`: texts of recipe.yaml and what stands there instead.

    `program`: files that replace or join those of the program; the commit is that of what is written.
    """
    _write(folder / "program", {**PROGRAM, **(program or {})})
    _write(folder / "patches", {f"{name}.patch": PATCHES[name] for name in ("ask-for-less", "hold-less")})
    text = RECIPE.replace("COMMIT", commit_of(folder / "program") if program else _tiny())
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    (folder / "recipe.yaml").write_text(text, encoding="utf-8")
    return folder


def write_patch(path: Path, name: str) -> Path:
    """One of PATCHES as a file."""
    path.write_text(PATCHES[name], encoding="utf-8")
    return path


def copy_kit(kit: Path, target: Path) -> Path:
    """A kit at another place, as `cp -a` makes it."""
    shutil.copytree(kit, target, symlinks=True)
    return target

"""One fixed launch, and its scripts run by a real bash around a stand-in for the agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reprokit.emit.table import TARGETS
from reprokit.model.launch import PYTHON, Launch, Provenance
from reprokit.render import render

COMMIT = "0123456789abcdef0123456789abcdef01234567"
# writes down what a program gets to see
WITNESS = """
import json, os, sys
with open(os.environ["WITNESS"], "w") as file:
    json.dump({"argv": sys.argv, "env": dict(os.environ), "cwd": os.getcwd()}, file)
sys.exit(int(os.environ.get("EXIT", "0")))
"""


@pytest.fixture(scope="session")
def launch() -> Launch:
    return Launch(
        name="host-oom",
        base=COMMIT,
        command=(PYTHON, "train.py", "--ranks", "8", "--note", "it's $HOME"),
        env={"OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "NOTE": 'a "b" $c'},
        end_hang_s=4,
        time_s=120,
        python=">=3.11",
        packages=("numpy==2.4.6",),
        requirements="inputs/requirements.txt",
        container_base="python:3.12-slim",
    )


@pytest.fixture(scope="session")
def provenance() -> Provenance:
    return Provenance(version="9.9.9", kit="host-oom", subject="0123456789abcdef", command="reprokit emit")


@pytest.fixture(scope="session")
def emit(launch: Launch, provenance: Provenance) -> Callable[..., dict[str, str]]:
    """emit(field=value, ...): all files of the fixed launch with some fields replaced."""

    def files(origin: Provenance = provenance, **changes: Any) -> dict[str, str]:
        changed = msgspec.structs.replace(launch, **changes)
        found: dict[str, str] = {}
        for target in TARGETS:
            if target.applies(changed):
                found |= target.files(changed, origin, render)
        return found

    return files


class Played:
    """What came of a script: its end, and what the program in it saw."""

    def __init__(self, done: subprocess.CompletedProcess[bytes], witness: Path) -> None:
        self.code = done.returncode
        self.out, self.err = done.stdout.decode(), done.stderr.decode()
        seen = json.loads(witness.read_text()) if witness.exists() else {}
        self.started = bool(seen)
        self.env: dict[str, str] = seen.get("env", {})
        options = list(seen.get("argv", ()))
        options = options[: options.index("--")] if "--" in options else []
        for name, value in pairwise(options):
            if name == "--set-env":  # what the agent does with them
                self.env[value.partition("=")[0]] = value.partition("=")[2]
            elif name == "--unset-env":
                self.env.pop(value, None)
        self.cwd: str = seen.get("cwd", "")
        self.argv: list[str] = seen.get("argv", [])
        self.words = self.argv[self.argv.index("--") + 1 :] if "--" in self.argv else self.argv[1:]


@pytest.fixture
def kit(tmp_path: Path) -> Path:
    """A kit's folder with an agent that only writes down what it was started with."""
    agent = tmp_path / "job.kit" / "launch" / "agent"
    agent.mkdir(parents=True)
    (agent / "__main__.py").write_text(WITNESS)
    return tmp_path / "job.kit"


@pytest.fixture
def play(kit: Path, tmp_path: Path) -> Callable[..., Played]:
    """play(text, "run.sh"): the text run by bash as KIT/launch/run.sh, in a folder that must stay empty."""

    def run(text: str, name: str = "run.sh", **env: str) -> Played:
        witness, here = tmp_path / "witness.json", tmp_path / "here"
        here.mkdir(exist_ok=True)
        (tmp_path / "tmp").mkdir(exist_ok=True)
        (kit / "launch" / name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["bash", str(kit / "launch" / name)],
            cwd=here,
            capture_output=True,
            timeout=60,
            check=False,
            env=os.environ
            | {"PYTHON": sys.executable, "WITNESS": str(witness), "TMPDIR": str(tmp_path / "tmp")}
            | env,
        )
        assert list(here.iterdir()) == [], "something was executed that should not be"
        return Played(done, witness)

    return run

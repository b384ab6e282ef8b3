"""One writer at a time."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reprokit.errors import SafetyError
from reprokit.store.kit import Kit

TAKE = """
import sys, time
from pathlib import Path
from reprokit.store.kit import open_kit
with open_kit(Path(sys.argv[1])).lock():
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_two_writers_at_once_are_refused(kit: Kit) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TAKE, str(kit.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin and other.stdout and other.stdout.readline() == "held\n"
        with pytest.raises(SafetyError, match="another reprokit is writing to this kit"), kit.lock():
            pytest.fail("two at once")
        other.stdin.write("\n")
        other.stdin.flush()
        with kit.lock(wait_s=10):
            assert other.wait(10) == 0


def test_a_lock_ends_with_what_it_guards(kit: Kit) -> None:
    with pytest.raises(ZeroDivisionError), kit.lock():
        raise ZeroDivisionError
    with kit.lock():
        pass

from __future__ import annotations

from pathlib import Path

import pytest

from reprokit.errors import UsageError
from reprokit.store.layout import Layout, check_run_id


def test_where_things_stand() -> None:
    layout = Layout(Path("/x/job.kit"))
    assert layout.name == "job"
    names = {
        "declaration": "kit.yaml", "inputs": "inputs", "recipe": "inputs/recipe.yaml",
        "bundle": "inputs/source.bundle", "patches": "inputs/patches", "notes": "inputs/notes.md",
        "evidence": "evidence", "derived": "derived", "container": "container", "launch": "launch",
        "report": "report", "readme": "README.md", "sums": "SHA256SUMS",
    }  # fmt: skip
    for attribute, name in names.items():
        assert getattr(layout, attribute) == Path("/x/job.kit") / name


def test_the_spool_lies_beside_the_kit() -> None:
    """Never in it: it is raw and must not be packed."""
    assert Layout(Path("/x/job.kit")).open == Path("/x/job.kit.open")
    assert Layout(Path("/x/job")).open == Path("/x/job.open")


@pytest.mark.parametrize("run_id", ["r", "recorded-20261130T101112Z", "A.b_c-1", "0", "x" * 80])
def test_run_ids(run_id: str) -> None:
    assert check_run_id(run_id) == run_id


@pytest.mark.parametrize(
    "run_id", ["", "..", ".x", "-r", "_r", "a/b", "a\\b", "a b", "a\n", "x" * 81, "ä", "a$b"]
)
def test_what_is_no_run_id(run_id: str) -> None:
    with pytest.raises(UsageError, match="is no run id") as caught:
        check_run_id(run_id)
    assert caught.value.hint

"""`--set`: recipe keys put in from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprokit import resources
from reprokit.errors import InputError
from reprokit.model.recipe import Limits
from reprokit.store import recipes


@pytest.fixture
def path() -> Path:
    return resources.recipe("host-oom")


def test_an_override_takes_the_place_of_a_value(path: Path) -> None:
    changed = recipes.load(
        path,
        {
            "job.ranks": "2",
            "limits.address_space_mib": "null",
            "limits.time_s": "5",
            "env.NEW": '"on"',
            "job.command.1": "other.py",
            "candidates.0.expect": "inconclusive",
        },
    )
    assert (changed.job.ranks, changed.limits) == (2, Limits(address_space_mib=None, time_s=5))
    assert changed.env == {**recipes.load(path).env, "NEW": "on"}
    assert changed.job.command[1] == "other.py"
    assert changed.candidates[0].expect == "inconclusive"


@pytest.mark.parametrize(
    "key",
    ["nope", "job.rank", "nope.x", "job.ranks.x", "job..ranks", "", "candidates.2.id", "candidates.x", "source.0"],
)  # fmt: skip
def test_an_override_of_no_key_is_refused(path: Path, key: str) -> None:
    with pytest.raises(InputError) as caught:
        recipes.load(path, {key: "1"})
    said = str(caught.value)
    assert "--set" in said or any(step in said for step in key.split(".") if step)


@pytest.mark.parametrize("key", ["job.command.²", "candidates.-1.id", "candidates.٣.id"])
def test_an_odd_index_is_no_crash(path: Path, key: str) -> None:
    with pytest.raises(InputError):
        recipes.load(path, {key: "x"})


@pytest.mark.parametrize("value", ["two", "3.10", "[", "", "0", "{a: 1}"])
def test_an_override_that_does_not_fit_names_the_option(path: Path, value: str) -> None:
    """The file is right; the words on the command line are not."""
    with pytest.raises(InputError) as caught:
        recipes.load(path, {"job.ranks": value})
    assert "--set job.ranks" in str(caught.value)


def test_an_override_keeps_the_rest(path: Path) -> None:
    assert recipes.load(path, {"job.ranks": "8"}) == recipes.load(path)

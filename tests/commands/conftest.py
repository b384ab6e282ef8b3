"""A desk for each test, and kits made once a session that nobody may change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("tests.commands.harness")

from tests.commands.harness import Answer, Desk  # noqa: E402 - its assertions are explained from here on
from tests.commands.recipe_maker import copy_kit, write_recipe  # noqa: E402


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A folder to call reprokit in. Afterwards no process of it runs, and no temporary file is left."""
    place = Desk(tmp_path)
    yield place
    place.tidy()


@pytest.fixture(scope="session")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny recipe's folder, to read only."""
    return write_recipe(tmp_path_factory.mktemp("recipe") / "tiny")


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory, recipe: Path) -> tuple[Path, Answer]:
    """The tiny recipe's kit after `make --json`, and what that said. To read only: copy it with `kit`."""
    desk = Desk(tmp_path_factory.mktemp("made"))
    answer = desk.call("make", recipe, "-o", "tiny.kit", "--json", code=0)
    desk.tidy()
    return desk.folder / "tiny.kit", answer


@pytest.fixture
def kit(desk: Desk, made: tuple[Path, Answer]) -> Path:
    """A copy of the made kit that a test may change."""
    return copy_kit(made[0], desk.folder / "tiny.kit")

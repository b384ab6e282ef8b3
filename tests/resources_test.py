from __future__ import annotations

from pathlib import Path

import pytest

from reprokit import resources
from reprokit.errors import InputError, ReprokitError


def test_the_shipped_folders() -> None:
    assert (resources.folder("templates") / "launch" / "run.sh.j2").is_file()
    assert (resources.folder("recipes") / "host-oom" / "recipe.yaml").is_file()
    assert (resources.agent() / "__main__.py").is_file()


def test_what_lies_in_the_package_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wheel carries its own; a checkout around it does not count."""
    package = tmp_path / "reprokit"
    for place in (package / "_data" / "recipes" / "inside", tmp_path / "recipes" / "beside"):
        place.mkdir(parents=True)
        (place / "recipe.yaml").write_text("")
    monkeypatch.setattr(resources, "_PACKAGE", package)
    assert resources.recipe_names() == ["inside"]
    (package / "_data").rename(tmp_path / "away")
    assert resources.recipe_names() == ["beside"]


def test_an_installation_that_lacks_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "reprokit")
    with pytest.raises(ReprokitError, match="has no templates/") as caught:
        resources.folder("templates")
    assert caught.value.hint == "install it again"


def test_a_recipe_by_name() -> None:
    assert resources.recipe("host-oom") == resources.folder("recipes") / "host-oom" / "recipe.yaml"
    assert "host-oom" in resources.recipe_names()


@pytest.mark.parametrize("name", ["", "nope", "../recipes/host-oom", "host-oom/", ".", "host-oom/program"])
def test_other_names_are_refused_with_those_that_exist(name: str) -> None:
    with pytest.raises(InputError) as caught:
        resources.recipe(name)
    assert repr(name) in str(caught.value) and "host-oom" in (caught.value.hint or "")

"""Finds templates/ and recipes/: inside the wheel, or beside the package in a checkout."""

from __future__ import annotations

from pathlib import Path

from reprokit.errors import InputError, ReprokitError

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder `templates` or `recipes` that came with this reprokit."""
    for place in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise ReprokitError(f"this installation of reprokit has no {name}/", hint="install it again")


def agent() -> Path:
    """The agent's folder, to be started from or copied into a kit."""
    return _PACKAGE / "agent"


def recipe_names() -> list[str]:
    """Names of the shipped recipes."""
    return sorted(path.parent.name for path in folder("recipes").glob("*/recipe.yaml"))


def recipe(name: str) -> Path:
    """`recipe.yaml` of a shipped recipe. Raises InputError naming those that exist."""
    if name in recipe_names():
        return folder("recipes") / name / "recipe.yaml"
    raise InputError(
        f"no recipe file or shipped recipe {name!r}", hint="shipped: " + ", ".join(recipe_names())
    )

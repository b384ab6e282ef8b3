"""A kit from a recipe: its code as a bundle, its patches, its pins. Everything is copied in, nothing pointed at."""

from __future__ import annotations

from pathlib import Path

from reprokit import resources
from reprokit.errors import InputError, SafetyError
from reprokit.launch import scratch
from reprokit.model.kit import Candidate, Expect
from reprokit.model.recipe import Recipe
from reprokit.probe import git
from reprokit.store import kit as store_kit
from reprokit.store import recipes
from reprokit.store.kit import Kit

MAX_INPUT = 64 * 2**20
"""Bytes of one input file."""


def find_recipe(word: str) -> Path:
    """The recipe file that `word` means: a file, a folder with `recipe.yaml`, or the name of a shipped one."""
    path = Path(word)
    if path.is_dir() and (path / "recipe.yaml").is_file():
        return path / "recipe.yaml"
    if path.is_file():
        return path
    if path.is_dir():
        raise InputError(f"{word}: neither a kit nor a folder with a recipe.yaml")
    return resources.recipe(word)


def default_target(word: str) -> Path:
    """`./NAME.kit`, NAME from the recipe."""
    return Path(f"{recipes.load(find_recipe(word)).name}.kit")


def create(recipe_file: Path, target: Path) -> Kit:
    """The kit at `target` made from a recipe, or the one that is there if it was made from the same recipe.

    Raises SafetyError where the kit was made from another recipe; InputError for anything the recipe names in vain.
    """
    recipe = recipes.load(recipe_file)
    folder = recipe_file.resolve().parent
    code = inside(
        folder, recipe.source.path, recipes.place(recipe_file, "source", "path"), folder_wanted=True
    )
    texts = {"recipe.yaml": _read(recipe_file)}
    if recipe.requires.file:
        texts["requirements.txt"] = _read(
            inside(folder, recipe.requires.file, recipes.place(recipe_file, "requires", "file"))
        )
    for index, candidate in enumerate(recipe.candidates):
        place = recipes.place(recipe_file, "candidates", index, "patch")
        texts[f"patches/{candidate.id}.patch"] = _read(inside(folder, candidate.patch, place))
    existing = store_kit.is_kit(target)
    if existing:
        _same_inputs(store_kit.open_kit(target), texts)
    with scratch.folder() as own:
        bundle = _bundle(recipe, code, recipe_file, own)
        kit = store_kit.create_kit(target)
        with kit.lock():
            sums = {name: kit.add_input(name, data) for name, data in texts.items()}
            if not kit.layout.bundle.is_file():
                kit.add_input(kit.layout.bundle.name, bundle.read_bytes())
            if kit.declaration.recipe is None:
                _declare(kit, recipe, sums)
    return kit


def _same_inputs(kit: Kit, texts: dict[str, bytes]) -> None:
    """A kit goes on only with the recipe it was made from: its runs say nothing about another one."""
    for name, data in texts.items():
        path = kit.layout.inputs / name
        if path.is_file() and path.read_bytes() != data:
            raise SafetyError(
                f"{kit.root}: made from another version of this recipe (inputs/{name} differs)",
                hint="choose another kit with -o, or go on with this one: reprokit make KIT",
            )
    if kit.declaration.recipe is None and (kit.declaration.subject or kit.runs()):
        raise SafetyError(
            f"{kit.root}: a kit that was not made from a recipe", hint="choose another place with -o"
        )


def _bundle(recipe: Recipe, code: Path, recipe_file: Path, scratch: Path) -> Path:
    """The code as a git bundle. The commit must be the one that the recipe names."""
    commit = git.commit_folder(
        code, scratch / "repository", f"{recipe.name}: the program as shipped with its recipe"
    )
    if commit != recipe.source.commit:
        raise InputError(
            f"{recipes.place(recipe_file, 'source', 'commit')}: source.commit is {recipe.source.commit}, "
            f"but {recipe.source.path}/ makes {commit}",
            hint="the folder or the recipe was edited: put the new commit into the recipe",
        )
    target = scratch / "source.bundle"
    git.bundle(scratch / "repository", target)
    return target


def _declare(kit: Kit, recipe: Recipe, sums: dict[str, str]) -> None:
    kit.declare(
        recipe=recipe.name,
        base=recipe.source.commit,
        expect=Expect(
            pass_iterations=recipe.expect.pass_iterations,
            behavior=recipe.expect.behavior,
            kind=recipe.expect.kind,
            site=recipe.expect.site,
        ),
        candidates=tuple(
            Candidate(
                id=spec.id,
                patch=f"inputs/patches/{spec.id}.patch",
                sha256=sums[f"patches/{spec.id}.patch"],
                title=spec.title,
                scope=spec.scope,
                expect=spec.expect,
                limitations=spec.limitations,
            )
            for spec in recipe.candidates
        ),
    )


def inside(folder: Path, name: str, place: str, *, folder_wanted: bool = False) -> Path:
    """The file or folder `name` of a recipe. Raises InputError where it leaves the recipe's folder or is missing.

    `place`: file and line of the recipe that names it.
    """
    path = (folder / name).resolve()
    if Path(name).is_absolute() or not path.is_relative_to(folder):
        raise InputError(f"{place}: {name}: must lie in the recipe's folder")
    if folder_wanted and not path.is_dir():
        raise InputError(f"{place}: there is no folder {name}")
    if not folder_wanted and not path.is_file():
        raise InputError(f"{place}: there is no file {name}")
    return path


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_INPUT:
            raise InputError(f"{path}: {path.stat().st_size} bytes: too large for an input")
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None

"""From a recipe to a launch, a script and an arm key."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from reprokit.emit.run_script import RunScript
from reprokit.errors import InputError
from reprokit.model.arm import Arm, Patch
from reprokit.model.launch import PYTHON, Launch, Provenance, without_header
from reprokit.model.recipe import Recipe
from reprokit.probe import host
from reprokit.render import render
from reprokit.store import recipes
from reprokit.store.kit import Kit
from reprokit.version import VERSION


class Variation(Struct, frozen=True, kw_only=True):
    """How an arm departs from the kit's base arm: variables, recipe keys (dotted -> YAML text), patch files."""

    env: dict[str, str] = {}
    overrides: dict[str, str] = {}
    patches: tuple[Path, ...] = ()


BASE_ARM = Variation()


def kit_recipe(kit: Kit, overrides: Mapping[str, str] | None = None) -> Recipe:
    """The recipe in the kit. Raises InputError where the kit was made without one."""
    if not kit.layout.recipe.is_file():
        raise InputError(
            f"{kit.root}: this kit has no recipe, so nothing says how to run its job",
            hint="recorded kits can be shown and checked; `reprokit make RECIPE` makes one that runs",
        )
    return recipes.load(kit.layout.recipe, overrides)


def launch_of(kit: Kit, variation: Variation = BASE_ARM) -> Launch:
    """The launch of the kit's recipe with a variation."""
    return _launch(kit, kit_recipe(kit, variation.overrides), variation)


def _launch(kit: Kit, recipe: Recipe, variation: Variation) -> Launch:
    mib = recipe.limits.address_space_mib
    fields = {
        "python": PYTHON,
        "ranks": str(recipe.job.ranks),
        "steps": str(recipe.job.steps),
        "address_space_mib": "none" if mib is None else str(mib),
    }
    return Launch(
        name=kit.declaration.name,
        base=recipe.source.commit,
        command=tuple(word.format_map(fields) for word in recipe.job.command),
        env={**recipe.env, **variation.env},
        end_hang_s=recipe.hang.end_after_s,
        time_s=recipe.limits.time_s,
        python=recipe.requires.python,
        packages=recipe.requires.packages,
        requirements="inputs/requirements.txt" if recipe.requires.file else None,
        container_base=recipe.container.base,
    )


def provenance(kit: Kit, command: str) -> Provenance:
    """The header of files generated for this kit."""
    subject = kit.declaration.subject
    digest = kit.run(subject).digest() if subject else None
    return Provenance(version=VERSION, kit=kit.declaration.name, subject=digest, command=command)


def script(kit: Kit, launch: Launch, command: str) -> str:
    """The text of the launch script."""
    return RunScript().files(launch, provenance(kit, command), render)["launch/run.sh"]


def arm_of(kit: Kit, variation: Variation, executor: str) -> Arm:
    """The arm that a variation of the kit's recipe is."""
    recipe = kit_recipe(kit, variation.overrides)
    launch = _launch(kit, recipe, variation)
    body = without_header(script(kit, launch, ""))
    return Arm(
        base=launch.base,
        patches=tuple(Patch(id=path.stem, sha256=_sha256(path)) for path in variation.patches),
        env=launch.env,
        overrides=dict(sorted(variation.overrides.items())),
        stack=host.python_stack(host.interpreter()),
        limits={"address_space_mib": recipe.limits.address_space_mib, "time_s": recipe.limits.time_s},
        executor=executor,
        script_sha256=hashlib.sha256(body.encode()).hexdigest(),
    )


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None

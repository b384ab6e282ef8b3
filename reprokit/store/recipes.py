"""Recipes read from YAML into records, with every error at its line."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from reprokit.errors import InputError
from reprokit.model.recipe import PLACEHOLDERS, SCHEMA, Recipe
from reprokit.store import yamlfile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

T = TypeVar("T")

ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ERROR = re.compile(r"(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?\Z", re.DOTALL)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]")


def read_text(path: Path) -> str:
    """A text file that people edit. Raises InputError where it is missing, a folder, huge or not UTF-8."""
    try:
        if path.stat().st_size > yamlfile.MAX_BYTES:
            raise InputError(f"{path}: {path.stat().st_size} bytes: too large for a file that people edit")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def validate(located: yamlfile.Located, kind: type[T]) -> T:
    """`located` as a record of type `kind`. Raises InputError naming file, line and field."""
    try:
        return msgspec.convert(located.data, kind)
    except msgspec.ValidationError as error:
        match = _ERROR.match(str(error))
        what, path = (match["what"], match["path"] or "$") if match else (str(error), "$")
        keys = _keys(path, located.data)
        unknown = re.search(r"unknown field `([^`]+)`", what)
        if unknown:
            keys = (*keys, unknown[1])
        where = ".".join(str(key) for key in keys) or "the file"
        raise InputError(f"{located.source}:{located.line(keys)}: {where}: {_plain(what)}") from None


def _keys(path: str, data: Any) -> yamlfile.Path:
    """msgspec's `$.a.b[0]` as keys. `[...]` stands for any mapping value, so the path ends there."""
    keys: list[str | int] = []
    for name, index in _STEP.findall(path):
        if index == "...":
            break
        keys.append(int(index) if index else name)
    return tuple(keys)


def _plain(what: str) -> str:
    """msgspec's message in the words of the file's author."""
    return (
        what.replace("Object contains", "has the")
        .replace("Object missing required field", "is missing the field")
        .replace("`object`", "a mapping")
        .replace("`array`", "a list")
        .replace("`str`", "text")
        .replace("`int`", "a whole number")
        .replace("`null`", "null")
        .replace("Expected text matching regex", "is not of the form")
    )


def load(path: Path, overrides: Mapping[str, str] | None = None) -> Recipe:
    """The recipe in `path`, with `overrides` (dotted key -> YAML text) put in before it is checked.

    Raises InputError: unreadable file, invalid YAML, a field that does not fit, an override of no known key.
    """
    located = yamlfile.loads(read_text(path), str(path))
    if not isinstance(located.data, dict):
        raise InputError(f"{path}:1: a recipe is a mapping; this is not")
    schema = located.data.get("schema")
    if schema != SCHEMA:
        line = located.line(("schema",))
        raise InputError(f"{path}:{line}: schema is {schema!r}; this reprokit reads {SCHEMA!r}")
    recipe = _checked(located)
    for key, text in (overrides or {}).items():
        _override(located, key, text)
        try:
            recipe = _checked(located)
        except InputError as error:
            said = error.what.split(": ", 1)[-1]
            raise InputError(
                f"--set {key}={text}: {said}", hint=f"the recipe itself is valid: {path}"
            ) from None
    return recipe


def _checked(located: yamlfile.Located) -> Recipe:
    """The recipe, with the checks that no type carries."""
    _check_env(located)
    recipe = validate(located, Recipe)
    _check_command(located, recipe)
    _check_unique(located, recipe)
    return recipe


def place(path: Path, *keys: str | int) -> str:
    """`recipe.yaml:12`: where a key of a readable recipe stands, for messages."""
    return f"{path}:{yamlfile.loads(read_text(path), str(path)).line(keys)}"


def _override(located: yamlfile.Located, key: str, text: str) -> None:
    """Replace the value at dotted `key`. A key that no recipe has fails the check that follows."""
    nothing = InputError(f"--set {key}: the recipe has no such key")
    *above, last = key.split(".")
    if not last:
        raise nothing
    target: Any = located.data
    for step in above:
        if isinstance(target, list) and _index(step, target) is not None:
            target = target[_index(step, target) or 0]
        elif isinstance(target, dict):
            target = target.setdefault(step, {})
        else:
            raise nothing
    value = yamlfile.loads(text, f"--set {key}").data
    if isinstance(target, list) and _index(last, target) is not None:
        target[_index(last, target) or 0] = value
    elif isinstance(target, dict):
        target[last] = value
    else:
        raise nothing


def _index(step: str, target: list[Any]) -> int | None:
    """`step` as an index into a list, or None."""
    return int(step) if step.isascii() and step.isdecimal() and int(step) < len(target) else None


def _check_env(located: yamlfile.Located) -> None:
    """Names and values of the job's variables; msgspec's message would not say which one."""
    env = located.data.get("env") if isinstance(located.data, dict) else None
    for name, value in env.items() if isinstance(env, dict) else ():
        where = f"{located.source}:{located.line(('env', name))}: env.{name}"
        if not ENV_NAME.match(name):
            raise InputError(f"{where}: not the name of a variable")
        if not isinstance(value, str):
            raise InputError(f'{where}: must be text: write it in quotes, "{value}"')
        if "\0" in value:
            raise InputError(f"{where}: a NUL cannot stand in a variable")


def _check_command(located: yamlfile.Located, recipe: Recipe) -> None:
    """Placeholders in the command must be known ones."""
    for index, word in enumerate(recipe.job.command):
        line = located.line(("job", "command", index))
        try:
            parsed = [piece for piece in string.Formatter().parse(word) if piece[1] is not None]
        except ValueError as error:
            raise InputError(
                f"{located.source}:{line}: job.command: {word!r}: {error}; write {{{{ for a brace"
            ) from None
        for _, field, form, conversion in parsed:
            if form or conversion:
                raise InputError(
                    f"{located.source}:{line}: job.command: {{{field}}} takes no format: {word!r}"
                )
            if field not in PLACEHOLDERS:
                known = ", ".join("{" + name + "}" for name in PLACEHOLDERS)
                raise InputError(
                    f"{located.source}:{line}: job.command: {{{field}}} is not known; known: {known}"
                )


def _check_unique(located: yamlfile.Located, recipe: Recipe) -> None:
    """Candidate ids name folders and runs, so each stands once."""
    seen: set[str] = set()
    for index, candidate in enumerate(recipe.candidates):
        if candidate.id in seen:
            line = located.line(("candidates", index, "id"))
            raise InputError(f"{located.source}:{line}: candidates: the id {candidate.id!r} stands twice")
        seen.add(candidate.id)

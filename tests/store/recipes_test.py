from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reprokit.errors import InputError
from reprokit.model.recipe import Limits
from reprokit.store import recipes, yamlfile

COMMIT = "0123456789abcdef0123456789abcdef01234567"
RECIPE = f"""\
schema: reprokit/recipe/1
name: small-job
title: It fails
summary: In a sentence.
source:
  path: program
  commit: "{COMMIT}"
requires:
  python: ">=3.11"
  packages: ["numpy==2.4.6"]
job:
  command:
    - "{{python}}"
    - train.py
    - "{{ranks}}"
  ranks: 8
  steps: 30
env:
  OMP_NUM_THREADS: "1"
hang:
  end_after_s: 4
expect:
  pass_iterations: 30
  behavior: All of it completes.
candidates:
  - id: first
    title: One way
    patch: patches/first.patch
    expect: fixes
  - id: second
    title: Another way
    patch: patches/second.patch
container:
  base: python:3.12-slim
"""
Change = Callable[..., str]


def line_of(words: str, text: str = RECIPE) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.yaml"
    path.write_text(RECIPE)
    return path


@pytest.fixture
def refusal(path: Path) -> Callable[..., str]:
    """What is said of the recipe with `old` replaced by `new`, file name first."""

    def said(old: str = "", new: str = "", **overrides: str) -> str:
        assert old in RECIPE
        path.write_text(RECIPE.replace(old, new, 1))
        with pytest.raises(InputError) as caught:
            recipes.load(path, {key.replace("__", "."): value for key, value in overrides.items()})
        return str(caught.value).replace(str(path), "recipe.yaml")

    return said


def test_a_whole_recipe(path: Path) -> None:
    recipe = recipes.load(path)
    assert (recipe.name, recipe.source.commit, recipe.job.ranks) == ("small-job", COMMIT, 8)
    assert recipe.job.command == ("{python}", "train.py", "{ranks}")
    assert [candidate.id for candidate in recipe.candidates] == ["first", "second"]
    assert recipe.limits == Limits(address_space_mib=None, time_s=600)


WRONG = {
    "typo in a key": ("  ranks: 8", "  rank: 8", "recipe.yaml:16: job.rank: has the unknown field `rank`"),
    "typo at the top": ("title: It", "titel: It", "recipe.yaml:3: titel: has the unknown field `titel`"),
    "typo in a list": (
        "    title: Another",
        "    titel: Another",
        "recipe.yaml:31: candidates.1.titel: has the unknown field `titel`",
    ),
    "missing field": ("  ranks: 8\n", "", "recipe.yaml:11: job: is missing the field `ranks`"),
    "text for a number": (
        "ranks: 8",
        "ranks: eight",
        "recipe.yaml:16: job.ranks: Expected a whole number, got text",
    ),
    "null for a number": (
        "ranks: 8",
        "ranks: null",
        "recipe.yaml:16: job.ranks: Expected a whole number, got null",
    ),
    "number for text": (
        "name: small-job",
        "name: 7",
        "recipe.yaml:2: name: Expected text, got a whole number",
    ),
    "too small": ("ranks: 8", "ranks: 0", "recipe.yaml:16: job.ranks: Expected a whole number >= 1"),
    "no such outcome": (
        "expect: fixes",
        "expect: fixed",
        "recipe.yaml:29: candidates.0.expect: Invalid enum value 'fixed'",
    ),
    "other schema": (
        "recipe/1",
        "recipe/2",
        "recipe.yaml:1: schema is 'reprokit/recipe/2'; this reprokit reads 'reprokit/recipe/1'",
    ),
    "no schema": (
        "schema: reprokit/recipe/1\n",
        "",
        "recipe.yaml:1: schema is None; this reprokit reads 'reprokit/recipe/1'",
    ),
    "unknown placeholder": (
        '"{ranks}"',
        '"{rnks}"',
        (
            "recipe.yaml:15: job.command: {rnks} is not known; "
            "known: {python}, {ranks}, {steps}, {address_space_mib}"
        ),
    ),
    "id twice": (
        "id: second",
        "id: first",
        "recipe.yaml:30: candidates: the id 'first' stands twice",
    ),
    "a YAML trap": (
        "title: It fails",
        "title: no",
        ('recipe.yaml:3: `no` is a truth value in old YAML and a word in new: write true or false, or "no"'),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_with_file_line_and_field(refusal: Change, name: str) -> None:
    old, new, said = WRONG[name]
    assert refusal(old, new) == said


@pytest.mark.parametrize(
    ("old", "new", "begin"),
    [
        (COMMIT, COMMIT[:-1], "recipe.yaml:7: source.commit: "),
        (COMMIT, COMMIT.upper(), "recipe.yaml:7: source.commit: "),
        (COMMIT, "main", "recipe.yaml:7: source.commit: "),
        ("name: small-job", "name: ../up", "recipe.yaml:2: name: "),
        ("name: small-job", "name: -dash", "recipe.yaml:2: name: "),
        ("id: first", "id: a/b", "recipe.yaml:26: candidates.0.id: "),
        ('">=3.11"', '"3.11"', "recipe.yaml:9: requires.python: "),
        ("numpy==2.4.6", "numpy>=2", "recipe.yaml:10: requires.packages.0: "),
        ("numpy==2.4.6", "numpy==2; rm -rf x", "recipe.yaml:10: requires.packages.0: "),
        ("python:3.12-slim", '"python:3\\nRUN touch x"', "recipe.yaml:34: container.base: "),
        ("python:3.12-slim", "python:3 AS x", "recipe.yaml:34: container.base: "),
        ("python:3.12-slim", "--platform=x", "recipe.yaml:34: container.base: "),
    ],
)
def test_text_of_the_wrong_form(refusal: Change, old: str, new: str, begin: str) -> None:
    assert refusal(old, new).startswith(begin)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (f'"{COMMIT}"', f'"{COMMIT}\\n"'),
        ("name: small-job", 'name: "small-job\\n"'),
        ("id: first", 'id: "first\\n"'),
        ('"numpy==2.4.6"', '"numpy==2.4.6\\n"'),
        ('">=3.11"', '">=3.11\\n"'),
        ("  OMP_NUM_THREADS:", '  "OMP_NUM_THREADS\\n":'),
    ],
)
def test_a_line_feed_at_the_end_does_not_slip_through(refusal: Change, old: str, new: str) -> None:
    """These words stand in scripts: one line feed more is another line of the script."""
    assert refusal(old, new).startswith("recipe.yaml:")


@pytest.mark.parametrize("word", ["{}", "{ranks.real}", "{ranks[0]}", "{0}", "{PATH}"])
def test_only_the_known_placeholders(refusal: Change, word: str) -> None:
    assert refusal('"{ranks}"', f'"{word}"').startswith(f"recipe.yaml:15: job.command: {word} is not known")


@pytest.mark.parametrize("word", ["{ranks!r}", "{ranks:>8}", "{ranks:d}", "{ranks:{x}}", "{python!r}"])
def test_placeholders_take_no_format(refusal: Change, word: str) -> None:
    """Filled in they would give other text than meant, or no text but a crash."""
    assert refusal('"{ranks}"', f'"{word}"').startswith("recipe.yaml:15: job.command: ")


@pytest.mark.parametrize("word", ["{ranks", "ranks}", "{"])
def test_a_brace_alone(refusal: Change, word: str) -> None:
    said = refusal('"{ranks}"', f'"{word}"')
    assert said.startswith("recipe.yaml:15: job.command: ") and "{{" in said


def test_doubled_braces_are_braces(path: Path) -> None:
    path.write_text(RECIPE.replace('"{ranks}"', '"{{not a placeholder}}"'))
    assert recipes.load(path).job.command[-1].format_map({}) == "{not a placeholder}"


@pytest.mark.parametrize(
    ("old", "new"), [("OMP_NUM_THREADS: ", "OMP-NUM: "), ('OMP_NUM_THREADS: "1"', "OMP_NUM_THREADS: 1")]
)
def test_a_wrong_variable_is_named_with_its_line(refusal: Change, old: str, new: str) -> None:
    said = refusal(old, new)
    assert said.startswith(f"recipe.yaml:{line_of('OMP_NUM')}: env.OMP")
    assert "$" not in said.split("regex")[0]


@pytest.mark.parametrize("text", ["", "- a list\n", "just words\n", "7\n"])
def test_no_mapping_is_no_recipe(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(InputError, match=r"recipe\.yaml:1: a recipe is a mapping; this is not"):
        recipes.load(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary, large = tmp_path / "binary.yaml", tmp_path / "large.yaml"
    binary.write_bytes(b"a: \xff\xfe")
    with large.open("wb") as file:
        file.truncate(yamlfile.MAX_BYTES + 1)
    for place, said in (
        (binary, "not UTF-8 text"),
        (large, "too large for a file that people edit"),
        (tmp_path, "Is a directory"),
        (tmp_path / "none.yaml", "No such file"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            recipes.load(place)
        assert str(caught.value).startswith(f"{place}: ")


def test_where_a_key_stands(path: Path) -> None:
    assert recipes.place(path, "candidates", 1, "patch") == f"{path}:{line_of('second.patch')}"
    assert recipes.place(path, "source", "commit") == f"{path}:7"


def test_the_shipped_recipes_are_valid() -> None:
    from reprokit import resources

    names = resources.recipe_names()
    assert names
    for name in names:
        assert recipes.load(resources.recipe(name)).name == name

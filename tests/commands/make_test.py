"""`make`: the whole pipeline on a tiny job, called again, and everything that can be wrong with a recipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.harness import Answer, Desk
from tests.commands.recipe_maker import RECIPE, copy_kit, write_recipe

pytestmark = pytest.mark.job

STAGES = ["record", "emit", "run", "verify", "report"]


def test_make_json(made: tuple[Path, Answer]) -> None:
    kit, answer = made
    said = answer.json()
    assert {"kit", "stages", "verdict", "candidates", "wrote"} <= set(said)
    assert said["kit"] == str(kit)
    assert [stage["name"] for stage in said["stages"]] == STAGES
    assert {stage["state"] for stage in said["stages"]} == {"ran"}
    assert all(set(stage) == {"name", "state", "seconds", "run"} for stage in said["stages"])
    assert [stage["run"] for stage in said["stages"]][:3] == ["failing-1", None, "control-local-1"]
    assert said["verdict"]["outcome"] == "reproduced"
    assert said["verdict"]["attempts"] == [{"run": "control-local-1", "outcome": "reproduced"}]
    assert said["verdict"]["reasons"]
    assert [(item["id"], item["outcome"]) for item in said["candidates"]] == [
        ("ask-for-less", "fixes"),
        ("hold-less", "does_not_fix"),
    ]
    for item in said["candidates"]:
        assert (item["kind"], item["how"], item["control"]) == ("code patch", "run", "control-local-1")
        assert {"base", "patched", "deltas", "side_effects", "limitations"} <= set(item)
    assert all(Path(path).is_file() for path in said["wrote"])


def test_a_saving_is_measured_at_an_equal_earlier_point(made: tuple[Path, Answer]) -> None:
    (_, holding) = made[1].json()["candidates"]
    (delta,) = [
        item
        for item in holding["deltas"]
        if (item["what"], item["point"]) == ("mem-max-allocated-gigabytes", "after iteration 2")
    ]
    assert (delta["rank"], delta["delta_bytes"]) == (0, -1_000_000)
    assert (delta["a_printed"], delta["b_printed"]) == ("0.004 GB", "0.003 GB")


def test_make_again_runs_nothing_and_says_what_is_done(desk: Desk, kit: Path, recipe: Path) -> None:
    before = sorted(path.name for path in (kit / "evidence").iterdir())
    for words in (["make", kit], ["make", recipe, "-o", kit]):
        answer = desk.call(*words, code=0)
        for stage in ("record", "emit", "run control", "run ask-for-less", "run hold-less", "report"):
            assert f"{stage}: done before" in answer.err, str(answer)
    again = desk.call("make", kit, "--json", code=0).json()
    assert {stage["state"] for stage in again["stages"]} == {"done"}
    assert again["wrote"] == []
    assert sorted(path.name for path in (kit / "evidence").iterdir()) == before


def test_a_kit_in_another_place_goes_on(desk: Desk, made: tuple[Path, Answer]) -> None:
    kit = desk.folder / 'another place, it\'s "there"' / "renamed.kit"
    kit.parent.mkdir()
    copy_kit(made[0], kit)
    assert desk.call("check", kit, "--json", code=0).json()["kit"]["state"] == "intact"
    answer = desk.call("make", kit, code=0)
    assert "run control: done before" in answer.err, str(answer)
    desk.call("report", kit, code=0)


def test_print_does_nothing(desk: Desk, recipe: Path, kit: Path) -> None:
    answer = desk.call("make", recipe, "-o", "new.kit", "--print", code=0)
    assert [line.split()[0] for line in answer.out.splitlines()] == STAGES
    assert not (desk.folder / "new.kit").exists()
    assert "run the job" not in desk.call("make", kit, "--print", code=0).out


def test_a_job_that_passes(desk: Desk) -> None:
    recipe = write_recipe(desk.folder / "tiny", ("address_space_mib: 64", "address_space_mib: null"))
    answer = desk.call("make", recipe, "-o", "tiny.kit", code=1)
    assert "verdict: passed" in answer.out, str(answer)
    assert "next: reprokit show" in answer.out
    stages = desk.call("make", "tiny.kit", "--json", code=1).json()["stages"]
    assert [stage["state"] for stage in stages] == ["failed", *["skipped"] * 4]
    assert desk.call("check", "tiny.kit", code=0)
    assert "passed, exit code 0" in desk.call("show", "tiny.kit", code=0).out


def test_a_program_that_never_starts(desk: Desk) -> None:
    recipe = write_recipe(desk.folder / "tiny", ('"{python}", train.py', "/nonexistent/program, train.py"))
    answer = desk.call("make", recipe, "-o", "tiny.kit", code=125)
    assert "verdict: inconclusive" in answer.out, str(answer)
    assert "did not start: No such file or directory" in answer.out, str(answer)
    desk.call("check", "tiny.kit", code=0)
    assert "No such file" in desk.call("show", "tiny.kit", code=0).out


BAD = {
    "typo": (("summary:", "sumary:"), 5, "recipe.yaml:4: sumary: has the unknown field"),
    "missing-key": (("title: The third step asks for too much\n", ""), 5, "is missing the field"),
    "wrong-type": (("ranks: 1", "ranks: eight"), 5, "recipe.yaml:15: job.ranks: Expected"),
    "no-number": (("steps: 4", "steps: 0"), 5, "job.steps: Expected"),
    "twice": (("  ranks: 1\n", "  ranks: 1\n  ranks: 2\n"), 5, "'ranks' stands here a second time"),
    "old-yaml": (("fixes\n", "yes\n"), 5, "write true or false"),
    "no-yaml": (("limits:", "limits: ["), 5, "not valid YAML"),
    "schema": (("recipe/1", "recipe/9"), 5, "recipe.yaml:1: schema is"),
    "placeholder": (('"{steps}"', '"{stepps}"'), 5, "{stepps} is not known"),
    "missing-source": (
        ("path: program", "path: programme"),
        5,
        "recipe.yaml:7: there is no folder programme",
    ),
    "source-outside": (("path: program", "path: ../tiny/program"), 5, ""),
    "source-elsewhere": (("path: program", "path: ../.."), 5, "must lie in the recipe's folder"),
    "source-absolute": (("path: program", "path: /usr"), 5, "must lie in the recipe's folder"),
    "source-link": (("path: program", "path: elsewhere"), 5, "must lie in the recipe's folder"),
    "patch-outside": (("patches/hold-less.patch", "../hold.patch"), 5, "must lie in the recipe's folder"),
    "patch-link": (("patches/hold-less.patch", "passwd.patch"), 5, "must lie in the recipe's folder"),
    "patch-missing": (("patches/hold-less.patch", "patches/none.patch"), 5, "there is no file"),
    "patch-folder": (("patches/hold-less.patch", "patches"), 5, "there is no file patches"),
    "wrong-commit": (('commit: "', 'commit: "0'), 5, ""),
    "other-commit": (("name: tiny", "name: other"), 5, "source.commit is"),
    "bad-name": (("name: tiny", "name: Tiny Job"), 5, "name: is not of the form"),
    "candidate-twice": (("id: hold-less", "id: ask-for-less"), 5, "stands twice"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_recipe(desk: Desk, case: str) -> None:
    change, code, says = BAD[case]
    folder = write_recipe(desk.folder / "tiny", change)
    (folder / "elsewhere").symlink_to("/usr/share")
    (folder / "passwd.patch").symlink_to("/etc/passwd")
    if case == "source-outside":  # leaves the folder and comes back: that is inside
        desk.call("make", folder, "-o", "tiny.kit", "--print", code=0)
        return
    desk.refused("make", folder, "-o", "tiny.kit", code=code, says=says)
    assert not (desk.folder / "tiny.kit").exists()


@pytest.mark.parametrize("what", ["binary", "empty", "list", "huge", "folder", "nowhere"])
def test_no_recipe_at_all(desk: Desk, what: str) -> None:
    path = desk.folder / "recipe.yaml"
    content = {"binary": b"\xff\xfe\0", "empty": b"", "list": b"- 1\n", "huge": RECIPE.encode() * 8000}
    if what in content:
        path.write_bytes(content[what])
    if what == "folder":
        path = desk.folder / "folder"
        path.mkdir()
    desk.refused("make", path, "-o", "tiny.kit", code=5)


def test_a_kit_path_that_is_taken(desk: Desk, recipe: Path) -> None:
    (desk.folder / "file").write_text("mine")
    (desk.folder / "full").mkdir()
    (desk.folder / "full" / "mine.txt").write_text("mine")
    for target in ("file", "full"):
        desk.refused("make", recipe, "-o", target, code=6, says="exists and is not a kit")
        desk.refused("record", "-o", target, "--", "touch", "started", code=6, says="exists and is not a kit")
    assert (desk.folder / "file").read_text() == "mine"
    assert [path.name for path in (desk.folder / "full").iterdir()] == ["mine.txt"]
    assert not (desk.folder / "started").exists()
    desk.refused("make", recipe, "-o", "file/tiny.kit", code=4)


def test_a_kit_of_another_recipe_and_a_recipe_edited_since(desk: Desk, kit: Path) -> None:
    other = write_recipe(desk.folder / "other", ("title: The third", "title: Their third"))
    evidence = sorted((kit / "evidence").iterdir())
    desk.refused("make", other, "-o", kit, code=6, says="made from another version of this recipe")
    assert sorted((kit / "evidence").iterdir()) == evidence


def test_a_program_edited_since(desk: Desk, kit: Path) -> None:
    """The kit holds the old program, so going on in silence would answer for a program that is not there any more."""
    recipe = write_recipe(desk.folder / "tiny")
    with (recipe / "program" / "train.py").open("a") as file:
        file.write("# edited\n")
    answer = desk.call("make", recipe, "-o", kit)
    assert answer.code in {5, 6}, str(answer)
    assert "commit" in answer.err or "program" in answer.err, str(answer)


def test_wrong_words(desk: Desk, kit: Path, recipe: Path) -> None:
    desk.refused("make", kit, "-o", "other.kit", code=2)
    desk.refused("make", recipe, "-o", "new.kit", "--on", "moon", code=2, says="not one of local")
    desk.refused("make", "no-such-recipe", code=5, says="shipped: host-oom")

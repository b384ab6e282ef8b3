"""`run` and `verify`: verdicts of other arms, patches of every kind, and no arm twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.harness import Desk
from tests.commands.recipe_maker import SITE, STATEMENT, TRAIN, write_patch, write_recipe

pytestmark = pytest.mark.job

NO_LIMIT = ("--set", "limits.address_space_mib=null")


def run_ids(desk: Desk, kit: Path) -> list[str]:
    return sorted(path.name for path in (kit / "evidence").iterdir())


def test_without_the_limit_it_passes(desk: Desk, kit: Path) -> None:
    answer = desk.call("run", kit, "--on", "local", *NO_LIMIT, "--json", code=1)
    said = answer.json()
    assert set(said) >= {"verdict"}
    assert {"outcome", "reasons", "attempts"} <= set(said["verdict"])
    assert said["verdict"]["outcome"] == "passed"
    (run_id,) = said["new"]
    (run,) = desk.call("show", kit, "--run", run_id, "--json", code=0).json()["runs"]
    assert (run["outcome"], run["failure"], run["exit_code"]) == ("passed", None, 0)
    assert run["progress"]["last"] == run["progress"]["planned"] == 4
    again = desk.call("run", kit, "--on", "local", *NO_LIMIT, code=1)
    assert "done before" in again.err, str(again)
    assert desk.call("run", kit, "--on", "local", *NO_LIMIT, "--bisect", code=0)


def test_the_same_statement_in_another_function_is_changed(desk: Desk, kit: Path) -> None:
    patch = write_patch(desk.folder / "Move It.patch", "move-it")
    answer = desk.call("run", kit, "--on", "local", "--patch", patch, code=1)
    assert "verdict: changed" in answer.out, str(answer)
    assert f"another function, but the same statement `{STATEMENT}`" in answer.out, str(answer)
    assert SITE in answer.out and "tiny/step.py:expand" in answer.out
    before = run_ids(desk, kit)
    judged = desk.call("verify", kit, "--patch", patch, "--on", "local", "--json", code=0).json()[
        "candidates"
    ]
    assert [(item["outcome"], item["patched"]) for item in judged] == [("changes_failure", "move-it-local-1")]
    assert run_ids(desk, kit) == before, "an arm was run twice"
    assert desk.call("run", kit, "--on", "local", "--patch", patch, "--bisect", code=125)
    renamed = patch.rename(desk.folder / "another name.patch")
    plan = desk.call("verify", kit, "--patch", renamed, "--on", "local", "--print", code=0).out
    assert [line.split()[1] for line in plan.splitlines()] == ["done:", "done:"] or plan.count(
        "done:"
    ) == 2, plan


def test_a_program_that_cannot_start_is_inconclusive(desk: Desk, kit: Path) -> None:
    words = ("run", kit, "--on", "local", "--set", 'job.command=["/nonexistent/program"]')
    answer = desk.call(*words, code=125)
    assert "verdict: inconclusive" in answer.out
    assert "did not start: No such file or directory" in answer.out, str(answer)
    desk.call("check", kit, code=0)
    assert "not started" in desk.call("show", kit, code=0).out
    assert desk.call(*words, "--bisect", code=125)


def test_times_runs_only_what_is_missing(desk: Desk, kit: Path) -> None:
    """The control of `make` counts; with two there is nothing left to do."""
    said = desk.call("run", kit, "--on", "local", "--times", "2", "--json", code=0).json()
    assert said["new"] == ["control-local-2"]
    assert said["runs"] == ["control-local-1", "control-local-2"]
    assert [attempt["outcome"] for attempt in said["verdict"]["attempts"]] == ["reproduced"] * 2
    again = desk.call("run", kit, "--on", "local", "--times", "2", "--json", code=0).json()
    assert (again["new"], again["runs"]) == ([], said["runs"])
    assert desk.call("run", kit, "--on", "local", "--bisect", code=1)


def test_a_variable_is_another_arm(desk: Desk, kit: Path) -> None:
    words = ("run", kit, "--on", "local", "--env", 'WORD=it\'s "two words" $HOME `id`\\')
    said = desk.call(*words, "--json", code=0).json()
    assert said["new"] == ["varied-local-1"]
    assert desk.call(*words, "--json", code=0).json()["new"] == []
    assert desk.call("run", kit, "--on", "local", "--env", "WORD=other", "--json", code=0).json()["new"]
    assert desk.call("show", kit, "--json").json()["verdict"]["attempts"] == [
        {"run": "control-local-1", "outcome": "reproduced"}
    ]


@pytest.mark.parametrize("name", ["two words", "a-b", "1A", "X;touch started;Y", "A$(touch started)"])
def test_a_variable_with_a_name_that_no_shell_takes(desk: Desk, kit: Path, name: str) -> None:
    desk.refused("run", kit, "--on", "local", "--env", f"{name}=1", code=2, says=name)
    assert not list(desk.folder.rglob("started"))


BAD_SETS = {
    "frob.x=1": (5, "unknown field `frob`"),
    "limits.frob=1": (5, "unknown field `frob`"),
    "limits.time_s=soon": (5, "limits.time_s: Expected"),
    "limits.time_s=[": (5, "not valid YAML"),
    "title.x=1": (5, "the recipe has no such key"),
    "candidates.7.title=x": (5, "the recipe has no such key"),
    'job.command=["{frob}"]': (5, "{frob} is not known"),
    "limits.time_s": (2, "takes KEY=VALUE"),
    "=1": (2, "takes KEY=VALUE"),
    f'source.commit="{"a" * 40}"': (5, "a" * 40),
}


@pytest.mark.parametrize("word", BAD_SETS)
def test_a_bad_set(desk: Desk, kit: Path, word: str) -> None:
    code, says = BAD_SETS[word]
    answer = desk.call("run", kit, "--on", "local", "--set", word, code=code)
    assert says in answer.err and "\nreprokit: " in "\n" + answer.err, str(answer)
    assert not kit.with_name("tiny.kit.open").exists(), "a run was left open that never was one"


def test_patches_that_are_none(desk: Desk, kit: Path) -> None:
    (desk.folder / "empty.patch").write_bytes(b"")
    (desk.folder / "binary.patch").write_bytes(bytes(range(256)) * 20)
    (desk.folder / "folder.patch").mkdir()
    (desk.folder / "words.patch").write_text("not a patch\n")
    before = run_ids(desk, kit)
    for name in ("empty", "binary", "folder", "words", "missing"):
        for verb in ("run", "verify"):
            desk.refused(verb, kit, "--on", "local", "--patch", f"{name}.patch", code=5, says=f"{name}.patch")
    assert run_ids(desk, kit) == before
    assert sorted(path.name for path in (kit / "inputs" / "patches").iterdir()) == [
        "ask-for-less.patch",
        "hold-less.patch",
    ]


def test_a_patch_that_does_not_apply(desk: Desk, kit: Path) -> None:
    patch = write_patch(desk.folder / "p.patch", "of-another-tree")
    (item,) = desk.call("verify", kit, "--on", "local", "--patch", patch, "--json", code=0).json()[
        "candidates"
    ]
    assert item["outcome"] == "does_not_apply"
    assert "patch does not apply" in " ".join(item["reasons"])
    before = run_ids(desk, kit)
    desk.call("verify", kit, "--on", "local", "--patch", patch, code=0)
    assert run_ids(desk, kit) == before
    desk.call("run", kit, "--on", "local", "--patch", patch, code=125)
    desk.call("check", kit, code=0)


def test_judging_runs_that_exist(desk: Desk, kit: Path) -> None:
    words = ("verify", kit, "--candidate", "hold-less", "--control", "control-local-1", "--patched")
    (item,) = desk.call(*words, "ask-for-less-local-1", "--json", code=1).json()["candidates"]
    assert (item["outcome"], item["how"], item["expected"]) == ("fixes", "stated", "does_not_fix")
    (item,) = desk.call(*words, "hold-less-local-1", "--json", code=0).json()["candidates"]
    assert (item["outcome"], item["how"]) == ("does_not_fix", "run")
    desk.refused(*words, "nothing-1", code=5, says="runs: ")
    desk.refused("verify", kit, "--candidate", "x", "--control", "a", "--patched", "b", code=5)
    desk.refused("verify", kit, "--candidate", "hold-less", code=2)


def test_wrong_words(desk: Desk, kit: Path) -> None:
    desk.refused("verify", kit, code=2)
    desk.refused("run", kit, code=2, says="--on")
    desk.refused("run", kit, "--on", "moon", code=2, says="not one of local")
    desk.refused("run", kit, "--on", "local", "--times", "0", code=2)
    patch = write_patch(desk.folder / "p.patch", "move-it")
    for revision in ("nothing", "--upload-pack=x", "-x", ""):
        desk.refused("verify", kit, "--on", "local", "--patch", patch, f"--base={revision}", code=5)
    desk.refused("run", "nothing.kit", "--on", "local", code=5, says="no such kit")


def test_print_starts_nothing(desk: Desk, kit: Path) -> None:
    script = desk.call("run", kit, "--on", "local", "--env", "A=b", "--print", code=0).out
    assert script.startswith("#!/usr/bin/env bash") and "A=b" in script
    assert len(run_ids(desk, kit)) == 4


def test_a_damaged_bundle(desk: Desk, kit: Path) -> None:
    bundle = kit / "inputs" / "source.bundle"
    bundle.write_bytes(bundle.read_bytes()[:200])
    answer = desk.call("run", kit, "--on", "local", "--times", "2", code=1)
    assert "source.bundle" in answer.err, str(answer)
    desk.call("show", kit, code=0)


def test_a_trial_leaves_no_process_behind(desk: Desk) -> None:
    """Its program starts a daemon that ignores SIGTERM and fails: both are gone when the verdict is there."""
    spawn = (
        "import subprocess\n"
        "subprocess.Popen([sys.executable, '-c', 'import signal, time; signal.signal(15, signal.SIG_IGN); "
        "time.sleep(60)'], start_new_session=True)\n"
        "raise ValueError('it fails')\n"
    )
    train = TRAIN.replace("main(sys.argv[1]", spawn + "main(sys.argv[1]")
    recipe = write_recipe(desk.folder / "tiny", program={"train.py": train})
    desk.call("make", recipe, "-o", "tiny.kit")
    assert desk.processes() == []

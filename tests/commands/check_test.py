"""`check`, and the verbs that write files again: altered, incomplete, open and stale are told apart."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.harness import Answer, Desk
from tests.commands.recipe_maker import copy_kit

pytestmark = pytest.mark.job

LOG = "evidence/control-local-1/node-0/output.log"
RUN = "evidence/control-local-1/run.yaml"


def check(desk: Desk, kit: Path, code: int) -> dict[str, object]:
    said = desk.call("check", kit, "--json", code=code).json()
    assert {"kit", "derived", "parts", "problems", "fit"} <= set(said)
    assert {"id", "state"} <= set(said["kit"])
    assert all({"path", "what"} <= set(problem) for problem in said["problems"])
    text = desk.call("check", kit, "-j", "1", code=code).out
    assert said["kit"]["state"] in text
    assert all(problem["path"] in text for problem in said["problems"])
    return {**said, "state": said["kit"]["state"], "paths": [item["path"] for item in said["problems"]]}


def test_a_made_kit_is_intact(desk: Desk, kit: Path) -> None:
    said = check(desk, kit, 0)
    assert (said["state"], said["derived"], said["problems"], said["fit"]) == ("intact", "fresh", [], None)
    assert subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=kit, check=False).returncode == 0


def _alter(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-2] ^= 1
    path.write_bytes(data)


def _link(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to("moved")


def _put(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("added")


DAMAGE: dict[str, tuple[Callable[[Path], object], str, set[str]]] = {
    "altered-byte": (_alter, LOG, {"altered"}),
    "altered-input": (_alter, "inputs/recipe.yaml", {"altered"}),
    "altered-patch": (_alter, "inputs/patches/hold-less.patch", {"altered"}),
    "altered-sums-of-a-part": (_alter, "evidence/control-local-1/node-0/SHA256SUMS", {"altered"}),
    "altered-declaration": (_alter, RUN, {"altered"}),
    "broken-declaration": (lambda path: path.write_text("{["), RUN, {"altered"}),
    "removed-file": (Path.unlink, LOG, {"incomplete"}),
    "removed-declaration": (Path.unlink, RUN, {"incomplete", "altered"}),
    "removed-run": (shutil.rmtree, "evidence/control-local-1", {"incomplete"}),
    "removed-subject": (shutil.rmtree, "evidence/failing-1", {"incomplete"}),
    "removed-input": (Path.unlink, "inputs/source.bundle", {"incomplete"}),
    "removed-patch": (Path.unlink, "inputs/patches/hold-less.patch", {"incomplete"}),
    "extra-file": (_put, "evidence/control-local-1/node-0/more.log", {"altered"}),
    "extra-file-in-evidence": (_put, "evidence/more.log", {"altered"}),
    "extra-part": (_put, "evidence/control-local-1/node-9/output.log", {"altered"}),
    "extra-run": (_put, "evidence/more/node-0/output.log", {"altered"}),
    "extra-input": (_put, "inputs/patches/more.patch", {"altered"}),
    "link": (_link, LOG, {"altered", "incomplete"}),
    "no-sums": (Path.unlink, "SHA256SUMS", {"altered", "incomplete"}),
    "garbled-sums": (
        lambda path: path.write_text("x" + path.read_text()),
        "SHA256SUMS",
        {"altered", "incomplete"},
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named(desk: Desk, kit: Path, name: str) -> None:
    damage, path, states = DAMAGE[name]
    damage(kit / path)
    said = check(desk, kit, 1)
    assert said["state"] in states
    assert any(str(named).startswith(path.removesuffix("/node-0/output.log")) for named in said["paths"]) or (
        path == "SHA256SUMS"
    ), said["paths"]


def test_damage_is_not_blessed_by_a_verb_that_writes(desk: Desk, kit: Path) -> None:
    _alter(kit / LOG)
    desk.call("emit", kit, code=0)
    desk.call("record", "-o", kit, "--", "true", code=0)
    assert check(desk, kit, 1)["paths"] == [LOG]


def test_a_stale_cache_is_said_and_does_no_harm(desk: Desk, kit: Path) -> None:
    cache = kit / "derived" / "control-local-1.json"
    entry = json.loads(cache.read_text())
    cache.write_text(json.dumps({**entry, "reprokit": "0.0.0"}))
    said = check(desk, kit, 0)
    assert (said["state"], said["derived"]) == ("intact", "stale")
    shown = desk.call("show", kit, code=0).out
    shutil.rmtree(kit / "derived")
    assert check(desk, kit, 0)["derived"] == "absent"
    assert desk.call("show", kit, code=0).out == shown
    assert not (kit / "derived").exists(), "show only reads"
    desk.call("report", kit, code=0)
    assert check(desk, kit, 0)["derived"] == "fresh"


def test_notes_are_their_users(desk: Desk, kit: Path) -> None:
    for text in ("first", "second"):
        (kit / "inputs" / "notes.md").write_text(text)
        desk.call("emit", kit, code=0)
        assert check(desk, kit, 0)["state"] == "intact"


def test_show_and_check_only_read(desk: Desk, kit: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in sorted(kit.rglob("*"))}
    for words in (["show", kit], ["show", kit, "--json"], ["check", kit]):
        desk.call(*words, code=0)
    assert {path: path.stat().st_mtime_ns for path in sorted(kit.rglob("*"))} == before


def contents(kit: Path) -> dict[str, bytes]:
    return {path.relative_to(kit).as_posix(): path.read_bytes() for path in kit.rglob("*") if path.is_file()}


def test_emit_and_report_again_change_nothing(desk: Desk, kit: Path) -> None:
    desk.call("report", kit, code=0)
    before = contents(kit)
    assert desk.call("emit", kit, "--json", code=0).json()["wrote"] == []
    assert desk.call("report", kit, "--json", code=0).json()["wrote"] == []
    assert "unchanged" in desk.call("report", kit, code=0).err
    assert contents(kit) == before
    for path in ("launch", "container", "report", "derived", "README.md"):
        target = kit / path
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    desk.call("emit", kit, code=0)
    desk.call("report", kit, code=0)
    assert contents(kit) == before


def test_a_kit_in_another_place_says_the_same(desk: Desk, kit: Path, made: tuple[Path, Answer]) -> None:
    there = copy_kit(made[0], desk.folder / "elsewhere.kit")
    here, moved = (desk.call("show", path, "--json", code=0).out for path in (kit, there))
    assert here == moved
    for path in (kit, there):
        desk.call("report", path, code=0)
        desk.call("emit", path, code=0)
    assert contents(kit) == contents(there)


def test_emit_picks_targets_and_prints(desk: Desk, kit: Path) -> None:
    shutil.rmtree(kit / "launch")
    printed = desk.call("emit", kit, "--print", code=0).out
    assert "==> launch/run.sh <==" in printed and "==> README.md <==" in printed
    assert not (kit / "launch").exists()
    desk.call("emit", kit, "--target", "repro", code=0)
    assert not (kit / "launch" / "run.sh").exists() and (kit / "launch" / "repro.sh").is_file()
    desk.refused("emit", kit, "--target", "nothing", code=2, says="targets: run, repro")


def test_what_is_no_kit(desk: Desk) -> None:
    (desk.folder / "folder").mkdir()
    (desk.folder / "file").write_text("x")
    broken = {
        "not yaml": "{[",
        "no mapping": "- 1\n",
        "newer": "schema: reprokit/kit/2.0\nname: x\n",
        "half": "schema:",
    }
    for name, text in broken.items():
        (desk.folder / name).mkdir()
        (desk.folder / name / "kit.yaml").write_text(text)
    for name in ("folder", "file", "nothing", *broken):
        desk.refused("check", name, code=5)
    for verb in ("show", "emit", "report", "run --on local", "verify --on local --patch x"):
        desk.refused(*verb.split(), "folder", code=5, says="not a kit")


def test_two_at_once(desk: Desk, recipe: Path) -> None:
    kit = desk.folder / "tiny.kit"
    first = desk.watch("make", recipe, "-o", "tiny.kit", env={"TINY_STEP_S": "1"})
    first.until_job_says(kit, "limit")
    patch = recipe / "patches" / "hold-less.patch"
    for words in (
        ["make", kit], ["make", recipe, "-o", kit], ["run", kit, "--on", "local"], ["emit", kit], ["report", kit],
        ["verify", kit, "--on", "local", "--patch", patch], ["record", "-o", kit, "--", "touch", "started"],
    ):  # fmt: skip
        desk.refused(*words, code=6, says="another reprokit is writing to this kit")
    assert not (desk.folder / "started").exists()
    assert "open: not sealed yet" in desk.call("show", kit, code=0).out
    assert "failing-1: is still being recorded" in desk.call("check", kit, code=0).out
    first.process.terminate()
    first.end()


def test_an_altered_kit_answers_nothing(desk: Desk, kit: Path) -> None:
    """One byte: `show` says so first, and nothing is reported or run from it."""
    _alter(kit / LOG)
    shown = desk.call("show", kit, code=0).out
    assert shown.startswith(f"ALTERED since it was sealed: {LOG}"), shown
    assert desk.call("show", kit, "--json", code=0).json()["altered"] == [LOG]
    for words in (("report", kit), ("run", kit, "--on", "local", "--times", "2"), ("make", kit)):
        desk.refused(*words, code=1, says="not what was sealed")
    (kit / "report").rename(desk.folder / "elsewhere")


@pytest.mark.parametrize("name", ["report", "launch", "derived", "evidence", "inputs", "container"])
def test_a_folder_that_is_a_link_is_refused(desk: Desk, kit: Path, name: str) -> None:
    """What we write would land elsewhere."""
    (kit / name).rename(desk.folder / "elsewhere")
    (kit / name).symlink_to(desk.folder / "elsewhere")
    for verb in ("report", "emit", "show", "check"):
        desk.refused(verb, kit, code=5, says="is a link")


def test_a_link_among_the_evidence_is_seen(desk: Desk, kit: Path) -> None:
    (kit / "evidence" / "control-local-1" / "node-0" / "extra").symlink_to("/etc/hostname")
    assert check(desk, kit, 1)["state"] == "altered"

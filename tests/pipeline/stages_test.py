"""Stages, arms and facts without a process of reprokit: an executor that writes what an agent would."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from reprokit.errors import InputError, SafetyError
from reprokit.launch.executor import Order, Watch
from reprokit.launch.table import EXECUTORS
from reprokit.pipeline import adopting, checking, create, launches, making, progress, running
from reprokit.pipeline.facts import facts
from reprokit.pipeline.launches import Variation
from reprokit.pipeline.running import Asked
from reprokit.store.kit import Kit, open_kit
from tests.commands.recipe_maker import write_patch, write_recipe

STEPS = "".join(
    f" [2026-10-02 03:04:05] iteration        {n}/       4 | elapsed time per iteration (ms): 1.0 |\n"
    for n in (1, 2)
)
FAILED = STEPS + (
    "[rank0]: Traceback (most recent call last):\n"
    '[rank0]:   File "/w/src/tiny/step.py", line 15, in grow\n'
    "[rank0]:     return bytearray(wanted)\n"
    "[rank0]: MemoryError\n"
)
PASSED = (
    STEPS
    + STEPS.replace(" 2/", " 4/").replace(" 1/", " 3/")
    + "[after training is done] datetime: 2026-10-02 03:04:05 \n"
)
END = {
    "schema": "reprokit/end/1",
    "exit_code": 0,
    "signal": None,
    "ended_by": "exit",
    "ended": "x",
    "seconds": 1.0,
}
HANG = {"since": "x", "seconds": 1.1, "reason": "silence", "failure_seen": True}


class Fake:
    """Runs nothing: each order gets the next of the scripted outcomes, and is remembered."""

    kind = "local"

    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.runs: list[str] = []
        self.trees: list[str] = []

    def run(self, order: Order, watch: Watch) -> int:
        outcome = self.outcomes.pop(0) if self.outcomes else self.decide(order)
        self.runs.append(order.spool.parent.name)
        if outcome == "interrupt":
            raise KeyboardInterrupt
        order.spool.mkdir(mode=0o700)
        if order.worktree is not None:  # what Python leaves of an import, and reprokit takes for its proof
            cache = order.worktree / "tiny" / "__pycache__"
            cache.mkdir(exist_ok=True)
            (cache / "step.cpython-311.pyc").touch()
        (order.spool / "output.log").write_text({"passed": PASSED, "failed": FAILED}.get(outcome, ""))
        end = {**END, "exit_code": 0 if outcome == "passed" else 1}
        if outcome == "failed":
            end |= {"ended_by": "agent", "hang": HANG}
        (order.spool / "end.json").write_text(json.dumps(end))
        watch(b"")
        return int(end["exit_code"])

    def decide(self, order: Order) -> str:
        assert order.worktree is not None
        text = (order.worktree / "tiny" / "step.py").read_text()
        return "passed" if "10**3" in text or "none" in order.script.read_text() else "failed"


class Silent:
    """Progress as a list of words."""

    def __init__(self) -> None:
        self.ended: list[str] = []
        self.stage = ""

    def begin(self, stage: str) -> None:
        self.stage = stage

    def step(self, text: str) -> None:
        pass

    def end(self, result: str) -> None:
        self.ended.append(f"{self.stage}: {result}")

    def stop(self) -> None:
        pass


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    executor = Fake()
    monkeypatch.setitem(EXECUTORS, "local", executor)
    return executor


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return create.create(write_recipe(tmp_path / "tiny") / "recipe.yaml", tmp_path / "tiny.kit")


def again(kit: Kit) -> Kit:
    return open_kit(kit.root)


def test_all_stages_then_nothing(kit: Kit, fake: Fake) -> None:
    made = making.make(kit, "local", Silent())
    assert [stage.state for stage in made.stages] == ["ran"] * 5
    assert made.exit_code == 0
    assert fake.runs == ["failing-1", "control-local-1", "ask-for-less-local-1", "hold-less-local-1"]
    talk = Silent()
    made = making.make(again(kit), "local", talk)
    assert {stage.state for stage in made.stages} == {"done"}
    assert len(fake.runs) == 4
    assert all("done before" in line for line in talk.ended)


@pytest.mark.parametrize("at", range(4))
def test_an_interrupted_stage_is_the_one_that_runs_again(kit: Kit, fake: Fake, at: int) -> None:
    fake.outcomes = [*["failed", "failed", "passed", "failed"][:at], "interrupt"]
    with pytest.raises(KeyboardInterrupt):
        making.make(kit, "local", Silent())
    assert checking.check(again(kit)).kit.state == "open"
    made = making.make(again(kit), "local", Silent())
    assert made.exit_code == 0
    assert len(fake.runs) == 5
    assert checking.check(again(kit)).kit.state == "intact"


@pytest.mark.parametrize("run_id", ["failing-1", "control-local-1", "hold-less-local-1"])
def test_a_run_that_died_while_its_folder_was_being_made(kit: Kit, fake: Fake, run_id: str) -> None:
    """Killed between the folder and its declaration: no run began, and its name must not stand in the way."""
    (kit.layout.open / run_id).mkdir(parents=True)
    assert checking.check(kit).exit_code == 0
    assert making.make(kit, "local", Silent()).exit_code == 0
    assert len(fake.runs) == 4


@pytest.mark.parametrize(
    ("outcomes", "code", "states"),
    [
        (["passed"], 1, ["failed", "skipped", "skipped", "skipped", "skipped"]),
        (["nothing"], 125, ["failed", "skipped", "skipped", "skipped", "skipped"]),
        (["failed", "passed"], 1, ["ran", "ran", "failed", "skipped", "ran"]),
        (["failed", "nothing"], 125, ["ran", "ran", "failed", "skipped", "ran"]),
        (["failed", "failed", "failed"], 1, ["ran"] * 5),
        (["failed", "failed", "nothing"], 125, ["ran"] * 5),
    ],
)
def test_answers_that_are_no(kit: Kit, fake: Fake, outcomes: list[str], code: int, states: list[str]) -> None:
    fake.outcomes = outcomes
    made = making.make(kit, "local", Silent())
    assert [stage.state for stage in made.stages] == states
    assert made.exit_code == code


def test_an_undecided_trial_is_not_counted(kit: Kit, fake: Fake) -> None:
    fake.outcomes = ["failed", "nothing"]
    making.make(kit, "local", Silent())
    ran = running.run(again(kit), Asked(), fake, 2, Silent())
    assert ran.new == ("control-local-2", "control-local-3")
    assert ran.verdict.outcome == "reproduced"
    assert running.run(again(kit), Asked(), fake, 2, Silent()).new == ()


def test_attempts_that_disagree(kit: Kit, fake: Fake) -> None:
    making.make(kit, "local", Silent())
    fake.outcomes = ["passed"]
    ran = running.run(again(kit), Asked(), fake, 2, Silent())
    assert ran.verdict.outcome == "inconclusive"
    assert "disagree" in ran.verdict.reasons[0]


def test_arm_keys(kit: Kit, tmp_path: Path) -> None:
    """A name, a header or a place does not make another arm; everything that changes the run does."""

    def key(**changes: object) -> str:
        return launches.arm_of(kit, Variation(**changes), "local").key

    one, same, other = (tmp_path / f"{name}.patch" for name in ("one", "same", "other"))
    for path, name in ((one, "hold-less"), (same, "hold-less"), (other, "move-it")):
        write_patch(path, name)
    base = key()
    assert key() == base and key(patches=(one,)) == key(patches=(same,))
    kit.declare(subject=None)
    assert key() == base
    others: list[Callable[[], str]] = [
        lambda: key(patches=(one,)),
        lambda: key(patches=(other,)),
        lambda: key(patches=(one, other)),
        lambda: key(env={"A": "b"}),
        lambda: key(env={"A": "c"}),
        lambda: key(overrides={"limits.address_space_mib": "null"}),
        lambda: key(overrides={"limits.time_s": "61"}),
        lambda: launches.arm_of(kit, Variation(), "slurm").key,
    ]
    assert len({base, *(make() for make in others)}) == len(others) + 1


def test_a_patch_is_adopted_once_by_content(kit: Kit, tmp_path: Path) -> None:
    first = adopting.adopt(kit, write_patch(tmp_path / "It's MINE!.patch", "move-it"))
    assert (first.id, first.patch) == ("it-s-mine", "inputs/patches/it-s-mine.patch")
    assert adopting.adopt(kit, write_patch(tmp_path / "other.patch", "move-it")) == first
    second = adopting.adopt(kit, write_patch(tmp_path / "it's mine!.diff", "of-another-tree"))
    assert second.id == "it-s-mine-2"
    assert adopting.adopt(kit, write_patch(tmp_path / "###.patch", "hold-less")).id == "hold-less"
    assert [candidate.id for candidate in again(kit).declaration.candidates][2:] == [
        "it-s-mine",
        "it-s-mine-2",
    ]


def test_names_in_a_recipe_stay_in_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "recipe"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "file").write_text("x")
    (tmp_path / "file").write_text("x")
    (folder / "link").symlink_to("../file")
    (folder / "chain").symlink_to("link")
    (folder / "fine").symlink_to("in/file")
    assert create.inside(folder, "in/../in/file", "r") == folder / "in" / "file"
    assert create.inside(folder, "fine", "r") == folder / "in" / "file"
    for name in (
        "../file",
        "/etc/passwd",
        "link",
        "chain",
        "in/../../file",
        "",
        "in",
        "missing",
        "in/file/x",
    ):
        with pytest.raises(InputError, match=r"^r:3: "):
            create.inside(folder, name, "r:3")


def test_a_kit_that_was_recorded_takes_no_recipe(kit: Kit, tmp_path: Path) -> None:
    (kit.layout.inputs / "patches" / "hold-less.patch").write_text("other\n")
    with pytest.raises(SafetyError, match=r"inputs/patches/hold-less.patch differs"):
        create.create(tmp_path / "tiny" / "recipe.yaml", kit.root)


def test_facts_come_from_evidence_whatever_the_cache_holds(kit: Kit, fake: Fake) -> None:
    making.make(kit, "local", Silent())
    fresh = facts(again(kit), cache=False)
    cache = kit.layout.derived / "failing-1.json"
    for text in ("", "{}", "[1]", cache.read_text().replace('"reprokit": "', '"reprokit": "9')):
        cache.write_text(text)
        assert facts(again(kit), cache=False) == fresh
    for _ in range(2):
        assert facts(again(kit)) == fresh


@pytest.mark.parametrize(
    ("tail", "said"),
    [
        (b"", None),
        (b"> limit: 64\n", None),
        (STEPS.encode(), "step 2/4"),
        (STEPS.encode()[7:], "step 2/4"),
        (FAILED.encode(), "after step 2, a rank failed; waiting for the job to end"),
        (b"Traceback (most recent call last):\n", "a rank failed; waiting for the job to end"),
        (bytes(range(256)), None),
    ],
)
def test_what_the_live_line_says(tail: bytes, said: str | None) -> None:
    assert progress.describe(tail) == said

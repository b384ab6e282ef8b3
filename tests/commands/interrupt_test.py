"""Ctrl-C, SIGTERM and SIGKILL at any time: the kit stays readable, no process is left, and a second call goes on."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path

import pytest

from tests.commands.harness import Answer, Desk, Watched, wait_until
from tests.commands.recipe_maker import write_patch

pytestmark = pytest.mark.job

SLOW = {"TINY_STEP_S": "0.15"}
STAGES = ("record ...", "run control ...", "run ask-for-less ...", "run hold-less ...")
RESULTS = ("record: ", "emit: ", "run control: ", "run ask-for-less: ", "run hold-less: ")
SIGNALS = [
    pytest.param(signal.SIGINT, True, id="ctrl-c"),
    pytest.param(signal.SIGTERM, False, id="sigterm"),
]


def assert_interrupted(desk: Desk, kit: Path, answer: Answer) -> list[str]:
    """The words of the command that goes on, after the promises of an interrupt were looked at."""
    lines = answer.err.splitlines()
    assert answer.code == 130, str(answer)
    assert "reprokit: interrupted" in lines[-2], str(answer)
    assert lines[-1].startswith("  next: go on with: reprokit "), str(answer)
    desk.tidy()
    desk.call("show", kit, code=0)
    checked = desk.call("check", kit, "--json", code=0).json()
    assert checked["kit"]["state"] in {"intact", "open"}
    return shlex.split(lines[-1].removeprefix("  next: go on with: reprokit "))


def assert_complete(desk: Desk, again: list[str], kit: Path) -> None:
    desk.call(*again, code=0)
    shown = desk.call("show", kit, "--json", code=0).json()
    assert shown["verdict"]["outcome"] == "reproduced"
    assert [item["outcome"] for item in shown["candidates"]] == ["fixes", "does_not_fix"]
    assert desk.call("check", kit, "--json", code=0).json()["kit"]["state"] == "intact"
    assert (kit / "report" / "issue.md").is_file()


@pytest.mark.parametrize(("number", "group"), SIGNALS)
def test_interrupted_while_the_job_of_each_stage_runs(
    desk: Desk, recipe: Path, number: int, group: bool
) -> None:
    kit, again = desk.folder / "tiny.kit", ["make", str(recipe), "-o", "tiny.kit"]
    for stage in STAGES:
        call = desk.watch(*again, env=SLOW)
        call.until(stage)
        call.until_job_says(kit, "iteration        1/")
        again = assert_interrupted(desk, kit, call.signal(number, group=group))
    assert_complete(desk, again, kit)


@pytest.mark.parametrize(("number", "group"), SIGNALS)
def test_interrupted_between_stages(desk: Desk, recipe: Path, number: int, group: bool) -> None:
    kit, again = desk.folder / "tiny.kit", ["make", str(recipe), "-o", "tiny.kit"]
    for result in RESULTS:
        call = desk.watch(*again)
        call.until(result)
        answer = call.signal(number, group=group)
        if answer.code == 0:  # the last stages take no time
            assert result == RESULTS[-1]
            break
        again = assert_interrupted(desk, kit, answer)
    assert_complete(desk, again, kit)


def test_interrupted_while_the_job_hangs_so_that_the_subject_is_recorded_again(
    desk: Desk, recipe: Path
) -> None:
    """A recording that was cut short has no hang: it must not become the kit's subject."""
    kit = desk.folder / "tiny.kit"
    call = desk.watch("make", recipe, "-o", "tiny.kit")
    call.until_job_says(kit, "[rank0]: MemoryError")
    again = assert_interrupted(desk, kit, call.signal(signal.SIGINT, group=True))
    assert_complete(desk, again, kit)
    (subject,) = [run for run in desk.call("show", kit, "--json").json()["runs"] if run["role"] == "failing"][
        -1:
    ]
    assert subject["hang"] is not None, subject["id"]
    assert subject["ended_by"] == "agent"
    assert "then hangs" in (kit / "report" / "issue.md").read_text("utf-8")


@pytest.mark.parametrize(("number", "group"), SIGNALS)
def test_interrupted_while_the_kit_is_being_made(desk: Desk, recipe: Path, number: int, group: bool) -> None:
    call = desk.watch("make", recipe, "-o", "tiny.kit")
    wait_until(lambda: list(desk.temporary.iterdir()) or call.process.poll() is not None)
    answer = call.signal(number, group=group)
    assert answer.code == 130, str(answer)
    assert "  next: go on with: reprokit make " in answer.err, str(answer)
    desk.tidy()
    desk.call("make", recipe, "-o", "tiny.kit", "--print", code=0)


def test_a_second_interrupt_does_not_leave_the_job_behind(desk: Desk, recipe: Path) -> None:
    kit = desk.folder / "tiny.kit"
    call = desk.watch("make", recipe, "-o", "tiny.kit", env=SLOW)
    call.until_job_says(kit, "iteration        1/")
    for _ in range(3):
        call.process.send_signal(signal.SIGINT)
    answer = call.end()
    assert answer.code == 130, str(answer)
    wait_until(lambda: not desk.processes(), 10)
    desk.call("show", kit, code=0)


def _killed(desk: Desk, *words: str | Path, kit: Path, text: str) -> Watched:
    call = desk.watch(*words, env=SLOW)
    call.until_job_says(kit, text)
    call.process.kill()
    call.process.wait()
    return call


def test_killed_while_the_job_runs(desk: Desk, recipe: Path) -> None:
    """Nobody can answer SIGKILL: the job's own agent goes on, ends the hang, and the next call takes its recording."""
    kit = desk.folder / "tiny.kit"
    with _killed(desk, "make", recipe, "-o", "tiny.kit", kit=kit, text="iteration        2/").process:
        pass
    assert "failing-1" in desk.call("show", kit, code=0).out
    assert desk.call("check", kit, "--json", code=0).json()["kit"]["state"] == "open"
    desk.refused("make", kit, code=6, says="is still being recorded")
    desk.refused("run", kit, "--on", "local", code=6, says="is still being recorded")
    wait_until(lambda: not desk.processes(), 10)
    assert_complete(desk, ["make", str(kit)], kit)
    runs = desk.call("show", kit, "--json").json()["runs"]
    assert sorted(run["id"] for run in runs) == [
        "ask-for-less-local-1", "control-local-1", "failing-1", "hold-less-local-1",
    ]  # fmt: skip
    for left in desk.temporary.iterdir():
        assert left.name.startswith("reprokit-")
        _remove(left)


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder)


def _interrupt(desk: Desk, kit: Path, *words: str | Path) -> list[str]:
    call = desk.watch(*words, env=SLOW)
    call.until_job_says(kit, "iteration        1/")
    return assert_interrupted(desk, kit, call.signal(signal.SIGINT, group=True))


def test_an_interrupted_run_names_its_own_arm(desk: Desk, kit: Path) -> None:
    patch = write_patch(desk.folder / "move it.patch", "move-it")
    asked = [
        "--set",
        "limits.time_s=50",
        "--env",
        "WORD=two words",
        "--patch",
        str(patch),
        "--times",
        "2",
        "--bisect",
    ]
    again = _interrupt(desk, kit, "run", kit, "--on", "local", *asked)
    assert again[:2] == ["run", str(kit)]
    assert set(asked) <= set(again), again


def test_an_interrupted_verify_names_its_patches_and_base(desk: Desk, kit: Path, made_base: str) -> None:
    patch = write_patch(desk.folder / "move it.patch", "move-it")
    again = _interrupt(desk, kit, "verify", kit, "--on", "local", "--patch", patch, "--base", made_base)
    assert {"--patch", str(patch), "--base", made_base} <= set(again), again


@pytest.fixture
def made_base(made: tuple[Path, Answer]) -> str:
    candidates = json.loads(made[1].out)["candidates"]
    return str(candidates[0]["base"])

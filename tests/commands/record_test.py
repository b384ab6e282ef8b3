"""`record`: the job's own exit code and output, nothing of its secrets, and refusals before it starts."""

from __future__ import annotations

import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.commands.harness import Answer, Desk, wait_until

pytestmark = pytest.mark.job

TOKEN = "hf_" + "aB3dE5fG7h" * 3 + "KLmn"
KEY = "AKIA" + "IOSFODNN7EXAMPQR"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 3"], 3),
        (["/nonexistent/program"], 127),
        (["no-such-program"], 127),
        (["/etc/passwd"], 126),
        (["sh", "-c", "kill -SEGV $$"], 139),
        (["sh", "-c", "kill -KILL $$"], 137),
    ],
    ids=["0", "3", "127", "127-name", "126", "139", "137"],
)
def test_the_exit_code_is_the_commands_own(desk: Desk, command: list[str], code: int) -> None:
    answer = desk.call("record", "-o", "new.kit", "--", *command, code=code)
    assert "reprokit: sealed run recorded-1 into" in answer.err, str(answer)
    assert desk.call("check", "new.kit", "--json", code=0).json()["kit"]["state"] == "intact"
    (run,) = desk.call("show", "new.kit", "--json", code=0).json()["runs"]
    assert (run["id"], run["role"]) == ("recorded-1", "recorded")


def test_the_output_goes_to_stdout_as_it_is(desk: Desk) -> None:
    program = (
        "import sys; print('to out', flush=True); print('to err', file=sys.stderr); print('no end', end='')"
    )
    answer = desk.call("record", "-o", "new.kit", "--", sys.executable, "-c", program, code=0)
    assert answer.out == "to out\nto err\nno end"
    sealed = desk.folder / "new.kit" / "evidence" / "recorded-1" / "node-0" / "output.log"
    assert sealed.read_text() == answer.out


def test_options_of_the_command_are_the_commands(desk: Desk) -> None:
    assert desk.call("record", "-o", "new.kit", "--", "echo", "--json", "-o", "x", "--", "y", code=0).out == (
        "--json -o x -- y\n"
    )


def test_a_run_that_exists_is_refused_before_the_command_starts(desk: Desk, kit: Path) -> None:
    for run_id in ("failing-1", "control-local-1"):
        words = ("record", "-o", kit, "--run", run_id, "--", "touch", "started")
        desk.refused(*words, code=6, says=f"a run '{run_id}' exists")
    for run_id in ("../x", ".hidden", "a/b", "a b", "", "x" * 81, "-x"):
        desk.refused(
            "record", "-o", kit, f"--run={run_id}", "--", "touch", "started", code=2, says="no run id"
        )
    desk.refused("record", "-o", "new.kit", code=2)
    desk.refused("record", "--", "touch", "started", code=2, says="-o")
    assert not list(desk.folder.rglob("started"))


def test_secrets_leave_no_trace(desk: Desk) -> None:
    program = f"import os; print('token', os.environ['HF_TOKEN']); print('export AWS_ACCESS_KEY_ID={KEY}')"
    command = [sys.executable, "-c", program, f"--token={TOKEN}"]
    answer = desk.call("record", "-o", "new.kit", "--", *command, env={"HF_TOKEN": TOKEN}, code=0)
    assert TOKEN in answer.out
    kit = desk.folder / "new.kit"
    desk.call("show", kit, code=0)
    for path in [*kit.rglob("*"), *kit.with_name("new.kit.open").rglob("*")]:
        if path.is_file():
            assert TOKEN.encode() not in path.read_bytes(), path
            assert KEY.encode() not in path.read_bytes(), path
    assert (kit / "evidence" / "recorded-1" / "node-0" / "output.log").read_text().count("\n") == 2


def test_a_first_failing_recording_becomes_the_subject(desk: Desk) -> None:
    desk.call("record", "-o", "new.kit", "--", "true", code=0)
    desk.call("record", "-o", "new.kit", "--", sys.executable, "-c", "1 / 0", code=1)
    desk.call("record", "-o", "new.kit", "--", sys.executable, "-c", "[][1]", code=1)
    assert "recorded-2 [recorded, the subject]" in desk.call("show", "new.kit", code=0).out


def test_a_kit_without_a_recipe_cannot_run(desk: Desk) -> None:
    desk.call("record", "-o", "new.kit", "--", sys.executable, "-c", "1 / 0", code=1)
    desk.refused("run", "new.kit", "--on", "local", code=5, says="this kit has no recipe")
    desk.refused("emit", "new.kit", code=5, says="this kit has no recipe")
    assert "this kit has no recipe" in desk.call("make", "new.kit", code=5).err
    desk.call("report", "new.kit", code=0)
    desk.call("check", "new.kit", code=0)


def test_a_recipe_does_not_join_a_recorded_kit(desk: Desk, recipe: Path) -> None:
    desk.call("record", "-o", "new.kit", "--", "false", code=1)
    desk.refused("make", recipe, "-o", "new.kit", code=6, says="not made from a recipe")


def test_recordings_at_the_same_time_lose_nothing(desk: Desk) -> None:
    """As tasks of one job script do: each is recorded whole, or refused before its command starts."""

    def one(number: int) -> Answer:
        command = f"touch started-{number}; echo output {number}; sleep 0.2"
        return desk.call("record", "-o", "new.kit", "--run", f"r{number}", "--", "sh", "-c", command)

    numbers = range(6)
    with ThreadPoolExecutor(len(numbers)) as pool:
        answers = dict(zip(numbers, pool.map(one, numbers), strict=True))
    kept = {}
    for number, answer in answers.items():
        assert answer.code in {0, 6}, str(answer)
        assert (desk.folder / f"started-{number}").exists() == (answer.code == 0)
        if answer.code == 0:
            log = desk.folder / "new.kit" / "evidence" / f"r{number}" / "node-0" / "output.log"
            kept[number] = log.read_text() if log.is_file() else "lost"
    assert kept == {number: f"output {number}\n" for number in kept}
    assert kept
    desk.call("check", "new.kit", code=0)


def test_a_hang_is_left_alone_unless_asked(desk: Desk) -> None:
    words = ("record", "-o", "new.kit", "--end-hang", "1", "--json", "--", "sh", "-c", "echo; sleep 60")
    answer = desk.call(*words, code=143)
    assert "agent: ending the job (hang)" in answer.err, str(answer)
    (run,) = desk.call("show", "new.kit", "--json", code=0).json()["runs"]
    assert run["hang"] is not None
    assert (run["outcome"], run["ended_by"], run["failure"]["kind"]) == ("unfinished", "agent", "hang")


SAVES_FIRST = """
import signal, sys, time
def save(number, frame):
    print("saving", flush=True)
    time.sleep(0.6)
    print("saved", flush=True)
    sys.exit(5)
signal.signal(signal.SIGINT, save)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
while True:
    time.sleep(0.05)
"""


@pytest.mark.parametrize(
    ("number", "group"),
    [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, True), (signal.SIGTERM, False)],
    ids=["ctrl-c", "sigint", "sigterm-group", "sigterm"],
)
def test_a_signal_reaches_the_job_once_and_its_end_is_recorded(desk: Desk, number: int, group: bool) -> None:
    """A job that saves a checkpoint when it is told to end must get the time for it, and is told once."""
    call = desk.watch("record", "-o", "new.kit", "--", sys.executable, "-c", SAVES_FIRST)
    call.until_job_says(desk.folder / "new.kit", "ready")
    answer = call.signal(number, group=group)
    assert answer.out.splitlines() == ["ready", "saving", "saved"], str(answer)
    assert answer.code == 5, str(answer)
    desk.call("check", "new.kit", code=0)


def test_killed_recorders_recording_is_sealed_by_the_next_verb_that_writes(desk: Desk) -> None:
    """SIGKILL to reprokit: its agent goes on; `check` says open; after the job's end the next verb seals."""
    kit = desk.folder / "new.kit"
    call = desk.watch("record", "-o", "new.kit", "--", "sh", "-c", "echo begun; sleep 1; echo ended")
    call.until_job_says(kit, "begun")
    call.process.kill()
    call.process.communicate()
    assert desk.call("check", kit, "--json", code=0).json()["kit"]["state"] == "open"
    assert "open: not sealed yet" in desk.call("show", kit, code=0).out
    wait_until(lambda: not desk.processes())
    desk.call("record", "-o", kit, "--", "true", code=0)
    assert (kit / "evidence" / "recorded-1" / "node-0" / "output.log").read_text() == "begun\nended\n"
    assert desk.call("check", kit, "--json", code=0).json()["kit"]["state"] == "intact"


def test_print_starts_nothing(desk: Desk) -> None:
    answer = desk.call("record", "-o", "new.kit", "--print", "--", "touch", "started", code=0)
    assert answer.out.rstrip().endswith("-- touch started")
    assert os.listdir(desk.folder) == ["temporary"]


def test_an_id_that_looks_like_a_secret_is_refused(desk: Desk) -> None:
    """It would be a folder's name, and what the rules made of it another one."""
    words = ("record", "-o", "new.kit", "--run", TOKEN, "--", "touch", "started")
    desk.refused(*words, code=2, says="looks like a secret")
    assert not (desk.folder / "started").exists()


def test_processes_that_outlive_the_command_are_named(desk: Desk) -> None:
    program = "import subprocess, sys; subprocess.Popen(['sleep', '5'], start_new_session=True)"
    answer = desk.call("record", "-o", "new.kit", "--", sys.executable, "-c", program, code=0)
    assert "processes of it live on" in answer.err, str(answer)
    desk.end_all()

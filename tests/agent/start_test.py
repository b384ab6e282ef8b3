"""Starting: exit codes, refusals, arguments, environment, descriptors."""

from __future__ import annotations

import ast
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.job


@pytest.mark.parametrize("code", [0, 3, 124])
def test_exit_code_is_the_jobs(record: Callable[..., Any], code: int) -> None:
    run = record("sh", "-c", f"exit {code}")
    assert run.finish() == code
    end = run.json("end.json")
    assert (end["exit_code"], end["signal"], end["ended_by"], end["returned"]) == (code, None, "exit", code)
    assert [event["event"] for event in run.events()] == ["started", "ended"]
    assert end["left_processes"] == [] and end["hang"] is None and end["not_started"] is None


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL])
def test_killed_job_gives_128_and_the_signal(record: Callable[..., Any], number: signal.Signals) -> None:
    run = record("sh", "-c", f"kill -{int(number)} $$")
    assert run.finish() == 128 + number
    end = run.json("end.json")
    assert (end["exit_code"], end["signal"], end["ended_by"]) == (None, number, "signal")


def test_missing_command_is_127(record: Callable[..., Any]) -> None:
    run = record("/no/such/program", "x")
    assert run.finish() == 127
    assert "/no/such/program" in run.stderr
    end = run.json("end.json")
    assert end["not_started"] == {"errno": 2, "text": "No such file or directory"}
    assert (end["returned"], end["exit_code"]) == (127, None)
    assert run.json("part.json")["child_pid"] is None


def test_not_executable_is_126(record: Callable[..., Any], tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("x")
    run = record(str(plain))
    assert run.finish() == 126
    assert run.json("end.json")["not_started"]["errno"] == 13


def test_runs_as_module_too(record: Callable[..., Any], agent: Path) -> None:
    run = record("sh", "-c", "exit 5", start=[sys.executable, "-m", "reprokit.agent"], cwd=agent.parents[1])
    assert run.finish() == 5
    assert run.json("end.json")["returned"] == 5


def test_copied_folder_works_and_is_left_as_it_was(
    record: Callable[..., Any], tmp_path: Path, agent: Path
) -> None:
    copy = tmp_path / "my kit" / "launch" / "agent 1.0"
    copy.mkdir(parents=True)
    for file in agent.glob("*.py"):
        (copy / file.name).write_bytes(file.read_bytes())
    before = sorted(copy.iterdir())
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = record("true", start=[sys.executable, str(copy)], env=environment)
    assert run.finish() == 0
    # Python itself caches the file it starts, before any line of it runs
    assert [path for path in sorted(copy.rglob("*")) if "__main__" not in path.name and path.is_file()] == [
        path for path in before if path.name != "__main__.py"
    ]


def test_modules_of_the_job_do_not_hide_the_library(
    record: Callable[..., Any], tmp_path: Path, agent: Path
) -> None:
    for name in ("queue", "signal", "select", "json", "subprocess", "clock"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('shadow')\n")
    environment = {**os.environ, "PYTHONPATH": str(agent.parents[1])}
    for start in ([sys.executable, str(agent)], [sys.executable, "-m", "reprokit.agent"]):
        run = record("sh", "-c", "exit 4", start=start, cwd=tmp_path, env=environment)
        assert run.finish() == 4, run.stderr


def test_used_spool_is_refused_before_the_start(record: Callable[..., Any], tmp_path: Path) -> None:
    spool = tmp_path / "used"
    spool.mkdir()
    (spool / "something").write_text("x")
    run = record("touch", str(tmp_path / "ran"), spool=spool)
    assert run.finish() == 6
    assert "not empty" in run.stderr and "nothing was started" in run.stderr
    assert not (tmp_path / "ran").exists()
    assert os.listdir(spool) == ["something"]


def test_empty_spool_is_used(record: Callable[..., Any], tmp_path: Path) -> None:
    spool = tmp_path / "empty"
    spool.mkdir(mode=0o755)
    assert record("true", spool=spool).finish() == 0
    assert stat.S_IMODE(spool.stat().st_mode) == 0o700


@pytest.mark.parametrize("place", ["file/spool", "/proc/no/spool"])
def test_spool_that_cannot_be_made_is_4(record: Callable[..., Any], tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    run = record("touch", str(tmp_path / "ran"), spool=tmp_path / place)
    assert run.finish() == 4
    assert "nothing was started" in run.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "arguments", [[], ["--", "true"], ["--spool", "x"], ["--spool", "x", "--end-hang", "0", "--", "a"]]
)
def test_wrong_use_is_2(arguments: list[str], tmp_path: Path, agent: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(agent), *arguments], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 2 and done.stderr
    assert os.listdir(tmp_path) == []


def test_missing_cwd_is_2(record: Callable[..., Any], tmp_path: Path) -> None:
    run = record("true", options=("--cwd", str(tmp_path / "none")))
    assert run.finish() == 2
    assert not run.spool.exists()


def test_modes_are_private_under_any_umask(record: Callable[..., Any], agent: Path) -> None:
    run = record(
        "sh",
        "-c",
        "umask; echo x",
        start=["sh", "-c", 'umask 0; exec "$@"', "sh", sys.executable, str(agent)],
    )
    assert run.finish() == 0
    assert run.output == b"0000\nx\n"
    assert stat.S_IMODE(run.spool.stat().st_mode) == 0o700
    for file in run.spool.rglob("*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_arguments_arrive_as_given(record: Callable[..., Any]) -> None:
    odd = ["a b", "", "line\nbreak", "'\"$x`;", "--spool", "--", "-h", "ünï", "\udcff"]
    command = [
        sys.executable,
        "-c",
        "import os, sys; os.write(1, b'\\0'.join(map(os.fsencode, sys.argv[1:])))",
        *odd,
    ]
    run = record(*command)
    assert run.finish() == 0
    assert run.output.split(b"\0") == [os.fsencode(text) for text in odd]
    assert run.json("part.json")["argv"][3:] == [*odd[:-1], "\ufffd"]


def test_job_keeps_environment_folder_and_descriptors(record: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    reading, writing = os.pipe()
    program = "import os, sys; os.write(int(sys.argv[1]), b'over'); print(os.getcwd(), sorted(os.environ), flush=True)"
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "", "PYTHONCOERCECLOCALE": "0"}
    try:
        run = record(
            *(sys.executable, "-S", "-c", program, str(writing)),
            options=("--cwd", str(tmp_path / "there")),
            pass_fds=[writing],
            env=environment,
        )
        assert run.finish() == 0, run.stdout
        assert os.read(reading, 10) == b"over"
    finally:
        os.close(reading)
        os.close(writing)
    assert run.output.decode() == f"{tmp_path / 'there'} {sorted(environment)}\n"
    assert run.json("part.json")["cwd"] == str(tmp_path / "there")


def test_locale_of_the_agents_python_does_not_reach_the_job(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "echo [$LC_CTYPE]", env={"PATH": os.environ["PATH"]})
    assert run.finish() == 0
    assert run.output == b"[]\n"


def test_closed_standard_descriptors_do_no_harm(record: Callable[..., Any], agent: Path) -> None:
    run = record(
        "sh",
        "-c",
        "echo out; exit 7",
        start=["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, str(agent)],
    )
    assert run.finish() == 7
    assert run.output == b"out\n"
    assert (run.spool / "lock").read_text() == str(run.process.pid)


def test_too_old_python_gets_a_sentence(tmp_path: Path, agent: Path) -> None:
    text = (agent / "__main__.py").read_text()
    compile(ast.parse(text, feature_version=(3, 4)), "__main__.py", "exec")
    assert "\nfrom __future__" not in text
    pretend = (
        "import runpy, sys; sys.version_info = (3, 7, 9); runpy.run_path(sys.argv[1], run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", pretend, agent], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 4 and b"nothing was started" in done.stderr

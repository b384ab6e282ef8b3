from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from reprokit import output
from reprokit.model.run import Run

Capture = pytest.CaptureFixture[str]


def test_data_and_talk_go_apart(capsys: Capture) -> None:
    output.data("answer")
    output.data("more\n")
    output.talk("words")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("answer\nmore\n", "words\n")


def test_json_is_whole_and_readable(capsys: Capture) -> None:
    output.json(Run(id="é\n"))
    text = capsys.readouterr().out
    assert msgspec.json.decode(text, type=Run) == Run(id="é\n")
    assert json.loads(text)["failure"] is None and text.endswith("}\n") and "\n  " in text


def test_an_error_with_what_to_do(capsys: Capture) -> None:
    output.error("it broke", "mend it")
    output.error("alone")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "reprokit: it broke\n  next: mend it\nreprokit: alone\n")


DURATIONS = {
    0: "0.0 s",
    7.26: "7.3 s",
    59.9: "59.9 s",
    60: "1 min 00 s",
    125: "2 min 05 s",
    3600: "60 min 00 s",
}


@pytest.mark.parametrize("seconds", DURATIONS)
def test_durations(seconds: float) -> None:
    assert output.duration(seconds) == DURATIONS[seconds]


def test_just_under_a_minute_is_not_sixty_seconds() -> None:
    assert output.duration(59.97) == "1 min 00 s"


def test_progress_in_a_file_is_lines(capsys: Capture) -> None:
    progress = output.Progress()
    progress.begin("run")
    progress.step("iteration 1")
    progress.end("reproduced")
    said = capsys.readouterr()
    first, last = said.err.splitlines()
    assert (said.out, first) == ("", "run ...")
    assert last.startswith("run: reproduced (") and last.endswith(" s)")


def test_a_word_from_nowhere_is_no_error(capsys: Capture) -> None:
    progress = output.Progress()
    progress.step("before any stage")
    progress.stop()
    progress.stop()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_what_cannot_be_encoded_is_no_crash(encoding: str) -> None:
    """A file name of evidence may be no text, and a terminal may not know é."""
    code = "from reprokit import output; output.data('caf\\xe9 ' + chr(0xdcff)); output.talk('caf\\xe9 ' + chr(0xdcff))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=False,
        env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(b"caf") and done.stderr.startswith(b"caf")


def on_a_terminal(code: str, **env: str) -> tuple[int, bytes]:
    """Exit code and what a terminal got to see of stderr."""
    parent, child = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.DEVNULL,
            stderr=child,
            env=os.environ | {"TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)} | env,
        )
        os.close(child)
        seen = b""
        while True:
            try:
                piece = os.read(parent, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        return process.wait(20), seen
    finally:
        os.close(parent)


STAGE = """
import time
from reprokit.output import Progress
progress = Progress()
progress.begin("run [bold]x[/bold]")
time.sleep(0.15)
progress.step("iteration [red]2[/red]")
time.sleep(0.15)
progress.end("reproduced")
"""


def test_progress_on_a_terminal_is_one_live_line() -> None:
    code, seen = on_a_terminal(STAGE)
    assert code == 0 and b"\x1b[" in seen
    assert b"run [bold]x[/bold]" in seen and b"iteration [red]2[/red]" in seen, "words of a job are no markup"
    assert seen.rstrip().splitlines()[-1].endswith(b" s)")
    assert b"\x1b[?25h" in seen, "the cursor comes back"


def test_a_dumb_terminal_gets_lines() -> None:
    code, seen = on_a_terminal(STAGE, TERM="dumb")
    assert code == 0 and b"\x1b" not in seen and seen.startswith(b"run [bold]x[/bold] ...")


def test_a_closed_pipe_is_a_normal_end() -> None:
    code = "from reprokit import output\nfor n in range(100000): output.data('line')\n"
    words = f'{sys.executable} -c "$CODE" | head -n 1; exit ${{PIPESTATUS[0]}}'
    env: dict[str, Any] = os.environ | {"CODE": code, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(["bash", "-c", words], capture_output=True, env=env, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"line\n", b"")

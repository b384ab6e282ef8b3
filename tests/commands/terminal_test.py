"""On a terminal: a live line with stage, elapsed time and step, taken away at the end; anywhere else plain lines."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.commands.harness import ESCAPE, Desk, wait_until

pytestmark = pytest.mark.job

OWN = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
"""Makes the terminal the controlling one, so that Ctrl-C in it is a signal to the command's group."""
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LIVE = re.compile(r"run control  \d+\.\d s  step [12]/4")


class Terminal:
    """A command on a pseudo-terminal of 80 columns, with all of its output."""

    def __init__(self, desk: Desk, *command: str, **env: str) -> None:
        self.outer, inner = pty.openpty()
        settings = {**desk.env, "TERM": "xterm-256color", "COLUMNS": "80", **env}
        how = {"stdin": inner, "stdout": inner, "stderr": inner, "cwd": desk.folder, "env": settings}
        self.process = subprocess.Popen([sys.executable, "-c", OWN, *command], start_new_session=True, **how)
        os.close(inner)
        self.shown = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self.outer, 65536)
            except OSError:
                return
            if not chunk:
                return
            self.shown += chunk

    @property
    def text(self) -> str:
        return self.shown.decode("utf-8", "replace").replace("\r\n", "\n")

    def until(self, text: str) -> None:
        wait_until(lambda: text in self.text or self.process.poll() is not None)
        assert text in self.text, self.text

    def type(self, data: bytes) -> None:
        """What a person types; b"\\x03" is Ctrl-C."""
        os.write(self.outer, data)

    def end(self) -> int:
        code = self.process.wait(60)
        self._reader.join(10)
        os.close(self.outer)
        return code


def reprokit(desk: Desk, *words: str | Path, **env: str) -> Terminal:
    return Terminal(desk, sys.executable, "-m", "reprokit", *map(str, words), **env)


def screen(text: str) -> list[str]:
    """The lines that a terminal shows in the end: understands what the live line uses."""
    lines, row, column = [""], 0, 0
    for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\n|\r|[^\x1b\r\n]+", text):
        if piece == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif piece == "\r":
            column = 0
        elif piece.startswith("\x1b["):
            if piece.endswith("A"):
                row -= int(piece[2:-1] or 1)
            elif piece.endswith("K"):
                lines[row] = ""
        else:
            lines[row] = lines[row][:column].ljust(column) + piece + lines[row][column + len(piece) :]
            column += len(piece)
    return [line.rstrip() for line in lines if line.strip()]


def test_a_live_line_that_is_taken_away(desk: Desk, kit: Path) -> None:
    terminal = reprokit(desk, "run", kit, "--on", "local", "--times", "2", TINY_STEP_S="0.2")
    assert terminal.end() == 0
    assert LIVE.search(terminal.text), terminal.text[:2000]
    assert "a rank failed; waiting for the job to end" in terminal.text
    assert terminal.text.count(HIDE) == terminal.text.count(SHOW) == 1
    assert re.fullmatch(r"run control: reproduced \(\d+\.\d s\)", screen(terminal.text)[0]), screen(
        terminal.text
    )
    assert screen(terminal.text)[1] == "verdict: reproduced"


def test_no_colour(desk: Desk, kit: Path) -> None:
    terminal = reprokit(desk, "run", kit, "--on", "local", "--times", "2", NO_COLOR="1")
    assert terminal.end() == 0
    assert "run control  " in terminal.text
    assert not COLOUR.search(terminal.text)


def test_a_dumb_terminal_gets_plain_lines(desk: Desk, kit: Path) -> None:
    terminal = reprokit(desk, "make", kit, TERM="dumb")
    assert terminal.end() == 0
    assert ESCAPE not in terminal.text and "\r" not in terminal.text
    assert "record: done before (failing-1)" in terminal.text


def test_colour_is_never_forced_into_a_pipe(desk: Desk, kit: Path) -> None:
    settings = {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm-256color"}
    for words in (["make", kit], ["show", kit], ["check", kit], ["--help"]):
        answer = desk.call(*words, code=0, env=settings)
        assert ESCAPE not in answer.out + answer.err


def test_ctrl_c_gives_the_terminal_back(desk: Desk, recipe: Path) -> None:
    terminal = reprokit(desk, "make", recipe, "-o", "tiny.kit", TINY_STEP_S="0.3")
    terminal.until("step 1/4")
    terminal.type(b"\x03")
    assert terminal.end() == 130
    assert terminal.text.rindex(SHOW) > terminal.text.rindex(HIDE)
    assert screen(terminal.text)[-2:] == [
        "reprokit: interrupted; what was done is kept",
        f"  next: go on with: reprokit make {desk.folder / 'tiny.kit'}",
    ]


def test_an_error_in_a_stage_gives_the_terminal_back(desk: Desk, kit: Path) -> None:
    """A report that would show a secret is refused while its live line is there."""
    token = "hf_" + "aB3dE5fG7hJ9" * 2 + "kLmNoPqRsT"
    declaration = kit / "kit.yaml"
    declaration.write_text(declaration.read_text().replace("behavior: ", f"behavior: token {token} "))
    terminal = reprokit(desk, "make", kit)
    assert terminal.end() == 6, terminal.text
    assert terminal.text.rindex(SHOW) > terminal.text.rindex(HIDE)
    assert screen(terminal.text)[-2].startswith("reprokit: the report would show what looks like a secret")


def test_a_recorded_command_has_the_terminal(desk: Desk) -> None:
    """Ctrl-C goes to the job once, although reprokit and the agent stand in the same process group."""
    program = "import sys, time\ntry:\n  print('ready', sys.stdin.isatty(), flush=True); time.sleep(30)\n"
    program += "except KeyboardInterrupt:\n  print('once', flush=True); time.sleep(0.5); print('done'); sys.exit(7)\n"
    terminal = reprokit(desk, "record", "-o", "new.kit", "--", sys.executable, "-c", program)
    terminal.until("ready True")
    terminal.type(b"\x03")
    assert terminal.end() == 7, terminal.text
    assert [line for line in terminal.text.split("\n") if line.endswith(("once", "done"))] == [
        "^Conce",
        "done",
    ]


@pytest.mark.parametrize("script", ["run.sh", "repro.sh"])
def test_ctrl_c_ends_a_script_of_the_kit(desk: Desk, kit: Path, script: str) -> None:
    """A person who pastes the script and sees the job hang types Ctrl-C."""
    terminal = Terminal(desk, "bash", str(kit / "launch" / script), PYTHON=sys.executable)
    terminal.until("[rank0]: MemoryError")
    terminal.type(b"\x03")
    try:
        assert terminal.process.wait(8) != 0
    finally:
        desk.end_all()
        terminal.end()
        for left in desk.temporary.iterdir():
            subprocess.run(["rm", "-r", str(left)], check=True)


def test_a_reader_that_goes_away(desk: Desk, kit: Path) -> None:
    words = [sys.executable, "-m", "reprokit", "show", str(kit), "--json"]
    process = subprocess.Popen(words, env=desk.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stderr
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), said) == (0, b"")


def test_sighup_ends_the_job_as_ctrl_c_does(desk: Desk, recipe: Path) -> None:
    """The window is closed, the connection is lost."""
    call = desk.watch("make", recipe, "-o", "tiny.kit", env={"TINY_STEP_S": "0.3"})
    call.until_job_says(desk.folder / "tiny.kit", "iteration        1/")
    assert call.signal(signal.SIGHUP).code == 130

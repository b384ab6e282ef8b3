"""Values from a stranger's recipe or folder name arrive as they are and run nothing."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprokit.emit.base import words
from reprokit.model.launch import PYTHON, Launch, Provenance, without_header
from reprokit.render import render, shell_word

Emit = Callable[..., dict[str, str]]
HOSTILE = (
    "$(touch x)", "`touch x`", "; touch x;", "&& touch x", "| touch x", "> x", "'; touch x; '", '"; touch x; "',
    "'\"'\"'", "\\", "\\n", "\\'", "a\\", "'", '"', "''", "$HOME", "${HOME}", "$$", "$'\\x41'", "!!", "!x", "~",
    "~root", "*", "?", "[a]", "{a,b}", "#", "a #b", "a b", "  ", "\t", "\n", "a\nb\n", "\ntouch x\n", "\r\n", "-", "--",
    "-x", "--spool", "-c", "=", "a=b", "%s", "%n", "é", "日本", "\u2028", "\x1b[31m", "\x7f", "CHECK", "\nCHECK\n",
    "EOF", "",
)  # fmt: skip


def test_words_of_the_command_arrive_as_they_are(emit: Emit, play: Callable[..., Any]) -> None:
    text = emit(base=None, python=None, packages=(), env={}, command=(PYTHON, *HOSTILE, "last"))
    played = play(text["launch/run.sh"], REPROKIT_SPOOL="/nowhere")
    assert played.code == 0, played.err
    assert played.words[1:] == [*HOSTILE, "last"]


def test_a_command_may_begin_with_a_dash(emit: Emit, play: Callable[..., Any]) -> None:
    text = emit(base=None, python=None, packages=(), env={}, command=("-x", "--spool", "y"))
    assert play(text["launch/run.sh"], REPROKIT_SPOOL="/nowhere").words == ["-x", "--spool", "y"]


def test_values_of_variables_arrive_as_they_are(emit: Emit, play: Callable[..., Any]) -> None:
    env = {f"V{number}": value for number, value in enumerate(HOSTILE)}
    text = emit(base=None, python=None, packages=(), env=env)
    played = play(text["launch/run.sh"], REPROKIT_SPOOL="/nowhere")
    assert played.code == 0, played.err
    assert {name: played.env.get(name) for name in env} == env


OURS = (
    "KIT",
    "AGENT",
    "WORK",
    "SPOOL",
    "here",
    "missing",
    "found",
    "run",
    "status",
    "agent",
    "scratch",
    "need",
)


@pytest.mark.parametrize("name", [*OURS, "IFS", "PS4", "BASH_ENV", "CDPATH", "UID2", "_x"])
def test_a_variable_may_be_called_like_one_of_the_script(
    emit: Emit, play: Callable[..., Any], kit: Path, name: str
) -> None:
    """The script's own state and the job's environment are two things."""
    text = emit(base=None, python=None, packages=(), env={name: "the job's own"})
    played = play(text["launch/run.sh"])
    assert played.code == 0, played.err
    assert played.env.get(name) == "the job's own"
    assert [path.name for path in kit.parent.glob("*.open")] == ["job.kit.open"]


def test_the_script_s_own_state_does_not_reach_the_job(emit: Emit, play: Callable[..., Any]) -> None:
    """Where the caller's shell exports such a name, the job gets the caller's value or none."""
    text = emit(base=None, python=None, packages=(), env={})
    played = play(text["launch/run.sh"], REPROKIT_SPOOL="/nowhere", **dict.fromkeys(OURS, "outer"))
    changed = {name: played.env[name] for name in OURS if played.env.get(name, "outer") != "outer"}
    assert changed == {}


NAMES = (
    "a\ntouch x",
    "a\n$(touch x)\n",
    "$(touch x)",
    "`touch x`",
    "'; touch x #",
    "a -->\n<script>",
    "a\rtouch x",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_kit_s_name_is_only_a_comment(
    emit: Emit, play: Callable[..., Any], launch: Launch, name: str
) -> None:
    """A folder may be called anything, and kit.yaml of a stranger may say anything."""
    origin = Provenance(version="9", kit=name, subject=None, command="reprokit emit")
    texts = emit(origin, name=name, base=None, python=None, packages=(), env={}, command=(PYTHON, "x"))
    played = play(texts["launch/run.sh"], REPROKIT_SPOOL="/nowhere")
    assert (played.code, played.words[1:]) == (0, ["x"]), played.err
    plain = emit(python=None, packages=(), env={}, base=None, command=(PYTHON, "x"))["launch/run.sh"]
    assert without_header(texts["launch/run.sh"]).count("\n") == without_header(plain).count("\n")
    assert texts["README.md"].splitlines()[0].endswith("-->")
    assert "<script>" not in texts["README.md"].split("-->", 1)[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_kit_s_name_adds_no_line_to_the_container(emit: Emit, name: str) -> None:
    origin = Provenance(version="9", kit=name, subject=None, command="reprokit emit")
    text = emit(origin, name=name)["container/Dockerfile"]
    assert text.count("\n") == emit()["container/Dockerfile"].count("\n")


def test_pieces_around_the_interpreter() -> None:
    assert words((PYTHON, "a", f"--py={PYTHON}", f"{PYTHON}{PYTHON}x", "")) == [
        [None],
        ["a"],
        ["--py=", None],
        [None, None, "x"],
        [""],
    ]


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), max_size=4))
def test_a_shell_word_is_one_word(values: list[str]) -> None:
    assert shlex.split(" ".join(shell_word(value) for value in values)) == values


@settings(max_examples=15)
@given(
    st.lists(
        st.one_of(
            st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12),
            st.sampled_from(HOSTILE),
        ),
        max_size=30,
    )
)
def test_bash_takes_a_shell_word_for_what_it_is(values: list[str]) -> None:
    script = "printf '%s\\0' begin " + " ".join(shell_word(value) for value in values)
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[1:-1] == values


def test_a_value_that_is_forgotten_is_an_error(launch: Launch) -> None:
    """Never an empty word in a script."""
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        render("launch/run.sh.j2", {"launch": launch, "words": []})

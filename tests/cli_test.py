"""The face: verbs, help, wrong words, and what every error looks like."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reprokit import cli
from reprokit.version import VERSION
from tests.commands.harness import Desk
from tests.commands.recipe_maker import write_recipe

pytestmark = pytest.mark.job

VERBS = ["make", "demo", "record", "show", "emit", "check", "run", "verify", "report"]
HEAVY = ("docker", "git", "jinja2", "rich", "pynvml", "yaml")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_verbs_come_in_the_order_a_newcomer_needs() -> None:
    assert list(cli.VERBS) == VERBS


def test_help(desk: Desk) -> None:
    text = desk.call("--help", code=0).out
    places = [text.index(f"\n  {verb} ") for verb in VERBS]
    assert places == sorted(places)
    assert "Exit codes: 0 done" in text and "No verb uploads anything" in " ".join(text.split())
    assert desk.call("-h", code=0).out == text
    assert desk.call("--version", code=0).out == f"reprokit {VERSION}\n"
    bare = desk.call(code=2)
    assert "Usage: reprokit" in bare.out + bare.err


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_imports_nothing_heavy(desk: Desk, verb: str) -> None:
    program = f"import sys; sys.argv = ['reprokit', {verb!r}, '--help']\nfrom reprokit import cli\ncode = cli.main()\n"
    program += f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    done = subprocess.run(
        [sys.executable, "-c", program], env=desk.env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert f"Usage: reprokit {verb} " in done.stdout
    for option in ("--json", "-j N", "--offline"):
        assert option in done.stdout


@pytest.mark.parametrize("verb", ["frobnicate", "Make", "show.kit", ""])
def test_an_unknown_verb(desk: Desk, verb: str) -> None:
    desk.refused(verb, code=2, says="Verbs: make, demo, record")


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_option(desk: Desk, verb: str) -> None:
    desk.refused(verb, "--frobnicate", code=2, says="No such option '--frobnicate'")


@pytest.mark.parametrize("verb", ["make", "show", "emit", "check", "report", "run", "verify"])
def test_a_missing_argument(desk: Desk, verb: str) -> None:
    desk.refused(verb, code=2, says=f"next: reprokit {verb} --help")


@pytest.mark.parametrize("words", [["-j", "0"], ["-j", "many"], ["-j"]])
def test_wrong_numbers(desk: Desk, words: list[str]) -> None:
    desk.refused("check", "x.kit", *words, code=2)


def test_a_name_that_is_no_utf8(desk: Desk) -> None:
    """File names are bytes. A name that cannot be written down is refused in words, never a bug."""
    name = b"caf\xe9.kit".decode("utf-8", "surrogateescape")
    recipe = write_recipe(desk.folder / "tiny", ("address_space_mib: 64", "address_space_mib: null"))
    for words in (
        ["show", name],
        ["make", name],
        ["record", "-o", name, "--", "true"],
        ["show", name, "--json"],
    ):
        answer = desk.call(*words)
        assert answer.code in {0, 2, 5, 6}, str(answer)
    other = b"th\xe9.kit".decode("utf-8", "surrogateescape")
    assert desk.call("make", recipe, "-o", other, "--json").code in {1, 2, 5, 6}
    desk.tidy()


def test_a_bug_becomes_a_note_to_paste(desk: Desk) -> None:
    program = "import sys; sys.argv = ['reprokit', 'show', 'x']\nfrom reprokit import cli\n"
    program += "from reprokit.store import kit\n"
    program += (
        "def broken(path): raise ZeroDivisionError('of a test')\nkit.open_kit = broken\nsys.exit(cli.main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=desk.env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert done.stderr.startswith("reprokit: this is a bug in reprokit")
    assert "ZeroDivisionError: of a test" in done.stderr and "Traceback (most recent" not in done.stderr
    assert str(Path(cli.__file__).parents[1]) not in done.stderr, "frames are cut to what is no one's machine"

"""Filters that stand between evidence and a reader or a shell."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reprokit import resources
from reprokit.render import code, fence, md, render

PIECES = (
    "`", "``", "```", "~~~", "|", "*", "_", "[", "]", "(", ")", "!", "<", ">", "&", "&lt;", "\\", "#", "#3", "@a", "-",
    "+", "1.", "1)", "=", ":", "/", ".", "a", "b c", " ", "http://x", "<b>", "a_b", "é", "$", "~", '"', "'", "{{", "%}",
)  # fmt: skip
# one line of evidence; visible characters and spaces, as readers hand it on
LINES = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=10).map("".join),
    st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "), max_size=20),
)
WITH_BREAKS = st.lists(st.one_of(LINES, st.sampled_from(["\n", "\n\n", "\t"])), max_size=8).map("".join)


def parse(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def leaves(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from leaves(token.children or [])


def visible(tokens: list[Token]) -> str:
    """The words that a reader sees."""
    return "".join(
        token.content for token in leaves(tokens) if token.type in {"text", "text_special", "code_inline"}
    )


def squeezed(text: str) -> str:
    return " ".join(text.replace("\u200b", "").split())


PARAGRAPH = {"paragraph_open", "inline", "text", "text_special", "paragraph_close"}


@given(WITH_BREAKS)
def test_md_is_one_paragraph_of_the_same_words(text: str) -> None:
    tokens = parse("x " + md(text))
    assert {token.type for token in leaves(tokens)} <= PARAGRAPH
    assert squeezed(visible(tokens)) == squeezed("x " + text)


@given(LINES)
def test_md_at_the_beginning_of_a_line(text: str) -> None:
    """Where a quote, a list, a heading or a rule would begin."""
    tokens = parse(md(text))
    assert {token.type for token in leaves(tokens)} <= PARAGRAPH
    assert squeezed(visible(tokens)) == squeezed(text)


@given(LINES)
def test_md_stays_in_its_cell(text: str) -> None:
    tokens = parse(f"| a | b |\n| --- | --- |\n| {md(text)} | end |\n")
    cells = [token for token in leaves(tokens) if token.type == "td_open"]
    assert len(cells) == 2
    assert squeezed(visible(tokens)).replace(" ", "") == squeezed(f"ab{text}end").replace(" ", "")


@pytest.mark.parametrize(
    ("text", "alive"),
    [
        ("#3", r"(?<![\w`])#3"),
        ("owner/repo#3", r"repo#3"),
        ("see (#3)", r"#3"),
        ("@name", r"@name"),
        ("(@name)", r"@name"),
        ("a @org/team", r"@org"),
        ("[^1]", r"(?<!\\)\[\^1\]"),
    ],
)
def test_md_calls_nobody_and_nothing(text: str, alive: str) -> None:
    assert not re.search(alive, md(text))
    assert squeezed(md(text)).replace("\\", "") == text


def test_md_leaves_plain_words_alone() -> None:
    for text in (
        "In iteration 3, rank 0 failed.",
        "host_oom/optimizer.py:copy_group_grads",
        "a-b",
        "mail a@b.example",
    ):
        assert md(text) == text


@given(WITH_BREAKS.filter(str.strip))
def test_code_is_one_span_of_the_same_words(text: str) -> None:
    spans = [token for token in leaves(parse("x " + code(text) + " y")) if token.type == "code_inline"]
    assert [squeezed(token.content) for token in spans] == [squeezed(text)]


@given(LINES.filter(str.strip))
def test_code_stays_in_its_cell(text: str) -> None:
    tokens = parse(render_table(text))
    assert len([token for token in leaves(tokens) if token.type == "td_open"]) == 2
    spans = [squeezed(token.content) for token in leaves(tokens) if token.type == "code_inline"]
    assert spans == [squeezed(text)]


def render_table(text: str) -> str:
    """A table as issue.md has it: one cell verbatim, one in words."""
    from reprokit.report.blocks import Code, Report, Section, Table, say

    table = Table(("a", "b"), ((say(Code(text)), say("end")),))
    report = Report(title="t", sections=(Section("s", (table,)),), sources=(), footer=())
    whole = render("report/issue.md.j2", {"report": report, "header": "h"})
    return "\n".join(line for line in whole.splitlines() if line.startswith("|")) + "\n"


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_code_of_nothing_opens_nothing(text: str) -> None:
    """Two bare backticks would begin a span that ends who knows where."""
    tokens = parse(f"{code(text)} middle {code(text)}")
    assert not any("middle" in token.content for token in leaves(tokens) if token.type == "code_inline")


@given(WITH_BREAKS.filter(str.strip), st.sampled_from(["", "text", "diff", "shell"]))
def test_fence_holds_exactly_its_lines(text: str, language: str) -> None:
    tokens = parse("before\n\n" + fence(text, language) + "\n\nafter\n")
    outline = [token.type for token in tokens if token.level == 0]
    assert outline == ["paragraph_open", "paragraph_close", "fence", "paragraph_open", "paragraph_close"]
    (block,) = [token for token in tokens if token.type == "fence"]
    assert block.content == (text if text.endswith("\n") else text + "\n")
    assert block.info == language


def test_a_missing_value_is_an_error() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        render("launch/README.md.j2", {"header": "x"})


def test_every_template_can_be_read() -> None:
    from jinja2 import Environment

    environment = Environment(autoescape=True)
    paths = sorted(resources.folder("templates").rglob("*.j2"))
    assert paths
    for path in paths:
        environment.parse(path.read_text(encoding="utf-8"), filename=str(path))


def test_every_value_in_a_script_goes_through_a_filter() -> None:
    """A text from a recipe or a folder name reaches a shell only as a quoted word or in a comment filter."""
    plain = re.compile(r"\{\{ ([^{}|]+) \}\}")
    # numbers; what the recipe's schema holds to digits and letters; a path of our own
    safe = {"launch.end_hang_s", "launch.time_s", "name", "launch.base", "launch.requirements", "argv()"}
    found = []
    for path in sorted((resources.folder("templates") / "launch").glob("*.sh.j2")):
        found += [f"{path.name}: {name}" for name in plain.findall(path.read_text()) if name not in safe]
    assert found == []

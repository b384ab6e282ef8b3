"""The text of issue.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reprokit.model.facts import Where
from reprokit.model.run import Rank
from reprokit.render import render
from reprokit.report.blocks import Fenced, Items, Paragraph, Table
from reprokit.report.build import build
from reprokit.report.markdown import markdown
from reprokit.report.material import Material
from reprokit.report.table import FORMATS

Text = Callable[[Material], str]
WithRun = Callable[..., Material]
HEADER = "Made by reprokit 9.9.9 for the kit host-oom (subject run 0123456789ab) by `reprokit report`."
EVIL = (
    "#3", "see owner/repo#3", "@name", "<script>alert(1)</script>", "`ticks`", "```", "a | b", "](http://x.example)",
    "[a](http://x.example)", "![a](http://x.example)", "> quoted", "- item", "+ item", "# heading", "1. item",
    "1) item", "*bold*", "**b**", "_u_", "~~gone~~", "&lt;", "\\", "\x1b[31mred\x1b[0m", "a\x07b", "a\nb", "-->",
    "<!--", "[^1]", "[x]: http://x.example", "===", "---", "    code", "::: note", "$x$", "~~~",
)  # fmt: skip


def test_the_whole_text(text_of: Text, material: Material, golden: Callable[[str, str], None]) -> None:
    golden(text_of(material), "report/issue.md")


def test_two_renders_are_equal(text_of: Text, material: Material) -> None:
    assert text_of(material) == text_of(material)


def test_the_header_is_a_comment(text_of: Text, material: Material) -> None:
    first = text_of(material).splitlines()[0]
    assert first == f"<!-- {HEADER} -->"


@pytest.mark.parametrize("name", ["x --> <script>", "x\n-->\n# y", "x--!>y", "-->"])
def test_a_kit_s_name_stays_in_its_comment(material: Material, name: str) -> None:
    text = markdown(build(material), HEADER.replace("host-oom", name), render)
    comment = next(token for token in tokens(text) if token.type == "html_block").content
    assert comment.strip().endswith("`reprokit report`. -->") and comment.count("-->") == 1
    assert "--!>" not in comment


@pytest.mark.parametrize("which", ["material", "bare"])
def test_nothing_is_none_and_nothing_is_empty(
    text_of: Text, request: pytest.FixtureRequest, which: str
) -> None:
    material = request.getfixturevalue(which)
    text = text_of(material)
    assert not re.search(r"\bNone\b|\bTrue\b|\bFalse\b|Where\(|Size\(", text)
    for section in build(material).sections:
        assert section.title and (section.blocks or section.level == 2), section.title
        for block in section.blocks:
            if isinstance(block, Paragraph):
                assert block.sentences, section.title
            elif isinstance(block, Items):
                assert block.items, section.title
            elif isinstance(block, Table):
                assert block.rows and all(len(row) == len(block.headers) for row in block.rows), section.title
            else:
                assert isinstance(block, Fenced) and block.text.strip(), section.title
    assert "\n\n\n" not in text and text.endswith("\n")


def test_without_sources_there_is_no_heading_for_them(text_of: Text, bare: Material) -> None:
    assert build(bare).sources == ()
    assert "## Sources" not in text_of(bare)


def test_every_reference_has_its_source(text_of: Text, material: Material) -> None:
    text = text_of(material)
    used = set(re.findall(r"\[\^(\d+)\](?!:)", text))
    defined = re.findall(r"^\[\^(\d+)\]: ", text, re.MULTILINE)
    assert used == set(defined) and len(defined) == len(set(defined)) == len(build(material).sources)


def test_the_table_of_formats(material: Material) -> None:
    name, writer = FORMATS["md"]
    assert name == "issue.md" and writer(build(material), HEADER, render).startswith("<!--")


def tokens(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)


def leaves(parsed: list[Token]) -> Iterator[Token]:
    for token in parsed:
        yield token
        yield from leaves(token.children or [])


def shape(text: str) -> list[str]:
    """What a Markdown reader makes of it, without the words."""
    return [
        token.type
        for token in leaves(tokens(text))
        if token.type not in {"text", "softbreak", "text_special"}
    ]


def evil_material(material: Material, evil: str) -> Material:
    """The evidence's words wherever the report shows evidence or words of a stranger's recipe."""
    run = material.subject
    assert run.failure and run.ranks[0].failure and material.recipe
    replace = msgspec.structs.replace
    failure = replace(run.failure, site=f"{evil}:f", exception=evil)
    ranks = tuple(
        Rank(
            rank=rank.rank,
            failure=replace(
                rank.failure,
                statement=evil,
                site=f"{evil}:f",
                exception=evil,
                where=Where("a.log", 40 + rank.rank, evil),
            ),
        )
        if rank.failure
        else rank
        for rank in run.ranks
    )
    findings = tuple(replace(finding, statement=evil) for finding in run.findings)
    subject = replace(
        run, failure=failure, ranks=ranks, findings=findings, versions={**run.versions, "os": evil}
    )
    candidates = tuple(
        replace(one, title=evil, reasons=(evil,), limitations=(evil,)) for one in material.candidates
    )
    return replace(
        material,
        subject=subject,
        runs={**material.runs, subject.id: subject},
        candidates=candidates,
        recipe=replace(
            material.recipe, summary=evil, report=replace(material.recipe.report, suggested=(evil,))
        ),
        excerpts=dict.fromkeys(material.excerpts, evil + "\n"),
        behavior=evil,
        scopes=dict.fromkeys(material.scopes, evil),
        loose=(evil,),
    )


@pytest.mark.parametrize("evil", EVIL)
def test_evidence_is_words_and_nothing_else(text_of: Text, material: Material, evil: str) -> None:
    """The document has the same shape, whatever stands in the evidence."""
    assert shape(text_of(evil_material(material, evil))) == shape(text_of(evil_material(material, "word")))


@pytest.mark.parametrize("evil", EVIL)
def test_no_mention_reference_tag_or_false_source(text_of: Text, material: Material, evil: str) -> None:
    text = text_of(evil_material(material, evil))
    prose = "".join(token.content for token in leaves(tokens(text)) if token.type == "text")
    assert not re.search(r"(?<![\w`])@name", prose)
    assert not re.search(r"(?<![\w`&])#3", prose) and "repo#3" not in prose
    assert "<script" not in without_code(text)
    assert alive(text) == alive(text_of(evil_material(material, "word")))


def alive(text: str) -> int:
    """How often source 1 is cited or defined."""
    return len(re.findall(r"(?<!\\)\[\^1\]", without_code(text)))


@pytest.mark.parametrize("evil", ["\x1b[31mred\x1b[0m", "\x07", "\x00", "a\x08b", "\x9b31m", "\u202egnp.exe"])
def test_no_control_character_reaches_the_reader(text_of: Text, material: Material, evil: str) -> None:
    """Colours of a log are noise in an issue; others hide what is really there."""
    text = text_of(evil_material(material, evil))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def without_code(text: str) -> str:
    """The text without fences and code spans: there nothing is alive."""
    text = re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\\\\|\\`", "", text)
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def test_tables_keep_their_columns(text_of: Text, material: Material, with_run: WithRun) -> None:
    text = text_of(evil_material(material, "a | b"))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    counts = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert counts <= {5, 6, 7}


def test_evidence_shows_as_it_is(text_of: Text, material: Material) -> None:
    """Escapes are for Markdown's eyes: a reader sees the words of the log."""
    evil = "x|y `z` a_b_c <w> \\n *"
    parsed: Any = tokens(text_of(evil_material(material, evil)))
    spans = [token.content for token in leaves(parsed) if token.type == "code_inline"]
    assert evil in spans

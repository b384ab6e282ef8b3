"""Patch verification: what was run, what was seen, what it does not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from reprokit.report import patches
from reprokit.report.blocks import Fenced, Table
from reprokit.report.material import Material

ReadIt = Callable[[Material], Any]


def one(material: Material, **changes: Any) -> Material:
    return msgspec.structs.replace(
        material, candidates=(msgspec.structs.replace(material.candidates[0], **changes),)
    )


def test_a_candidate_that_fixes(read: ReadIt, material: Material) -> None:
    report = read(material)
    assert report.said("Candidate 1") == [
        "Candidate: Chunk by chunk.",
        "Scope: Never holds a whole copy.",
        "How the result was obtained: run by reprokit (control run-1, patched verify-1).",
        "Pass criterion: 30 iterations complete and the job exits with 0.",
        "verify-1 completed 30 iterations and exited with 0.",
        "Limitations:",
        "Tried with one seed.",
    ]
    fenced = [block for block in report.section("Candidate 1").blocks if isinstance(block, Fenced)]
    assert [(block.language, block.text) for block in fenced] == [("diff", material.patches["chunked"])]
    assert report.section("Candidate 1").level == 3


def test_deltas_stand_with_both_lines(read: ReadIt, material: Material) -> None:
    report = read(material)
    (table,) = [block for block in report.section("Candidate 2").blocks if isinstance(block, Table)]
    assert table.headers == ("Rank", "Point", "Figure", "Control", "Patched", "Difference")
    rows = [[str(getattr(p, "text", p)) for cell in row for p in cell.pieces] for row in table.rows]
    assert rows == [
        ["0", "after iteration 1", "mem-max-allocated-gigabytes", "0.11344", "0.11344", "none"],
        ["0", "after iteration 2", "mem-max-allocated-gigabytes", "0.12813", "0.11744", "-10.19 MiB"],
    ]
    assert report.places(table.rows[1][0]) == [
        "evidence/run-1/node-0/output.log:12",
        "evidence/verify-2/node-0/output.log:13",
    ]
    assert "Failing ranks 0, 2, 4 became 0, 2." in report.said("Candidate 2")


def test_a_long_patch_is_not_shown(read: ReadIt, material: Material) -> None:
    assert material.patches["release-early"].count("\n") > patches.MAX_PATCH_LINES
    blocks = read(material).section("Candidate 2").blocks
    assert not [block for block in blocks if isinstance(block, Fenced)]


def test_a_long_patch_is_named(read: ReadIt, material: Material) -> None:
    """Where it is not shown, a reader must be able to find it."""
    assert any("release-early.patch" in sentence for sentence in read(material).said("Candidate 2"))


def test_a_patch_that_was_not_run(read: ReadIt, material: Material) -> None:
    said = read(material).said("Candidate 3")
    assert "error: patch failed: optimizer.py:1" in said
    assert not any("control" in sentence for sentence in said)


def test_the_base_is_said_where_it_is_one(read: ReadIt, material: Material) -> None:
    assert "on the base revision 0123456789abcdef" in read(material).said("Patch verification")[0]
    mixed = (*material.candidates, msgspec.structs.replace(material.candidates[0], id="x", base="f" * 40))
    said = read(msgspec.structs.replace(material, candidates=mixed)).said("Patch verification")[0]
    assert "base revision" not in said


def test_without_candidates_there_is_no_heading(read: ReadIt, material: Material) -> None:
    assert not any(
        "Patch" in title for title in read(msgspec.structs.replace(material, candidates=())).titles
    )


def test_a_stated_result_says_so(read: ReadIt, material: Material) -> None:
    said = read(one(material, how="stated")).said("Candidate 1")
    assert any("stated: the runs were named by a person" in sentence for sentence in said)


@pytest.mark.parametrize(
    "outcome", ["fixes", "does_not_fix", "changes_failure", "does_not_apply", "inconclusive"]
)
def test_every_outcome_has_its_words(read: ReadIt, material: Material, outcome: Any) -> None:
    (title,) = [
        t for t in read(one(material, outcome=outcome)).titles if t.startswith("Candidate 1, chunked: ")
    ]
    assert title.removeprefix("Candidate 1, chunked: ") in patches.WORDS.values() and "_" not in title


def test_a_candidate_without_reasons_has_no_empty_list(read: ReadIt, material: Material) -> None:
    blocks = read(one(material, reasons=(), side_effects=(), limitations=())).section("Candidate 1").blocks
    assert all(getattr(block, "items", True) for block in blocks)

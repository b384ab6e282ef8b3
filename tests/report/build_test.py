"""The sections' data, before any renderer sees it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from reprokit.model.facts import Where, seen
from reprokit.model.run import Failure, Hang, Progress, Rank
from reprokit.model.verdict import Attempt, Verdict
from reprokit.report.blocks import Fenced, Items, Table, say
from reprokit.report.build import build
from reprokit.report.material import Material, ranks_text

ReadIt = Callable[[Material], Any]
WithRun = Callable[..., Material]
SITE = "host_oom/optimizer.py:copy_group_grads"


def test_the_sections_and_their_order(read: ReadIt, material: Material) -> None:
    assert read(material).titles == [
        "Problem",
        "Additional observations",
        "Memory",
        "Minimal repro",
        "Expected behavior",
        "Actual behavior",
        "Regression?",
        "Environment",
        "Logs",
        "Suggested investigation",
        "Patch verification",
        "Candidate 1, chunked: fixes it",
        "Candidate 2, release-early: does not fix it",
        "Candidate 3, old: does not apply",
    ]


def test_the_title_says_what_where_when_and_who(material: Material) -> None:
    assert build(material).title == (
        "[bug] host-oom: ArrayMemoryError in copy_group_grads in iteration 3 on ranks 0, 2 and 4 of 8, then hangs"
    )


def test_the_problem(read: ReadIt, material: Material) -> None:
    report = read(material)
    assert report.said("Problem") == [
        "A small job completes two iterations, then cannot allocate.",
        (
            "In iteration 3 (inferred: 2 was the last one reported as done), ranks 0, 2 and 4 raise "
            f"numpy._core._exceptions._ArrayMemoryError in {SITE}."
        ),
        "Rank 0, whose failure was printed first, asked for 24.0 MiB (25165824 bytes) and was refused.",
        material.subject.findings[0].statement,
        "Run again from the kit, the same failure came back in 1 of 1 runs.",
    ]
    where = [report.places(sentence) for sentence in report.all_of("Problem")]
    log = "evidence/recorded-1/node-0/output.log"
    assert where == [
        [],
        [f"{log}:40", f"{log}:42", f"{log}:44"],
        [f"{log}:40"],
        ["evidence/recorded-1/node-0/end.json:0"],
        ["evidence/run-1/node-0/output.log:40"],
    ]


def test_what_happened_in_order(read: ReadIt, material: Material) -> None:
    report = read(material)
    block = report.section("Actual").blocks[0]
    assert isinstance(block, Items) and block.numbered
    said = report.said("Actual")
    assert said[0] == (
        "Iterations 1 and 2 of 30 complete. After iteration 2, rank 0 reports mem-max-allocated-gigabytes "
        "0.12813 (122.19 MiB)."
    )
    assert said[1].startswith("Iteration 3 captures its static buffers")
    assert said[2].startswith("In iteration 3 (inferred")
    assert said[5] == "Exit code of the command, after it was ended: 143."


def test_the_table_of_ranks(read: ReadIt, material: Material) -> None:
    table = read(material).section("Actual").blocks[1]
    assert isinstance(table, Table) and table.headers == ("Rank", "Site", "Statement", "Asked for")
    assert [row[0].pieces[0] for row in table.rows] == ["0", "2", "4"]
    assert table.rows[0][3].pieces == ("24.00 MiB (25165824 bytes)",)
    assert all(row[0].refs for row in table.rows)


def every_number(read: ReadIt, material: Material, *titles: str) -> None:
    """Every number is sourced, in its sentence or in its row; the recipe's own words are a person's."""
    report = read(material)
    stated = {" ".join(material.recipe.summary.split())} if material.recipe else set()
    for title in titles:
        for block in report.section(title).blocks:
            rows = block.rows if isinstance(block, Table) else [(item,) for item in _sentences(block)]
            for row in rows:
                words = " ".join(str(getattr(p, "text", p)) for cell in row for p in cell.pieces)
                if re.search(r"\d", words) and words not in stated:
                    assert any(cell.refs for cell in row), f"no source: {words}"


def _sentences(block: Any) -> Any:
    return getattr(block, "sentences", None) or getattr(block, "items", ())


def test_every_number_has_a_source(read: ReadIt, material: Material) -> None:
    every_number(read, material, "Problem", "Actual", "Memory")


def test_every_number_has_a_source_without_memory_lines(read: ReadIt, with_run: WithRun) -> None:
    every_number(read, with_run(memory=()), "Problem", "Actual")


def test_a_failure_of_a_job_without_ranks_has_its_source(read: ReadIt, with_run: WithRun) -> None:
    """One process, one traceback, and no line that names a rank: the plainest job there is."""
    where = Where("node-0/output.log", 9, "ValueError: 7")
    failure = Failure(
        kind="unknown", exception="ValueError", site="train.py:main", iteration=3, last_completed_iteration=2,
        details={"kind": seen(where, where.text), "exception": seen(where, "ValueError")},
    )  # fmt: skip
    material = with_run(failure=failure, ranks=(), memory=(), findings=(), hang=None)
    every_number(read, material, "Problem", "Actual")
    report = read(material)
    sentence = next(one for one in report.all_of("Problem") if "ValueError" in str(one.pieces))
    assert report.places(sentence) == ["evidence/recorded-1/node-0/output.log:9"]


def test_a_hang_without_a_failure_is_called_a_hang(read: ReadIt, with_run: WithRun) -> None:
    end = Where("node-0/end.json", 0)
    material = with_run(
        outcome="unfinished", findings=(), ranks=(), exit_code=None, ended_by="agent", ended_evidence=(end,),
        hang=Hang(since="2026-10-02T03:04:07Z", seconds=5.2, evidence=(end,)),
        failure=Failure(kind="hang", iteration=3, last_completed_iteration=2),
    )  # fmt: skip
    said = " ".join(read(material).said("Problem") + read(material).said("Actual"))
    assert "raise" not in said and "5.2 s" in said
    every_number(read, material, "Problem", "Actual")


def test_an_end_without_a_word_raises_nothing(read: ReadIt, with_run: WithRun) -> None:
    material = with_run(
        failure=Failure(kind="unknown"),
        ranks=(),
        findings=(),
        hang=None,
        exit_code=1,
        ended_by="exit",
        memory=(),
    )
    assert "raise" not in " ".join(read(material).said("Problem"))


def test_a_source_is_numbered_once(material: Material) -> None:
    sources = build(material).sources
    assert [source.number for source in sources] == list(range(1, len(sources) + 1))
    assert len({(source.path, source.line) for source in sources}) == len(sources)
    assert all(source.path.startswith("evidence/") for source in sources)


def test_a_place_is_cited_once_in_a_sentence() -> None:
    assert say("Both.", refs=(2, 1, 2)).refs == (2, 1)


def test_every_source_is_used(read: ReadIt, material: Material) -> None:
    report = read(material)
    used = {
        number for title in report.titles for sentence in report.all_of(title) for number in sentence.refs
    }
    assert used == {source.number for source in report.report.sources}


def test_observations_say_how_sure_they_are(read: ReadIt, material: Material) -> None:
    assert read(material).said("Additional") == [
        "Stacks show two groups. (likely, not proven)",
        "Ruled out: There is no reserve.",
    ]


def test_memory_stays_with_its_rank_and_both_units(read: ReadIt, material: Material) -> None:
    table = read(material).section("Memory").blocks[0]
    assert [[str(getattr(p, "text", p)) for cell in row for p in cell.pieces] for row in table.rows] == [
        ["0", "1", "mem-max-allocated-gigabytes", "0.11344", "108.18 MiB"],
        ["0", "2", "mem-max-allocated-gigabytes", "0.12813", "122.19 MiB"],
    ]


def test_the_environment(read: ReadIt, material: Material) -> None:
    said = read(material).said("Environment")
    assert "Memory of the host: 62.80 GiB (67430182912 bytes)." in said
    assert "Packages (checked before each start): numpy==2.4.6." in said
    assert said[0] == "Base revision: 0123456789abcdef0123456789abcdef01234567 (in the kit as a git bundle)."
    assert any("python:3.12-slim is a tag" in sentence for sentence in said)


def test_an_unknown_base_is_in_no_bundle(read: ReadIt, bare: Material) -> None:
    assert not any("bundle" in sentence for sentence in read(bare).said("Environment"))


def test_logs_show_one_rank_of_each_failure(read: ReadIt, material: Material) -> None:
    report = read(material)
    assert report.said("Logs") == ["Rank 0; the same exception, site and statement on ranks 2 and 4:"]
    fenced = [block for block in report.section("Logs").blocks if isinstance(block, Fenced)]
    first = next(rank.failure.where for rank in material.subject.ranks if rank.failure)
    assert [block.text for block in fenced] == [material.excerpts[first]]


def test_logs_show_each_distinct_failure(read: ReadIt, material: Material, with_run: WithRun) -> None:
    ranks = list(material.subject.ranks)
    assert ranks[2].failure
    other = msgspec.structs.replace(ranks[2].failure, site="x.py:f")
    ranks[2] = Rank(rank=2, failure=other)
    assert read(with_run(ranks=tuple(ranks))).said("Logs") == [
        "Rank 0; the same exception, site and statement on rank 4:",
        "Rank 2:",
    ]


def test_suggestions_are_the_recipe_s_and_those_of_rules_that_hold(read: ReadIt, material: Material) -> None:
    assert read(material).said("Suggested") == ["Check the budget.", "Exit with an error when a rank fails."]


def test_whether_it_came_back(read: ReadIt, material: Material) -> None:
    none = msgspec.structs.replace(material, verdict=Verdict(outcome="inconclusive"))
    assert read(none).said("Problem")[-1] == "It has not been run again."
    runs = {**material.runs, "run-2": msgspec.structs.replace(material.subject, id="run-2")}
    attempts = (Attempt(run="run-1", outcome="reproduced"), Attempt(run="run-2", outcome="changed"))
    mixed = msgspec.structs.replace(
        material, verdict=Verdict(outcome="inconclusive", attempts=attempts), runs=runs
    )
    assert read(mixed).said("Problem")[-1].endswith("came back in 1 of 2 runs.")


def test_before_any_iteration(read: ReadIt, material: Material, with_run: WithRun) -> None:
    failure = msgspec.structs.replace(material.subject.failure, iteration=None, last_completed_iteration=None)
    early = with_run(failure=failure, progress=Progress(), memory=())
    assert (
        read(early)
        .said("Problem")[1]
        .startswith("Before any iteration was reported as done, ranks 0, 2 and 4")
    )
    assert "iteration" not in build(early).title


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ((), "a rank that no line names"),
        ((3,), "rank 3"),
        ((0, 2), "ranks 0 and 2"),
        ((0, 2, 4), "ranks 0, 2 and 4"),
    ],
)
def test_ranks_in_words(ranks: tuple[int, ...], words: str) -> None:
    assert ranks_text(ranks) == words


def test_the_same_material_gives_the_same_report(material: Material) -> None:
    assert build(material) == build(material)


def test_ranks_that_failed_otherwise_are_told_apart(
    read: ReadIt, material: Material, with_run: WithRun
) -> None:
    """Nobody gets another rank's exception or site."""
    ranks = list(material.subject.ranks)
    assert ranks[2].failure
    other = msgspec.structs.replace(ranks[2].failure, exception="ValueError", site="x.py:f")
    ranks[2] = Rank(rank=2, failure=other)
    changed = with_run(ranks=tuple(ranks))
    said = read(changed).said("Problem")
    assert any(
        "ranks 0 and 4 raise numpy._core._exceptions._ArrayMemoryError" in sentence for sentence in said
    )
    assert "Besides, rank 2 raises ValueError in x.py:f." in said
    assert "on ranks 0 and 4 of 8" in build(changed).title


def test_a_failure_without_a_rank_has_its_row_and_its_lines(
    read: ReadIt, material: Material, with_run: WithRun
) -> None:
    failure = next(rank.failure for rank in material.subject.ranks if rank.failure)
    changed = msgspec.structs.replace(
        with_run(ranks=(), unranked=(failure,)), excerpts={failure.where: "Traceback\nMemoryError\n"}
    )
    report = read(changed)
    assert report.said("Logs") == ["No rank named:"]
    table = report.section("Actual").blocks[1]
    assert isinstance(table, Table) and table.rows[0][0].pieces == ("not named",)

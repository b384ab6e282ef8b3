"""One kit's facts, as they come out of evidence, and reports made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from reprokit.analyze.assemble import assemble
from reprokit.model.facts import Where, seen
from reprokit.model.finding import Finding
from reprokit.model.fingerprint import Fingerprint
from reprokit.model.kit import RUN_SCHEMA, RunDeclaration
from reprokit.model.launch import PYTHON, Launch
from reprokit.model.recipe import Recipe
from reprokit.model.run import Failure, Hang, MemoryFigures, Progress, Rank, RankFailure, Run
from reprokit.model.trace import Iteration, Phase
from reprokit.model.units import Size
from reprokit.model.verdict import Attempt, CandidateVerdict, Delta, Verdict
from reprokit.render import render
from reprokit.report.blocks import Block, Code, Fenced, Items, Paragraph, Report, Section, Sentence, Table
from reprokit.report.build import build
from reprokit.report.markdown import markdown
from reprokit.report.material import Material

LOG, END, PART = "node-0/output.log", "node-0/end.json", "node-0/part.json"
SITE = "host_oom/optimizer.py:copy_group_grads"
STATEMENT = "shard_main_param.grad = shard_model_grad.astype(np.float32)"
EXCEPTION = "numpy._core._exceptions._ArrayMemoryError"
BASE = "0123456789abcdef0123456789abcdef01234567"
HEADER = "Made by reprokit 9.9.9 for the kit host-oom (subject run 0123456789ab) by `reprokit report`."


def rank_failure(rank: int, requested: int | None = 25165824) -> RankFailure:
    return RankFailure(
        kind="cpu_oom", exception=EXCEPTION, site=SITE, statement=STATEMENT, requested_bytes=requested,
        message="Unable to allocate 24.0 MiB",
        first=Where(LOG, 20 + rank, f"[rank{rank}]: Traceback (most recent call last):"),
        where=Where(LOG, 40 + rank, f"[rank{rank}]: {EXCEPTION}: Unable to allocate 24.0 MiB"),
    )  # fmt: skip


def memory(after: int, line: int, printed: str, count: int) -> MemoryFigures:
    where = Where(LOG, line, f"[Rank 0] (after {after} iterations) memory (GB) | ...")
    return MemoryFigures(
        rank=0,
        after_iteration=after,
        values={"mem-max-allocated-gigabytes": Size(count, printed)},
        where=where,
    )


def progress() -> Progress:
    """As it comes out of a log, with whatever says where it was read."""
    lines = [
        *(Iteration(where=Where(LOG, 9 + 2 * n, f"iteration {n}"), iteration=n, planned=30) for n in (1, 2)),
        Phase(where=Where(LOG, 14, "[Rank 0] Capture static buffers"), rank=0, name="capture_begin"),
    ]
    found = assemble(
        RunDeclaration(schema=RUN_SCHEMA, id="x", role="current", origin="recorded"), [LOG], lines
    ).progress
    assert (found.first, found.last, found.planned, found.capture_at) == (1, 2, 30, 3)
    return found


def subject() -> Run:
    end = Where(END, 0)
    failing = (0, 2, 4)
    return Run(
        id="recorded-1",
        role="first-failing",
        commits={"base": BASE},
        progress=progress(),
        outcome="failed",
        exit_code=143,
        ended_by="agent",
        ended_evidence=(end,),
        hang=Hang(since="2026-10-02T03:04:07Z", seconds=5.2, evidence=(end,)),
        failure=Failure(
            kind="cpu_oom", exception=EXCEPTION, site=SITE, first_failing_rank=0, first_printed_rank=2,
            failing_ranks=failing, iteration=3, last_completed_iteration=2, requested_bytes=25165824,
            hang_after_failure=True, details={"requested_bytes": seen(Where(LOG, 40), "24.0 MiB")},
        ),
        ranks=tuple(Rank(rank=rank, failure=rank_failure(rank) if rank in failing else None) for rank in range(8)),
        fingerprint=Fingerprint(
            id="0123456789ab", kind="cpu_oom", site=SITE, exception=EXCEPTION, statement=STATEMENT,
            phase="after_capture", iteration=3, ranks=failing, then_hung=True,
        ),
        versions={
            "python": "3.11.7", "os": "Ubuntu 24.04.1 LTS", "kernel": "6.8.0", "mem_total_bytes": "67430182912",
            "agent": "1.0",
        },
        version_sources=dict.fromkeys(("python", "os", "kernel", "mem_total_bytes"), PART),
        memory=(memory(1, 10, "0.11344", 113440000), memory(2, 12, "0.12813", 128130000)),
        findings=(
            Finding(
                rule="hang_after_failure", holds=True, confidence="established", evidence=(end,),
                statement="After the failure of ranks 0, 2 and 4, nothing moved for 5.2 s and no process exited; "
                "the recording agent ended the processes.",
                suggests="Exit with an error when a rank fails.",
            ),
            Finding(
                rule="hang_mechanism", holds=True, confidence="likely", evidence=(Where("node-0/stacks/17.txt", 3),),
                statement="Stacks show two groups.",
            ),
            Finding(
                rule="fragmentation", holds=False, confidence="established", statement="There is no reserve.",
                suggests="Never shown.",
            ),
        ),
    )  # fmt: skip


def delta(after: int, line: int, a: int, b: int) -> Delta:
    return Delta(
        what="mem-max-allocated-gigabytes", rank=0, point=f"after iteration {after}", a_bytes=a, b_bytes=b,
        delta_bytes=b - a, a=Where(LOG, line, "control"), b=Where(LOG, line + 1, "patched"), a_printed=f"{a / 1e9}",
        b_printed=f"{b / 1e9}",
    )  # fmt: skip


CANDIDATES = (
    CandidateVerdict(
        id="chunked", kind="code patch", base=BASE, outcome="fixes", how="run", control="run-1", patched="verify-1",
        title="Chunk by chunk", expected="fixes", reasons=("verify-1 completed 30 iterations and exited with 0.",),
        limitations=("Tried with one seed.",),
    ),
    CandidateVerdict(
        id="release-early", kind="code patch", base=BASE, outcome="does_not_fix", how="run", control="run-1",
        patched="verify-2", reasons=(f"verify-2 failed in {SITE} (cpu_oom), as run-1 did.",),
        deltas=(delta(1, 10, 113440000, 113440000), delta(2, 12, 128130000, 117440000)),
        side_effects=("Failing ranks 0, 2, 4 became 0, 2.",),
    ),
    CandidateVerdict(
        id="old", kind="code patch", base=BASE, outcome="does_not_apply", how="run", control=None, patched=None,
        reasons=("error: patch failed: optimizer.py:1",),
    ),
)  # fmt: skip

RECIPE = msgspec.convert(
    {
        "schema": "reprokit/recipe/1", "name": "host-oom", "title": "It fails",
        "summary": "A small job completes two iterations,\n  then cannot allocate.",
        "source": {"path": "program", "commit": BASE},
        "requires": {"python": ">=3.11", "packages": ["numpy==2.4.6"]},
        "job": {"command": ["{python}", "train.py"], "ranks": 8, "steps": 30},
        "hang": {"end_after_s": 4}, "expect": {"pass_iterations": 30, "behavior": "All of it completes."},
        "container": {"base": "python:3.12-slim"}, "report": {"suggested": ["Check the budget."]},
    },
    Recipe,
)  # fmt: skip


@pytest.fixture(scope="session")
def material() -> Material:
    run = subject()
    again = msgspec.structs.replace(run, id="run-1", role="control")
    return Material(
        kit="host-oom",
        kit_id="abcdefabcdef",
        version="9.9.9",
        subject=run,
        verdict=Verdict(
            outcome="reproduced", reasons=("Same.",), attempts=(Attempt(run="run-1", outcome="reproduced"),)
        ),
        runs={run.id: run, again.id: again},
        candidates=CANDIDATES,
        excerpts={
            rank.failure.where: f"[rank{rank.rank}]: Traceback\n[rank{rank.rank}]: {EXCEPTION}\n"
            for rank in run.ranks
            if rank.failure
        },
        patches={
            "chunked": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n",
            "release-early": "+++ b/x.py\n" + "+x\n" * 200,
        },
        scopes={"chunked": "Never holds\na whole copy."},
        repro="#!/usr/bin/env bash\ntimeout 120 python3 train.py\n",
        recipe=RECIPE,
        launch=Launch(
            name="host-oom", base=BASE, command=(PYTHON, "train.py"), env={}, end_hang_s=4, time_s=120,
            packages=("numpy==2.4.6",), container_base="python:3.12-slim",
        ),
        behavior="All 30 iterations complete.",
        pass_iterations=30,
        loose=("python:3.12-slim is a tag, not a digest",),
    )  # fmt: skip


@pytest.fixture(scope="session")
def with_run(material: Material) -> Callable[..., Material]:
    """with_run(field=value, ...): the material with some fields of its subject replaced."""

    def make(**changes: Any) -> Material:
        run = msgspec.structs.replace(material.subject, **changes)
        return msgspec.structs.replace(material, subject=run, runs={**material.runs, run.id: run})

    return make


@pytest.fixture(scope="session")
def bare() -> Material:
    """A recorded job of which nothing more is known."""
    run = Run(id="recorded-1")
    return Material(
        kit="job", kit_id="", version="9.9.9", subject=run, verdict=Verdict(outcome="inconclusive"),
        runs={run.id: run}, candidates=(), excerpts={}, patches={}, scopes={},
    )  # fmt: skip


@pytest.fixture(scope="session")
def text_of() -> Callable[[Material], str]:
    return lambda material: markdown(build(material), HEADER, render)


def plain(sentence: Sentence) -> str:
    """A sentence without its sources."""
    return "".join(piece.text if isinstance(piece, Code) else piece for piece in sentence.pieces)


def sentences(block: Block) -> list[Sentence]:
    if isinstance(block, Paragraph):
        return list(block.sentences)
    if isinstance(block, Items):
        return list(block.items)
    if isinstance(block, Table):
        return [cell for row in block.rows for cell in row]
    assert isinstance(block, Fenced)
    return []


class Read:
    """A built report, section by section."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.titles = [section.title for section in report.sections]

    def section(self, title: str) -> Section:
        return next(section for section in self.report.sections if section.title.startswith(title))

    def said(self, title: str) -> list[str]:
        """Every sentence of a section, tables cell by cell."""
        return [plain(sentence) for sentence in self.all_of(title)]

    def all_of(self, title: str) -> list[Sentence]:
        return [sentence for block in self.section(title).blocks for sentence in sentences(block)]

    def places(self, sentence: Sentence) -> list[str]:
        """Where its sources stand, as `path:line`."""
        found = [self.report.sources[number - 1] for number in sentence.refs]
        return [f"{source.path}:{source.line}" for source in found]


@pytest.fixture(scope="session")
def read() -> Callable[[Material], Read]:
    return lambda material: Read(build(material))

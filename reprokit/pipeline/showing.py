"""`show`: facts as JSON or as lines, and verdicts in words for all verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reprokit.analyze.compare import compare
from reprokit.errors import InputError
from reprokit.model.run import Run
from reprokit.model.verdict import CandidateVerdict, Verdict
from reprokit.pipeline import judging
from reprokit.pipeline.facts import Facts, facts
from reprokit.report import show
from reprokit.store.kit import Kit

SCHEMA = "reprokit/show/1"


def _chosen(found: Facts, run_id: str | None) -> list[Run]:
    if run_id is None:
        return list(found.runs.values())
    if run_id not in found.runs:
        raise InputError(f"no run {run_id!r}", hint="runs: " + (", ".join(found.runs) or "none"))
    return [found.runs[run_id]]


def answer(kit: Kit, run_id: str | None) -> dict[str, Any]:
    """The JSON of `show`: every run, and each other run compared with the subject."""
    found = facts(kit, cache=False)
    runs = _chosen(found, run_id)
    subject = found.subject
    others = [run for run in runs if subject is not None and run.id != subject.id]
    return {
        "schema": SCHEMA,
        "runs": runs,
        "comparisons": [compare(subject, run) for run in others] if subject is not None else [],
        "verdict": judging.reproduction(found) if subject is not None else None,
        "candidates": judging.candidate_verdicts(kit, found),
        "altered": [*found.altered, *kit.altered()],
    }


def lines(kit: Kit, run_id: str | None) -> list[str]:
    """`show` for a person."""
    found = facts(kit, cache=False)
    runs = _chosen(found, run_id)
    if not runs:
        return [f"kit {kit.declaration.name}: no runs yet"]
    said = [f"ALTERED since it was sealed: {name}" for name in (*found.altered, *kit.altered())]
    for run in sorted(runs, key=lambda run: run.id != kit.declaration.subject):
        said += show.run_lines(run, subject=run.id == kit.declaration.subject)
    if run_id is None and found.subject is not None:
        said += verdict_text(judging.reproduction(found))
        said += candidates_text(judging.candidate_verdicts(kit, found))
    return said


def verdict_text(verdict: Verdict) -> list[str]:
    """A verdict for a person."""
    return show.verdict_lines(verdict)


def candidates_text(candidates: Sequence[CandidateVerdict]) -> list[str]:
    """Judged candidates for a person."""
    return show.candidate_lines(candidates)

"""The report's patch verification: each candidate with what was run, what was seen, and what it does not show."""

from __future__ import annotations

from reprokit.model.units import signed
from reprokit.model.verdict import CandidateVerdict, Delta
from reprokit.report.blocks import Block, Code, Fenced, Items, Paragraph, Section, Sources, Table, say
from reprokit.report.material import Material

WORDS = {
    "fixes": "fixes it",
    "does_not_fix": "does not fix it",
    "changes_failure": "changes the failure",
    "does_not_apply": "does not apply",
    "inconclusive": "inconclusive",
}
MAX_PATCH_LINES = 120
"""Longer patches are named, not shown."""


def sections(material: Material, sources: Sources) -> list[Section]:
    """One heading, then one section a candidate. Nothing where no candidate was judged."""
    if not material.candidates:
        return []
    found = [Section("Patch verification", (Paragraph((say(_base_words(material)),)),))]
    for number, verdict in enumerate(material.candidates, 1):
        found.append(_candidate(number, verdict, material, sources))
    return found


def _base_words(material: Material) -> str:
    bases = {verdict.base for verdict in material.candidates}
    base = bases.pop() if len(bases) == 1 else None
    on = f" on the base revision {base}" if base else ""
    return (
        f"Each candidate was applied alone{on} and run once the same way as the control, which has no patch."
    )


def _candidate(number: int, verdict: CandidateVerdict, material: Material, sources: Sources) -> Section:
    facts = []
    if verdict.title:
        facts.append(say("Candidate: ", verdict.title, "."))
    scope = material.scopes.get(verdict.id)
    if scope:
        facts.append(say("Scope: ", " ".join(scope.split())))
    how = "run by reprokit" if verdict.how == "run" else "stated: the runs were named by a person"
    facts.append(say(f"How the result was obtained: {how}", *_runs(verdict), "."))
    if material.pass_iterations is not None:
        facts.append(
            say(f"Pass criterion: {material.pass_iterations} iterations complete and the job exits with 0.")
        )
    blocks: list[Block] = [Items(tuple(facts))]
    said = (*verdict.reasons, *verdict.side_effects)
    if said:
        blocks.append(Items(tuple(say(reason) for reason in said)))
    if verdict.deltas:
        blocks.append(Paragraph((say("Figures of the same rank at equal points before the failure:"),)))
        blocks.append(_deltas(verdict, sources))
    if verdict.limitations:
        blocks.append(Paragraph((say("Limitations:"),)))
        blocks.append(Items(tuple(say(" ".join(text.split())) for text in verdict.limitations)))
    patch = material.patches.get(verdict.id)
    if patch is not None and patch.count("\n") <= MAX_PATCH_LINES:
        blocks.append(Fenced(patch, "diff"))
    elif patch is not None:
        blocks.append(
            Paragraph(
                (
                    say(
                        "The patch is too long to show: ",
                        Code(f"inputs/patches/{verdict.id}.patch"),
                        " in the kit.",
                    ),
                )
            )
        )
    return Section(f"Candidate {number}, {verdict.id}: {WORDS[verdict.outcome]}", tuple(blocks), 3)


def _runs(verdict: CandidateVerdict) -> tuple[str | Code, ...]:
    if verdict.control is None or verdict.patched is None:
        return ()
    return (" (control ", Code(verdict.control), ", patched ", Code(verdict.patched), ")")


def _deltas(verdict: CandidateVerdict, sources: Sources) -> Table:
    rows = []
    for delta in verdict.deltas:
        refs = (*sources.cite(verdict.control or "", delta.a), *sources.cite(verdict.patched or "", delta.b))
        rows.append(
            (
                say("unknown" if delta.rank is None else str(delta.rank), refs=refs),
                say(delta.point),
                say(Code(delta.what)),
                say(delta.a_printed),
                say(delta.b_printed),
                say(_change(delta)),
            )
        )
    return Table(("Rank", "Point", "Figure", "Control", "Patched", "Difference"), tuple(rows))


def _change(delta: Delta) -> str:
    return signed(delta.delta_bytes) if delta.delta_bytes else "none"

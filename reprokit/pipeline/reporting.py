"""The bug report of a kit: material from facts, sections from material, identities hidden on the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from reprokit.emit.dockerfile import loose_parts
from reprokit.emit.repro_script import ReproScript
from reprokit.errors import SafetyError, UsageError
from reprokit.model.facts import Where
from reprokit.model.run import Run
from reprokit.pipeline import judging, launches
from reprokit.pipeline.facts import Facts, need_subject, require_sound
from reprokit.redact import secrets
from reprokit.redact.identities import StandIns
from reprokit.render import render
from reprokit.report.build import build
from reprokit.report.material import Material
from reprokit.report.table import FORMATS
from reprokit.store import files
from reprokit.store.kit import Kit
from reprokit.version import VERSION

MAX_EXCERPT_LINES = 60
"""Lines of one traceback in a report; the middle of a longer one is left out and said so."""

AUDIENCES = ("public", "internal")


def write(kit: Kit, audience: str = "public", form: str = "md") -> tuple[Path, bool]:
    """Write the report; its path, and whether it changed."""
    name, text = text_of(kit, audience, form)
    path = kit.layout.report / (name if audience == "public" else f"internal-{name}")
    return path, files.write_if_changed(path, text)


def text_of(kit: Kit, audience: str, form: str) -> tuple[str, str]:
    """File name and text of the report. Raises SafetyError where a secret would leave."""
    if form not in FORMATS:
        raise UsageError(f"--format {form}: not one of {', '.join(FORMATS)}")
    name, writer = FORMATS[form]
    found = require_sound(kit)
    header = launches.provenance(kit, "reprokit report").text
    if audience == "internal":
        header += " INTERNAL: names hosts, users and paths; not for a public place."
    text = writer(build(material(kit, found)), header, render)
    if audience == "public":
        text = stand_ins(kit).apply(text)
    left = secrets.scan(text.encode())
    if left:
        rules = ", ".join(sorted({hit.rule for hit in left}))
        raise SafetyError(
            f"the report would show what looks like a secret ({rules}), so it was not written",
            hint="look at the line in evidence/ and remove it at its source",
        )
    return name, text


def material(kit: Kit, found: Facts) -> Material:
    """Everything the report may say."""
    subject = need_subject(found)
    launch = launches.launch_of(kit) if kit.layout.recipe.is_file() else None
    declared = {candidate.id: candidate for candidate in kit.declaration.candidates}
    repro = None
    if launch is not None and ReproScript().applies(launch):
        origin = launches.provenance(kit, "reprokit emit")
        repro = ReproScript().files(launch, origin, render)["launch/repro.sh"]
    return Material(
        kit=kit.declaration.name,
        kit_id=kit.id,
        version=VERSION,
        subject=subject,
        verdict=judging.reproduction(found),
        runs=found.runs,
        candidates=tuple(judging.candidate_verdicts(kit, found)),
        excerpts=_excerpts(kit, subject),
        patches={
            name: kit.read_input(item.patch).decode("utf-8", "replace") for name, item in declared.items()
        },
        scopes={name: item.scope for name, item in declared.items() if item.scope},
        repro=repro,
        recipe=launches.kit_recipe(kit) if launch is not None else None,
        launch=launch,
        behavior=kit.declaration.expect.behavior if kit.declaration.expect else None,
        pass_iterations=found.pass_iterations,
        loose=tuple(loose_parts(launch)) if launch is not None and launch.container_base else (),
    )


def _text(path: Path) -> str:
    return files.read(path).decode("utf-8", "replace")


def _excerpts(kit: Kit, run: Run) -> dict[Where, str]:
    """Place of an exception -> its traceback's lines. Lines of other ranks in between are left out."""
    folder = kit.run(run.id).folder
    failures = [(f"[rank{rank.rank}]:", rank.failure) for rank in run.ranks if rank.failure is not None]
    failures += [("", failure) for failure in run.unranked]
    found = {}
    for tag, failure in failures:
        lines = _text(folder / failure.where.path).split("\n")
        block = lines[max(0, failure.first.line - 1) : failure.where.line]
        own = [line.rstrip("\r") for line in block if tag in line] or block
        if len(own) > MAX_EXCERPT_LINES:
            half = MAX_EXCERPT_LINES // 2
            own = [*own[:half], f"... {len(own) - 2 * half} lines left out ...", *own[-half:]]
        found[failure.where] = "\n".join(own) + "\n"
    return found


def stand_ins(kit: Kit) -> StandIns:
    """Stand-ins for the hosts, users and paths that this kit's own recordings name."""
    known: dict[str, list[str]] = {"host": [], "user": [], "path": []}
    for run in kit.runs():
        for part in run.parts:
            noted = _part(run.folder / part / "part.json")
            for kind, field in (("host", "host"), ("user", "user"), ("path", "cwd")):
                value = noted.get(field)
                if isinstance(value, str) and value and value not in known[kind]:
                    known[kind].append(value)
        if run.declaration.cluster and run.declaration.cluster not in known["host"]:
            known["host"].append(run.declaration.cluster)
    known["path"].append(str(kit.root))
    return StandIns(known)


def _part(path: Path) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(path.read_bytes())
    except (OSError, msgspec.MsgspecError):
        return {}
    return value if isinstance(value, dict) else {}

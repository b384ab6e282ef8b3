"""`facts(kit)`: everything that is known, worked out from evidence. The only caller of parse and analyze on a kit."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from reprokit.analyze.assemble import assemble
from reprokit.errors import InputError
from reprokit.model.kit import KitDeclaration, RunDeclaration
from reprokit.model.run import Run
from reprokit.parse import scan
from reprokit.redact.secrets import Redactor
from reprokit.store import derived, files, spool
from reprokit.store.kit import Kit

NOT_APPLIED = "launch/not-applied.txt"
"""git's words on a patch that does not fit the base: then nothing was started."""

NOT_EVIDENCE = ("launch/",)
"""Parts that say how a run was started, not what happened in it: kept and sealed, never read for facts."""


class Facts(Struct, frozen=True, kw_only=True):
    """All runs of a kit, sealed and open, by id."""

    declaration: KitDeclaration
    runs: dict[str, Run]
    declared: dict[str, RunDeclaration]

    @property
    def subject(self) -> Run | None:
        """The run that the kit is about."""
        return self.runs.get(self.declaration.subject or "")

    @property
    def pass_iterations(self) -> int | None:
        """The pass criterion."""
        return self.declaration.expect.pass_iterations if self.declaration.expect else None


def facts(kit: Kit, *, cache: bool = True, open_runs: bool = True) -> Facts:
    """Facts of every run. `cache`: use and fill `derived/` (verbs that write); `open_runs`: show spools too."""
    runs: dict[str, Run] = {}
    declared: dict[str, RunDeclaration] = {}
    for sealed in kit.runs():
        digest = sealed.digest()
        run = derived.load(kit.layout, sealed.id, digest, Run)
        if run is None:
            run = derive(sealed.declaration, sealed.read())
            if cache:
                derived.save(kit.layout, sealed.id, digest, run)
        runs[sealed.id], declared[sealed.id] = run, sealed.declaration
    for spooled in spool.open_runs(kit.layout) if open_runs else []:
        if spooled.id not in runs:
            runs[spooled.id] = _open_facts(spooled)
            declared[spooled.id] = spooled.declaration
    return Facts(declaration=kit.declaration, runs=runs, declared=declared)


def derive(declaration: RunDeclaration, content: Mapping[str, bytes], state: str = "sealed") -> Run:
    """One run from its files."""
    evidence = {name: data for name, data in content.items() if not name.startswith(NOT_EVIDENCE)}
    run = assemble(declaration, evidence, scan.read(evidence).events, state)
    refused = content.get(NOT_APPLIED)
    if refused is not None:
        words = refused.decode("utf-8", "replace").strip()
        return msgspec.structs.replace(
            run, patch_applied=False, not_started=f"the patch does not apply: {words}"
        )
    return run


def _open_facts(run: spool.OpenRun) -> Run:
    """An open run is read through the secret rules: nothing raw is ever shown."""
    rules = Redactor()
    content = {}
    for part in run.parts:
        for path in files.walk(part):
            if path.name != spool.LOCK:
                content[path.relative_to(run.folder).as_posix()] = rules.redact(files.read(path)).data
    return derive(run.declaration, content, "open")


def need_subject(found: Facts) -> Run:
    """The subject run. Raises InputError where the kit has none yet."""
    if found.subject is None:
        raise InputError(
            f"the kit {found.declaration.name} has no subject run yet", hint="record one: reprokit make KIT"
        )
    return found.subject

"""`facts(kit)`: everything that is known, worked out from evidence. The only caller of parse and analyze on a kit."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from reprokit.analyze.assemble import assemble
from reprokit.errors import AlteredError, InputError
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
    """All runs of a kit, sealed and open, by id. `altered`: evidence that is not what was sealed."""

    declaration: KitDeclaration
    runs: dict[str, Run]
    declared: dict[str, RunDeclaration]
    altered: tuple[str, ...] = ()

    @property
    def subject(self) -> Run | None:
        """The run that the kit is about."""
        return self.runs.get(self.declaration.subject or "")

    @property
    def pass_iterations(self) -> int | None:
        """The pass criterion."""
        return self.declaration.expect.pass_iterations if self.declaration.expect else None


def facts(kit: Kit, *, cache: bool = True) -> Facts:
    """Facts of every run, sealed or open. `cache`: fill `derived/` too (verbs that write)."""
    runs: dict[str, Run] = {}
    declared: dict[str, RunDeclaration] = {}
    altered: list[str] = []
    for sealed in kit.runs():
        digest = sealed.digest()
        run = derived.load(kit.layout, sealed.id, digest, Run, sealed.changed_ns())
        if run is None:
            run = derive(sealed.declaration, sealed.read())
            wrong = kit.altered(sealed.id)
            altered += wrong
            if cache and not wrong:
                derived.save(kit.layout, sealed.id, digest, run)
        runs[sealed.id], declared[sealed.id] = run, sealed.declaration
    for spooled in spool.open_runs(kit.layout):
        if spooled.id not in runs:
            runs[spooled.id] = _open_facts(spooled)
            declared[spooled.id] = spooled.declaration
    return Facts(declaration=kit.declaration, runs=runs, declared=declared, altered=tuple(altered))


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


def require_sound(kit: Kit) -> Facts:
    """The facts. Raises AlteredError where inputs or evidence are not what was sealed: nothing is said from those."""
    found = facts(kit)
    wrong = [*kit.altered(), *found.altered]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise AlteredError(
            f"{kit.root / wrong[0]}{more}: not what was sealed", hint="`reprokit check KIT` names all of it"
        )
    return found


def need_subject(found: Facts) -> Run:
    """The subject run. Raises InputError where the kit has none yet."""
    if found.subject is None:
        raise InputError(
            f"the kit {found.declaration.name} has no subject run yet",
            hint="reprokit show KIT says what was recorded",
        )
    return found.subject

"""Spools into evidence, through the secret rules."""

from __future__ import annotations

from reprokit.errors import SafetyError
from reprokit.redact.secrets import Redactor
from reprokit.store import seal as store_seal
from reprokit.store import spool
from reprokit.store.kit import Kit


def redactor(kit: Kit) -> Redactor:
    """Secret rules for one sealing. The same secret gets the same placeholder in all files of the call.

    Secrets are not kept, so an earlier run's numbers cannot be given again for the same secret; they are passed over,
    so that one number never stands for two secrets.
    """
    rules = Redactor()
    for run in kit.runs():
        for data in run.read().values():
            rules.observe(data)
    return rules


def seal(kit: Kit, run_id: str) -> None:
    """Seal one open run."""
    rules = redactor(kit)
    for run in spool.open_runs(kit.layout):
        if run.id == run_id:
            store_seal.seal(kit, run, lambda data: rules.redact(data).data)


def seal_finished(kit: Kit) -> list[str]:
    """Seal every run that its recorder left behind; their ids."""
    rules = redactor(kit)
    return store_seal.seal_finished(kit, lambda data: rules.redact(data).data)


def refuse_live(kit: Kit) -> None:
    """Raises SafetyError while a recorder is at work on this kit: two at once would disturb each other's job."""
    for run in spool.open_runs(kit.layout):
        if run.alive():
            raise SafetyError(
                f"{kit.root}: run {run.id} is still being recorded", hint="wait for it, or end its recorder"
            )

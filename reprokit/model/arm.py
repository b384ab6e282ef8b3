"""An arm: one fully specified way to run a job, and the key that names it."""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct


class Patch(Struct, frozen=True, kw_only=True):
    """A patch by content. `id` is for people; `sha256` of the file's bytes decides sameness."""

    id: str
    sha256: str


class Arm(Struct, frozen=True, kw_only=True):
    """Everything that decides what a trial does. Two trials with equal arms are repetitions of one experiment.

    `overrides`: recipe keys replaced by `--set`, as dotted key and JSON text. `script_sha256`: of the launch
    script's body without its provenance header, so that a rebuilt kit keeps its keys.
    """

    base: str | None
    patches: tuple[Patch, ...]
    env: dict[str, str]
    overrides: dict[str, str]
    stack: str | None
    limits: dict[str, int | None]
    executor: str
    script_sha256: str

    @property
    def key(self) -> str:
        """16 hex digits over all of it. A patch's `id` is a name, so it does not count."""
        content = msgspec.to_builtins(self)
        content["patches"] = [patch["sha256"] for patch in content["patches"]]
        text = msgspec.json.encode(content, order="deterministic")
        return hashlib.sha256(text).hexdigest()[:16]

"""Declarations that live in a kit: `kit.yaml`, and one immutable `run.yaml` a run."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from reprokit.model.arm import Arm

KIT_SCHEMA = "reprokit/kit/1.0"
RUN_SCHEMA = "reprokit/run/1.0"


class Expect(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The pass criterion, what a good run looks like in words, and (optionally) which failure is expected."""

    pass_iterations: int | None = None
    behavior: str | None = None
    kind: str | None = None
    site: str | None = None


class Candidate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A patch in `inputs/patches/`, known by its content."""

    id: str
    patch: str
    sha256: str
    title: str | None = None
    scope: str | None = None
    expect: str | None = None
    limitations: tuple[str, ...] = ()


class KitDeclaration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`kit.yaml`: what people declare. Facts never stand here; they are derived from evidence."""

    schema: str
    name: str
    subject: str | None = None
    recipe: str | None = None
    base: str | None = None
    expect: Expect | None = None
    candidates: tuple[Candidate, ...] = ()


class RunDeclaration(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`evidence/<run>/run.yaml`: written once. A recorded or captured run has no `arm`: it is never a trial.

    `arm`: key of `arm_spec`, the whole definition of what was run.
    """

    schema: str
    id: str
    role: str
    origin: Literal["recorded", "captured", "trial", "by_hand"]
    cluster: str | None = None
    attempt: int = 1
    command: tuple[str, ...] = ()
    base: str | None = None
    patches: tuple[str, ...] = ()
    arm: str | None = None
    arm_spec: Arm | None = None
    stated: dict[str, str] = {}

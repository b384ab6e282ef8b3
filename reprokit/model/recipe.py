"""The recipe: our YAML for a failing job. Schema `reprokit/recipe/1`, strict."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from reprokit.model.verdict import CandidateOutcome

SCHEMA = "reprokit/recipe/1"

Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}\Z")]
EnvName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z")]
Count = Annotated[int, Meta(ge=1)]


class Section(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all sections: an unknown key is a typo, and an error."""


class Source(Section, frozen=True, kw_only=True):
    """The program. `path`: a folder beside the recipe; it becomes a git repository with fixed author and date,
    so `commit` (40 hex digits) is the same on every machine and is checked."""

    path: str
    commit: Annotated[str, Meta(pattern=r"^[0-9a-f]{40}\Z")]


class Requires(Section, frozen=True, kw_only=True):
    """What the job's Python must have. `python`: lowest version, `>=3.11`. `packages`: exact pins `name==version`,
    as in `file` (with hashes)."""

    python: Annotated[str, Meta(pattern=r"^>=3\.[0-9]{1,2}\Z")]
    packages: tuple[Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+\Z")], ...] = ()
    file: str | None = None


class JobSpec(Section, frozen=True, kw_only=True):
    """The command, argument by argument. `{python}`, `{ranks}`, `{steps}`, `{address_space_mib}` are filled in."""

    command: Annotated[tuple[str, ...], Meta(min_length=1)]
    ranks: Count
    steps: Count


class Limits(Section, frozen=True, kw_only=True):
    """`address_space_mib`: MiB each rank may use above what it uses before the model is built; null: no limit.
    `time_s`: seconds after which the job is ended whatever it does."""

    address_space_mib: Count | None = None
    time_s: Count = 600


class HangRule(Section, frozen=True, kw_only=True):
    """`end_after_s`: seconds without any movement after which a re-run's processes are ended, stacks taken."""

    end_after_s: Count


class Expectation(Section, frozen=True, kw_only=True):
    """What a good run shows, and (optionally) what the failure is expected to be.

    `pass_iterations`: the pass criterion: this many iterations complete and the job exits with 0.
    """

    pass_iterations: Count
    behavior: str
    kind: str | None = None
    site: str | None = None


class CandidateSpec(Section, frozen=True, kw_only=True):
    """A candidate patch to judge on the base revision."""

    id: Name
    title: str
    patch: str
    scope: str | None = None
    expect: CandidateOutcome | None = None
    limitations: tuple[str, ...] = ()


class ContainerSpec(Section, frozen=True, kw_only=True):
    """The base image of the emitted container spec; without a digest it is listed as loose."""

    base: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*\Z")]


class ReportSpec(Section, frozen=True, kw_only=True):
    """Words of the report that no evidence holds. `suggested`: things to look into next."""

    area: str | None = None
    suggested: tuple[str, ...] = ()


class Recipe(Section, frozen=True, kw_only=True):
    """One failing job, complete."""

    schema: Literal["reprokit/recipe/1"]
    name: Name
    title: str
    summary: str
    source: Source
    requires: Requires
    job: JobSpec
    env: dict[EnvName, str] = {}
    limits: Limits = Limits()
    hang: HangRule
    expect: Expectation
    candidates: tuple[CandidateSpec, ...] = ()
    container: ContainerSpec
    report: ReportSpec = ReportSpec()


PLACEHOLDERS = ("python", "ranks", "steps", "address_space_mib")
"""What `{...}` in `job.command` may name."""

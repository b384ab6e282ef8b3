"""One execution of a job, as derived from its evidence. The shape is that of `show --json`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from reprokit.model.facts import Detail, Where
from reprokit.model.finding import Finding
from reprokit.model.fingerprint import Fingerprint
from reprokit.model.units import Size

Outcome = Literal["passed", "failed", "unfinished", "unknown"]
EndedBy = Literal["exit", "signal", "time_limit", "cancelled", "watchdog", "agent", "unknown"]


class Progress(Struct, frozen=True, kw_only=True):
    """Steps in the log's own counting. `capture_at`: the iteration in progress when buffers were captured;
    `went_back`: a later line of the same file reports an earlier iteration, so the count began anew."""

    first: int | None = None
    last: int | None = None
    planned: int | None = None
    last_time: str | None = None
    capture_at: int | None = None
    went_back: bool = False
    evidence: tuple[Where, ...] = ()
    capture_evidence: tuple[Where, ...] = ()


class Hang(Struct, frozen=True, kw_only=True):
    """Progress stopped and the processes stayed. `seconds`: how long the silence lasted before it was ended."""

    since: str | None
    seconds: float | None
    evidence: tuple[Where, ...] = ()


class Job(Struct, frozen=True, kw_only=True):
    """What a scheduler knew. All None for a job that no scheduler started."""

    id: str | None = None
    state: str | None = None
    limit_s: int | None = None
    attempt: int | None = None
    nodes: int | None = None
    gpus: int | None = None


class Image(Struct, frozen=True, kw_only=True):
    """The container image a run used: reference as written, digest if known."""

    ref: str | None = None
    digest: str | None = None


class RankFailure(Struct, frozen=True, kw_only=True):
    """The deciding failure one rank printed: from line `first` (head of the traceback) to `where` (the exception)."""

    kind: str
    exception: str | None
    site: str | None
    statement: str | None
    requested_bytes: int | None
    message: str
    first: Where
    where: Where


class Rank(Struct, frozen=True, kw_only=True):
    """One rank of the job and its own failure, if it printed one."""

    rank: int
    node: str | None = None
    local_rank: int | None = None
    gpu: int | None = None
    failure: RankFailure | None = None


class Failure(Struct, frozen=True, kw_only=True):
    """The first cause that the evidence proves.

    Byte fields speak of the first failing rank; null is unknown, never 0.
    """

    kind: str
    suspected_kind: str | None = None
    exception: str | None = None
    site: str | None = None
    first_failing_rank: int | None = None
    first_printed_rank: int | None = None
    failing_ranks: tuple[int, ...] = ()
    iteration: int | None = None
    last_completed_iteration: int | None = None
    gpu: int | None = None
    requested_bytes: int | None = None
    capacity_bytes: int | None = None
    free_bytes: int | None = None
    allowed_bytes: int | None = None
    process_bytes: int | None = None
    pytorch_allocated_bytes: int | None = None
    private_pool_bytes: int | None = None
    reserved_unallocated_bytes: int | None = None
    peer_processes: tuple[int, ...] | None = None
    hang_after_failure: bool | None = None
    live_bytes: int | None = None
    non_pytorch_bytes: int | None = None
    unexplained_bytes: int | None = None
    details: dict[str, Detail] = {}


class MemoryFigures(Struct, frozen=True, kw_only=True):
    """One memory line: figures of `rank` after `after_iteration`, bytes with the printed text."""

    rank: int | None
    after_iteration: int
    values: dict[str, Size]
    where: Where


class ConfigValue(Struct, frozen=True, kw_only=True):
    """A configuration value and the place it was read at."""

    value: str
    source: str


class Run(Struct, frozen=True, kw_only=True):
    """One run, complete. Field names and meanings are the contract of `show --json`.

    `unranked`: failures that no line gives a rank, such as those of a job with one process.
    """

    id: str
    sources: tuple[str, ...] = ()
    role: str | None = None
    cluster: str | None = None
    date: str | None = None
    stack: str | None = None
    image: Image = Image()
    command: tuple[str, ...] | None = None
    config: dict[str, ConfigValue] = {}
    commits: dict[str, str] = {}
    patches: tuple[str, ...] = ()
    job: Job = Job()
    progress: Progress = Progress()
    outcome: Outcome = "unknown"
    outcome_evidence: tuple[Where, ...] = ()
    exit_code: int | None = None
    ended_by: EndedBy = "unknown"
    ended_evidence: tuple[Where, ...] = ()
    hang: Hang | None = None
    failure: Failure | None = None
    ranks: tuple[Rank, ...] = ()
    unranked: tuple[RankFailure, ...] = ()
    fingerprint: Fingerprint | None = None
    versions: dict[str, str] = {}
    version_sources: dict[str, str] = {}
    memory: tuple[MemoryFigures, ...] = ()
    preset_env: dict[str, str] = {}
    findings: tuple[Finding, ...] = ()
    not_started: str | None = None
    patch_applied: bool | None = None
    arm: str | None = None
    state: Literal["sealed", "open"] = "sealed"

"""Tracebacks -> one failure a rank, and the first cause among them."""

from __future__ import annotations

from collections.abc import Iterable

from reprokit.analyze import sites
from reprokit.model.facts import Detail, seen, unknown
from reprokit.model.run import Failure, RankFailure
from reprokit.model.trace import Frame, Iteration, Raised

UNKNOWN_BYTES = {
    "capacity_bytes": "no GPU message in the evidence",
    "free_bytes": "no GPU message in the evidence",
    "process_bytes": "no GPU message in the evidence",
    "pytorch_allocated_bytes": "no GPU message in the evidence",
    "private_pool_bytes": "no GPU message in the evidence",
    "reserved_unallocated_bytes": "no GPU message in the evidence",
}
"""Why a host allocation failure leaves these null."""

PRECEDENCE = ("gpu_oom", "cpu_oom", "capture_error", "cuda_error", "config_error", "unknown")
"""Cause before consequence: of two failures of one rank, the kind that stands earlier here is the cause."""


def kind_of(raised: Raised) -> str:
    """The failure kind that an exception proves by itself."""
    return raised.figures.kind if raised.figures else "unknown"


def survived(raised: Raised, done: Iterable[Iteration]) -> bool:
    """True for an exception that the job lived through: two more iterations were reported after it in its file.

    One may still be the line of a rank that lagged behind.
    """
    where = raised.where
    return sum(event.where.path == where.path and event.where.line > where.line for event in done) >= 2


def by_rank(
    events: Iterable[Raised], roots: Iterable[str], done: Iterable[Iteration] = ()
) -> list[tuple[Raised, RankFailure]]:
    """The deciding traceback of each rank, in printed order. Repetitions and consequences of a rank are dropped.

    Exceptions that the job lived through are no failures. Tracebacks that name no rank stay apart, one for each
    distinct place in the log.
    """
    known, reported = tuple(roots), tuple(done)
    chosen: dict[object, Raised] = {}
    for raised in sorted(events, key=_place):
        if survived(raised, reported):
            continue
        key: object = raised.rank if raised.rank is not None else (raised.where.path, raised.first.line)
        if key not in chosen or PRECEDENCE.index(kind_of(raised)) < PRECEDENCE.index(kind_of(chosen[key])):
            chosen[key] = raised
    kept = sorted(chosen.values(), key=_place)
    return [(raised, _rank_failure(raised, known)) for raised in kept]


def _place(raised: Raised) -> tuple[str, int]:
    return raised.where.path, raised.first.line


def _rank_failure(raised: Raised, roots: tuple[str, ...]) -> RankFailure:
    frame = sites.site_frame(raised.frames, roots)
    requested = raised.figures.requested if raised.figures else None
    return RankFailure(
        kind=kind_of(raised),
        exception=raised.exception,
        site=sites.site(frame, roots) if frame else None,
        statement=sites.statement(frame) if frame else None,
        requested_bytes=requested.bytes if requested else None,
        message=raised.message,
        first=raised.first,
        where=raised.where,
    )


def first_cause(failed: list[tuple[Raised, RankFailure]]) -> tuple[Raised, RankFailure] | None:
    """The failure that came first by kind and printed order, or None."""
    if not failed:
        return None
    return min(failed, key=lambda pair: PRECEDENCE.index(pair[1].kind))


def in_progress(last_done: int | None, planned: int | None) -> int | None:
    """The iteration in progress after `last_done`: an inference; None before the first and after the last planned."""
    if last_done is None or (planned is not None and last_done >= planned):
        return None
    return last_done + 1


def describe(
    cause: tuple[Raised, RankFailure],
    failed: list[tuple[Raised, RankFailure]],
    last_done: int | None,
    hung: bool | None,
    roots: Iterable[str] = (),
    planned: int | None = None,
) -> Failure:
    """The failure record of a run: figures of the first failing rank, each with where it was read."""
    raised, first = cause
    ranks = sorted({pair[0].rank for pair in failed if pair[0].rank is not None})
    details: dict[str, Detail] = {
        "kind": seen(raised.where, raised.where.text),
        "exception": seen(raised.where, raised.exception)
        if raised.exception
        else unknown("no exception was printed"),
        "first_failing_rank": _first_rank_detail(raised, ranks),
        "failing_ranks": _ranks_detail(failed, ranks),
    }
    frame = sites.site_frame(raised.frames, tuple(roots))
    if first.site and frame:
        printed = f'File "{frame.path}", line {frame.line}, in {frame.function}'
        where = raised.where
        details["site"] = Detail(
            printed=printed, path=where.path, line=_line_of(raised, frame), how="observed"
        )
    else:
        details["site"] = unknown("the traceback has no frame outside libraries")
    requested = raised.figures.requested if raised.figures else None
    if requested:
        details["requested_bytes"] = seen(raised.where, requested.printed)
    elif first.kind in {"cpu_oom", "gpu_oom"}:
        details["requested_bytes"] = unknown("the message does not say how much was asked for")
    if first.kind == "cpu_oom":
        details |= {name: unknown(why) for name, why in UNKNOWN_BYTES.items()}
    iteration = in_progress(last_done, planned)
    details["iteration"] = (
        Detail(printed=None, path=raised.where.path, line=raised.where.line, how="inferred")
        if iteration is not None
        else unknown(
            "no iteration line in the evidence" if last_done is None else "all planned iterations were done"
        )
    )
    return Failure(
        kind=first.kind,
        exception=raised.exception,
        site=first.site,
        first_failing_rank=raised.rank,
        first_printed_rank=failed[0][0].rank,
        failing_ranks=tuple(ranks),
        iteration=iteration,
        last_completed_iteration=last_done,
        requested_bytes=first.requested_bytes,
        hang_after_failure=hung,
        details=details,
    )


_NO_RANK = "no line of the failure names a rank"


def _line_of(raised: Raised, frame: Frame) -> int:
    """The log line of a frame; the exception's where the reader did not say."""
    lines = dict(zip(map(id, raised.frames), raised.frame_lines, strict=False))
    return lines.get(id(frame), raised.where.line)


def _ranks_detail(failed: list[tuple[Raised, RankFailure]], ranks: list[int]) -> Detail:
    """Read off the rank tags of several lines, of which the first is named."""
    if not ranks:
        return unknown(_NO_RANK)
    first = next(raised for raised, _ in failed if raised.rank is not None)
    return Detail(path=first.first.path, line=first.first.line, how="observed")


def _first_rank_detail(raised: Raised, ranks: list[int]) -> Detail:
    """By printed order only: nothing in these logs times a failure, so with several ranks it is an inference."""
    if raised.rank is None:
        return unknown(_NO_RANK)
    return seen(raised.first, raised.first.text, "observed" if len(ranks) == 1 else "inferred")

"""The report's sections on the failure itself: title, problem, what happened in which order."""

from __future__ import annotations

from typing import NamedTuple

from reprokit.model.facts import Where
from reprokit.model.run import RankFailure, Run
from reprokit.model.units import gib
from reprokit.report.blocks import Block, Code, Items, Paragraph, Section, Sentence, Sources, Table, say
from reprokit.report.material import Material, ranks_text


class Failed(NamedTuple):
    """One failure that was printed, and the rank that a line gives it (None: no line does)."""

    rank: int | None
    failure: RankFailure


def failed(run: Run) -> list[Failed]:
    """Every failure of a run, ranks in order, those without a rank last."""
    named = [Failed(rank.rank, rank.failure) for rank in run.ranks if rank.failure is not None]
    return named + [Failed(None, failure) for failure in run.unranked]


def alike(run: Run) -> list[list[Failed]]:
    """Failures of the same exception and site, the run's own cause first."""
    groups: dict[tuple[str | None, str | None], list[Failed]] = {}
    for one in failed(run):
        groups.setdefault((one.failure.exception, one.failure.site), []).append(one)
    cause = (run.failure.exception, run.failure.site) if run.failure else None
    return [groups[key] for key in sorted(groups, key=lambda key: key != cause)]


def who(group: list[Failed]) -> str:
    """`ranks 0 and 2`, `a rank that no line names`."""
    return ranks_text(tuple(one.rank for one in group if one.rank is not None))


def title(material: Material) -> str:
    """One line that says what fails, where and when."""
    run, failure = material.subject, material.subject.failure
    if failure is None:
        return f"[bug] {material.kit}"
    what = (failure.exception or failure.kind).rsplit(".", 1)[-1].lstrip("_")
    where = f" in {failure.site.rsplit(':', 1)[-1]}" if failure.site else ""
    when = f" in iteration {failure.iteration}" if failure.iteration is not None else ""
    hang = ", then hangs" if failure.hang_after_failure else ""
    group = [one for one in (alike(run) or [[]])[0] if one.rank is not None]
    # How many ranks there are is known from the recipe only: a log names those that printed something.
    of = f"{material.recipe.job.ranks}" if material.recipe else f"{len(run.ranks)} seen"
    ranks = f" on {who(group)} of {of}" if group else ""
    return f"[bug] {material.kit}: {what}{where}{when}{ranks}{hang}"


def problem(material: Material, sources: Sources) -> Section:
    """What fails, in one paragraph with the numbers that matter."""
    said = [say(" ".join(material.recipe.summary.split()))] if material.recipe else []
    said += [*_failure_sentences(material.subject, sources), *_hang_sentence(material.subject, sources)]
    said.append(_again(material, sources))
    return Section("Problem", (Paragraph(tuple(said)),))


def _failure_sentences(run: Run, sources: Sources) -> list[Sentence]:
    failure = run.failure
    if failure is None:
        return []
    if failure.exception is None and failure.site is None:
        return [_silent(run, sources)]
    said = [_raised(run, group, sources, first=not index) for index, group in enumerate(alike(run))]
    if not said:
        place = (" in ", Code(failure.site)) if failure.site else (" at an unknown place",)
        pieces = (
            f"{_iteration_words(run)}, the job raises ",
            Code(failure.exception or failure.kind),
            *place,
            ".",
        )
        return [Sentence(pieces, _stated_places(run, sources))]
    first = next((one for one in failed(run) if one.rank == failure.first_failing_rank), None)
    if first is not None and first.failure.requested_bytes is not None:
        detail = failure.details.get("requested_bytes")
        printed = detail.printed if detail and detail.printed else gib(first.failure.requested_bytes)
        order = ", whose failure was printed first," if len(failure.failing_ranks) > 1 else ""
        name = "It" if first.rank is None else f"Rank {first.rank}"
        said.insert(
            1,
            say(
                f"{name}{order} asked for {printed} ({first.failure.requested_bytes} bytes) and was refused.",
                refs=sources.cite(run.id, first.failure.where),
            ),
        )
    return said


def _raised(run: Run, group: list[Failed], sources: Sources, *, first: bool) -> Sentence:
    """Who raised what, with the line of each exception. Only the run's own cause is dated."""
    failure = group[0].failure
    refs = tuple(number for one in group for number in sources.cite(run.id, one.failure.where))
    verb = "raise" if len(group) > 1 else "raises"
    begin = f"{_iteration_words(run)}, {who(group)}" if first else f"Besides, {who(group)}"
    return say(
        f"{begin} {verb} ",
        Code(failure.exception or failure.kind),
        *((" in ", Code(failure.site)) if failure.site else (" at an unknown place",)),
        ".",
        refs=refs,
    )


def _stated_places(run: Run, sources: Sources) -> tuple[int, ...]:
    """Where the failure's own fields were read, for a failure that no rank claims."""
    details = run.failure.details if run.failure else {}
    for name in ("exception", "kind", "site"):
        detail = details.get(name)
        if detail is not None and detail.path is not None and detail.line is not None:
            return sources.cite(run.id, Where(detail.path, detail.line, detail.printed or ""))
    return ()


def _silent(run: Run, sources: Sources) -> Sentence:
    """An end without a traceback."""
    when = _iteration_words(run)
    places = (*run.progress.evidence, *(run.hang.evidence if run.hang else run.ended_evidence))
    refs = refs_of(run, places, sources)
    kind = run.failure.kind if run.failure else "unknown"
    if kind == "hang" and run.hang is not None:
        quiet = f" for {run.hang.seconds:.1f} s" if run.hang.seconds is not None else ""
        return say(f"{when}, nothing moved{quiet} and no rank printed a failure.", refs=refs)
    words = {"time_limit": "the time limit ended the job"}.get(
        kind, "the job ended without printing a failure"
    )
    return say(f"{when}, {words}.", refs=refs)


def _iteration_words(run: Run) -> str:
    failure = run.failure
    if failure is None or failure.last_completed_iteration is None:
        return "Before any iteration was reported as done"
    last = failure.last_completed_iteration
    if failure.iteration is None:
        return f"After iteration {last}, the last one planned, was reported as done"
    return f"In iteration {failure.iteration} (inferred: {last} was the last one reported as done)"


def _hang_sentence(run: Run, sources: Sources) -> list[Sentence]:
    for finding in run.findings:
        if finding.rule == "hang_after_failure":
            return [say(finding.statement, refs=refs_of(run, finding.evidence, sources))]
    return []


def refs_of(run: Run, places: tuple[Where, ...], sources: Sources) -> tuple[int, ...]:
    return tuple(number for where in places for number in sources.cite(run.id, where))


def _again(material: Material, sources: Sources) -> Sentence:
    """Whether it came back when it was run again."""
    attempts = material.verdict.attempts
    if not attempts:
        return say("It has not been run again.")
    same = sum(attempt.outcome == "reproduced" for attempt in attempts)
    refs = tuple(
        n for attempt in attempts for n in sources.cite(attempt.run, _deciding(material.runs[attempt.run]))
    )
    return say(
        f"Run again from the kit, the same failure came back in {same} of {len(attempts)} runs.", refs=refs
    )


def _deciding(run: Run) -> Where | None:
    """The line that decides a run's outcome."""
    return next(
        iter((*(one.failure.where for one in failed(run)), *run.outcome_evidence, *run.ended_evidence)), None
    )


def actual(material: Material, sources: Sources) -> Section:
    """What happened, in order."""
    run = material.subject
    steps: list[Sentence] = []
    progress = run.progress
    if progress.last is not None:
        of = f" of {progress.planned}" if progress.planned else ""
        memory = run.memory[-1] if run.memory else None
        refs = (
            *refs_of(run, progress.evidence, sources),
            *(sources.cite(run.id, memory.where) if memory else ()),
        )
        steps.append(say(_done_words(progress.first, progress.last, of) + _memory_words(run), refs=refs))
    if progress.capture_at is not None:
        steps.append(
            say(
                f"Iteration {progress.capture_at} captures its static buffers (inferred from the order of lines).",
                refs=refs_of(run, progress.capture_evidence, sources),
            )
        )
    steps += _failure_sentences(run, sources)
    steps += _hang_sentence(run, sources)
    if run.exit_code is not None:
        after = ", after it was ended" if run.ended_by == "agent" else ""
        refs = refs_of(run, run.ended_evidence, sources)
        steps.append(say(f"Exit code of the command{after}: {run.exit_code}.", refs=refs))
    if not steps:
        steps.append(say("Nothing in the evidence says what happened."))
    blocks: list[Block] = [Items(tuple(steps), numbered=True)]
    if failed(run):
        blocks.append(_rank_table(run, sources))
    return Section("Actual behavior", tuple(blocks))


def _done_words(first: int | None, last: int, of: str) -> str:
    if first is None or first == last:
        return f"Iteration {last}{of} completes."
    return f"Iterations {first} {'and' if last == first + 1 else 'to'} {last}{of} complete."


def _memory_words(run: Run) -> str:
    """The watermark after the last iteration that has a memory line, with both units where the log is decimal."""
    if not run.memory:
        return ""
    line = run.memory[-1]
    for name, size in line.values.items():
        if "max-allocated" in name or name == "max allocated":
            who = f"rank {line.rank}" if line.rank is not None else "a rank"
            return f" After iteration {line.after_iteration}, {who} reports {name} {size.printed} ({gib(size.bytes)})."
    return ""


def _rank_table(run: Run, sources: Sources) -> Table:
    rows = []
    for rank, failure in failed(run):
        asked = failure.requested_bytes
        rows.append(
            (
                say("not named" if rank is None else str(rank), refs=sources.cite(run.id, failure.where)),
                say(Code(failure.site or "unknown")),
                say(Code(failure.statement) if failure.statement else "not printed"),
                say("not printed" if asked is None else f"{gib(asked)} ({asked} bytes)"),
            )
        )
    return Table(("Rank", "Site", "Statement", "Asked for"), tuple(rows))

"""The report's sections around the failure: evidence, how to repeat it, where it ran, what to look at next."""

from __future__ import annotations

from reprokit.model.facts import Where
from reprokit.model.units import gib
from reprokit.report.blocks import Block, Code, Fenced, Items, Paragraph, Section, Sources, Table, say
from reprokit.report.failure import alike, refs_of, who
from reprokit.report.material import Material


def repro(material: Material, sources: Sources) -> Section | None:
    """The ten-line script, and how to pass by hand what the kit holds."""
    if material.repro is None:
        return None
    blocks: list[Block] = [Fenced(material.repro, "shell")]
    text = "Run it from the kit's launch/ folder. "
    blocks.append(
        Paragraph(
            (
                say(
                    text,
                    Code("bash launch/run.sh"),
                    " does the same, recorded; it ends a hang with stacks taken.",
                ),
            )
        )
    )
    return Section("Minimal repro", tuple(blocks))


def expected(material: Material, sources: Sources) -> Section | None:
    """The pass criterion, in the recipe's words."""
    said = []
    if material.behavior:
        said.append(say(" ".join(material.behavior.split())))
    if material.pass_iterations is not None:
        said.append(
            say(f"Pass criterion: {material.pass_iterations} iterations complete and the job exits with 0.")
        )
    return Section("Expected behavior", (Paragraph(tuple(said)),)) if said else None


def memory(material: Material, sources: Sources) -> Section | None:
    """Every memory line of the subject, with printed text and bytes."""
    run = material.subject
    if not run.memory:
        return None
    rows = []
    for line in run.memory:
        for name, size in line.values.items():
            rows.append(
                (
                    say(
                        "unknown" if line.rank is None else str(line.rank),
                        refs=sources.cite(run.id, line.where),
                    ),
                    say(str(line.after_iteration)),
                    say(Code(name)),
                    say(size.printed),
                    say(gib(size.bytes)),
                )
            )
    table = Table(("Rank", "After iteration", "Figure", "Printed", "In binary units"), tuple(rows))
    return Section("Memory", (table,))


def observations(material: Material, sources: Sources) -> Section | None:
    """What rules concluded, what they excluded too."""
    run = material.subject
    items = []
    for finding in run.findings:
        if finding.rule == "hang_after_failure":
            continue
        ruled_out = "" if finding.holds else "Ruled out: "
        hedge = {"established": "", "likely": " (likely, not proven)", "possible": " (possible)"}[
            finding.confidence
        ]
        items.append(
            say(f"{ruled_out}{finding.statement}{hedge}", refs=refs_of(run, finding.evidence, sources))
        )
    return Section("Additional observations", (Items(tuple(items)),)) if items else None


def environment(material: Material, sources: Sources) -> Section:
    """What it ran on. Everything that is not known is said to be unknown."""
    run = material.subject
    base = run.commits.get("base")
    bundled = " (in the kit as a git bundle)." if material.launch and material.launch.base == base else "."
    items = [say("Base revision: ", Code(base), bundled) if base else say("Base revision: unknown.")]
    where = Where("node-0/part.json", 0)
    for name in ("python", "os", "kernel", "machine", "libc", "cpu", "cores_allowed", "mem_total_bytes"):
        if name in run.versions:
            place = Where(run.version_sources.get(name, where.path), 0)
            items.append(
                say(
                    f"{LABELS[name]}: ",
                    _version_words(name, run.versions[name]),
                    ".",
                    refs=sources.cite(run.id, place),
                )
            )
    if material.launch is not None and material.launch.packages:
        items.append(
            say("Packages (checked before each start): ", Code(", ".join(material.launch.packages)), ".")
        )
    if material.loose:
        items.append(
            say(
                "Container: reprokit started these runs without one. The kit's container spec is loose: "
                + "; ".join(material.loose)
                + "."
            )
        )
    return Section("Environment", (Items(tuple(items)),))


LABELS = {
    "python": "Python",
    "os": "OS",
    "kernel": "Kernel",
    "machine": "Machine",
    "libc": "C library",
    "cpu": "CPU",
    "cores_allowed": "Cores the job may use",
    "mem_total_bytes": "Memory of the host",
}


def _version_words(name: str, value: str) -> str | Code:
    if name == "mem_total_bytes" and value.isdigit():
        return f"{gib(int(value))} ({value} bytes)"
    return Code(value)


def logs(material: Material, sources: Sources) -> Section | None:
    """The deciding lines of each distinct failure, one rank each."""
    run = material.subject
    blocks: list[Block] = []
    for group in alike(run):
        for statement in dict.fromkeys(one.failure.statement for one in group):
            members = [one for one in group if one.failure.statement == statement]
            shown = members[0]
            text = material.excerpts.get(shown.failure.where)
            if text is None:
                continue
            name = "No rank named" if shown.rank is None else f"Rank {shown.rank}"
            more = f"; the same exception, site and statement on {who(members[1:])}" if members[1:] else ""
            refs = sources.cite(run.id, shown.failure.where)
            blocks += [Paragraph((say(f"{name}{more}:", refs=refs),)), Fenced(text, "text")]
    return Section("Logs", tuple(blocks)) if blocks else None


def regression(material: Material, sources: Sources) -> Section:
    """A kit with one stack cannot know."""
    return Section(
        "Regression?", (Paragraph((say("Not sure: the kit holds no run of an older stack or revision."),)),)
    )


def suggested(material: Material, sources: Sources) -> Section | None:
    """What a person put into the recipe, and what rules suggest."""
    items = [
        say(" ".join(text.split())) for text in (material.recipe.report.suggested if material.recipe else ())
    ]
    items += [
        say(finding.suggests) for finding in material.subject.findings if finding.suggests and finding.holds
    ]
    return Section("Suggested investigation", (Items(tuple(items)),)) if items else None

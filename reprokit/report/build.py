"""Material -> Report: which sections, in which order."""

from __future__ import annotations

from reprokit.report import patches, sections
from reprokit.report.blocks import Report, Sources
from reprokit.report.material import Material

ORDER = (
    sections.problem,
    sections.observations,
    sections.memory,
    sections.repro,
    sections.expected,
    sections.actual,
    sections.regression,
    sections.environment,
    sections.logs,
    sections.suggested,
)


def build(material: Material) -> Report:
    """The report. The same material gives the same report."""
    sources = Sources()
    found = [section for make in ORDER if (section := make(material, sources)) is not None]
    found += patches.sections(material, sources)
    return Report(
        title=sections.title(material),
        sections=tuple(found),
        sources=sources.all,
        footer=(
            f"Drafted by reprokit {material.version} from the kit {material.kit} ({material.kit_id}).",
            "Paths under Sources are in that kit. A person should read this before posting it.",
        ),
    )

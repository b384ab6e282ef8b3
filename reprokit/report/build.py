"""Material -> Report: which sections, in which order."""

from __future__ import annotations

from reprokit.report import around, failure, patches
from reprokit.report.blocks import Report, Sources
from reprokit.report.material import Material

ORDER = (
    failure.problem,
    around.observations,
    around.memory,
    around.repro,
    around.expected,
    failure.actual,
    around.regression,
    around.environment,
    around.logs,
    around.suggested,
)


def build(material: Material) -> Report:
    """The report. The same material gives the same report."""
    sources = Sources()
    found = [section for make in ORDER if (section := make(material, sources)) is not None]
    found += patches.sections(material, sources)
    return Report(
        title=failure.title(material),
        sections=tuple(found),
        sources=sources.all,
        footer=(
            f"Drafted by reprokit {material.version} from the kit {material.kit} ({material.kit_id}).",
            "Paths under Sources are in that kit. A person should read this before posting it.",
        ),
    )

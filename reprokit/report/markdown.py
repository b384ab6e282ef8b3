"""Report -> Markdown for an issue body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reprokit.report.blocks import Report

Render = Callable[[str, dict[str, Any]], str]


def markdown(report: Report, header: str, render: Render) -> str:
    """The text of `issue.md`. `header`: the provenance line, put in as a comment."""
    return render("report/issue.md.j2", {"report": report, "header": header})

"""All report formats, by the word after `--format`. A new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable

from reprokit.report.blocks import Report
from reprokit.report.markdown import Render, markdown

FORMATS: dict[str, tuple[str, Callable[[Report, str, Render], str]]] = {"md": ("issue.md", markdown)}
"""Format -> file name below report/, and its writer."""

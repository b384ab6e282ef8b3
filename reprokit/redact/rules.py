"""The rules table: every way a secret is written that is looked for. First table, 2026-11-30.

To add a kind: one `Rule` in formats.py (the value tells), contexts.py (what stands around it tells), links.py (a link
carries it), wordings.py (a word before it tells) or assignments.py (its name tells), with at least one positive and
one negative sample; the tests read them here. Its literals must stand, in lower case, on every line that its pattern
can match: only lines with one of them are looked at. Where two rules find the same bytes, the earlier one names them.
Texts over several lines are in across.py and below.py.
"""

from __future__ import annotations

from reprokit.redact.assignments import ASSIGNMENTS
from reprokit.redact.contexts import CONTEXTS
from reprokit.redact.formats import FORMATS, WRAPS
from reprokit.redact.links import LINKS
from reprokit.redact.rule import Rule
from reprokit.redact.wordings import WORDINGS

RULES: tuple[Rule, ...] = (*FORMATS, *CONTEXTS, *LINKS, *ASSIGNMENTS, *WORDINGS)

__all__ = ["RULES", "WRAPS"]

"""All rules about one run, in the order they are shown. A new rule is one file and one line here."""

from __future__ import annotations

from reprokit.analyze.rules.base import Rule
from reprokit.analyze.rules.hang_after_failure import HangAfterFailure
from reprokit.analyze.rules.hang_mechanism import HangMechanism

RULES: tuple[Rule, ...] = (HangAfterFailure(), HangMechanism())

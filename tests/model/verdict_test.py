from __future__ import annotations

from typing import Any

import pytest

from reprokit.model.verdict import CandidateVerdict


@pytest.mark.parametrize(
    ("expected", "outcome", "met"),
    [
        (None, "fixes", True),
        (None, "inconclusive", True),
        ("fixes", "fixes", True),
        ("does_not_fix", "fixes", False),
    ],
)
def test_as_expected(expected: Any, outcome: Any, met: bool) -> None:
    verdict = CandidateVerdict(
        id="a",
        kind="code patch",
        base=None,
        outcome=outcome,
        how="run",
        control=None,
        patched=None,
        expected=expected,
    )
    assert verdict.as_expected is met

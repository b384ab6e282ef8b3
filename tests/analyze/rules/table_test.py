"""What every rule in the table keeps to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from reprokit.analyze.rules.base import rank_list
from reprokit.analyze.rules.table import RULES

every_rule = pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])


def test_names_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


@every_rule
def test_no_evidence_no_finding(by_hand: SimpleNamespace, rule: Any) -> None:
    assert list(rule.look(by_hand.run(), [])) == []


@every_rule
def test_a_finding_has_its_rule_s_name_a_whole_sentence_and_evidence(
    by_hand: SimpleNamespace, rule: Any
) -> None:
    frames = [by_hand.frame(f"{by_hand.work}/a.py", "f")]
    events = [by_hand.hung(), *(by_hand.stack(rank, *frames, rank=rank) for rank in range(2))]
    findings = list(rule.look(by_hand.oom(*events), events))
    assert findings, "this run should say something to every rule; extend it for a new one"
    for finding in findings:
        assert finding.rule == rule.name and finding.evidence
        assert finding.statement.endswith(".") and "None" not in finding.statement


@pytest.mark.parametrize(
    ("ranks", "words"), [((3,), "rank 3"), ((2, 0), "ranks 0 and 2"), ((10, 2, 4), "ranks 2, 4 and 10")]
)
def test_ranks_in_words(ranks: tuple[int, ...], words: str) -> None:
    assert rank_list(ranks) == words

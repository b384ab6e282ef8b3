"""The rules table is its own test data: every rule finds its positive samples and leaves its negative ones."""

from __future__ import annotations

import pytest

from reprokit.redact.rule import PLACEHOLDER, Rule, Sample
from reprokit.redact.rules import RULES
from reprokit.redact.secrets import redact, scan

POSITIVE = [
    pytest.param(rule, sample, id=f"{rule.name}-{i}")
    for rule in RULES
    for i, sample in enumerate(rule.positive)
]
NEGATIVE = [
    pytest.param(rule, line, id=f"{rule.name}-{i}") for rule in RULES for i, line in enumerate(rule.negative)
]


def test_every_rule_has_a_name_of_its_own_a_source_and_samples() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.source
        assert rule.positive
        assert rule.negative
        assert PLACEHOLDER.fullmatch(f"[secret-{rule.kind}-1]".encode())
        assert all(literal == literal.lower() and literal for literal in rule.literals)


@pytest.mark.parametrize(("rule", "sample"), POSITIVE)
def test_positive_sample(rule: Rule, sample: Sample) -> None:
    found = rule.find(sample.line)
    assert tuple(sample.line[each.start : each.end] for each in found) == sample.secrets
    assert any(literal in sample.line.lower() for literal in rule.literals)


@pytest.mark.parametrize(("rule", "sample"), POSITIVE)
def test_positive_sample_leaves_the_whole_table_with_nothing_but_its_secrets_replaced(
    rule: Rule, sample: Sample
) -> None:
    result = redact(sample.line)
    pieces = PLACEHOLDER.split(result.data)[:: PLACEHOLDER.groups + 1]
    position = 0
    for piece in pieces:
        position = sample.line.index(piece, position) + len(piece)
    for secret in sample.secrets:
        assert secret not in result.data
    assert result.hits
    assert scan(result.data) == ()


@pytest.mark.parametrize(("rule", "line"), NEGATIVE)
def test_negative_sample(rule: Rule, line: bytes) -> None:
    assert rule.find(line) == []
    assert redact(line).data == line

"""The runner of tiers: what it counts, and that it cannot be green by accident."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.source_tree import ROOT


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """tools/run_tests.py over a small project with one tier, `slow`."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "")
    spec = spec_from_file_location("run_tests", ROOT / "tools/run_tests.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "run_tests", module)
    spec.loader.exec_module(module)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    slow\n")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


HEAD = "import pytest, time\npytestmark = pytest.mark.slow\n"


def run(runner: Any, text: str, **changes: object) -> Any:
    (runner.ROOT / "test_it.py").write_text(HEAD + text)
    return runner.run_tier(replace(runner.Tier("slow", "", 60, "slow"), **changes))


def test_counts_are_what_pytest_says(runner: Any) -> None:
    text = """
def test_1(): pass
def test_2(): pass
def test_3(): assert 0
def test_4(): pytest.skip()
@pytest.fixture
def broken(): assert 0
def test_5(broken): pass
"""
    outcome = run(runner, text)
    assert (outcome.result, outcome.passed, outcome.failed, outcome.skipped) == ("failed", 2, 2, 1)


def test_green_is_green(runner: Any) -> None:
    outcome = run(runner, "def test_1(): pass")
    assert (outcome.result, outcome.passed, outcome.failed) == ("ok", 1, 0)


def test_a_tier_without_tests_fails(runner: Any) -> None:
    assert run(runner, "").failed == 1


def test_a_tier_known_to_be_empty_may_be(runner: Any) -> None:
    outcome = run(runner, "", may_be_empty=True)
    assert (outcome.result, outcome.failed) == ("empty", 0)


def test_a_file_that_does_not_import_fails(runner: Any) -> None:
    assert run(runner, "import no_such_module", may_be_empty=True).failed >= 1


def test_a_crash_of_pytest_fails(runner: Any) -> None:
    assert run(runner, "import os\nos._exit(0)").failed == 1


def test_over_budget_fails(runner: Any) -> None:
    outcome = run(runner, "def test_1(): time.sleep(0.2)", budget_s=0.1)
    assert outcome.failed >= 1
    assert "over budget" in outcome.result


def test_a_hung_tier_is_stopped(runner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "GOODBYE_S", 5)
    outcome = run(runner, "def test_1(): time.sleep(600)", budget_s=1)
    assert outcome.seconds < 30
    assert outcome.failed >= 1


def test_a_tier_that_needs_a_variable_is_skipped_by_name(
    runner: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("REPROKIT_SYSTEM_TESTS", raising=False)
    outcome = run(runner, "def test_1(): assert 0", name="system", variable="REPROKIT_SYSTEM_TESTS")
    assert runner.summary([outcome]) == 0
    assert "skipped: REPROKIT_SYSTEM_TESTS=1 runs it" in capsys.readouterr().out


def test_the_last_line_counts_and_the_code_follows(runner: Any, capsys: pytest.CaptureFixture[str]) -> None:
    tier = runner.TIERS[1]
    good, bad = runner.Outcome(tier, "ok", 5, 0, 1, 2.0), runner.Outcome(tier, "failed", 1, 2, 0, 1.0)
    assert runner.summary([good]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "5 passed, 0 failed, 1 skipped"
    assert runner.summary([good, bad]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "6 passed, 2 failed, 1 skipped"
    assert runner.summary([replace(good, seconds=runner.BUDGET_S + 1)]) == 1


def test_every_test_belongs_to_one_tier(runner: Any) -> None:
    marks = ("job", "slow", "daemon", "gpu")
    for chosen in (
        {*()},
        {"job"},
        {"slow"},
        {"daemon"},
        {"gpu"},
        {"job", "slow"},
        {"job", "gpu"},
        {"daemon", "slow"},
    ):
        values = {mark: mark in chosen for mark in marks}
        selected = [tier.name for tier in runner.TIERS if tier.select and eval(tier.select, {}, values)]
        assert len(selected) == 1, (chosen, selected)

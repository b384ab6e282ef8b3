"""Several attempts of one arm: those that disagree decide nothing, and a fix needs proof that its file was run."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprokit.launch.executor import Order, Watch
from reprokit.pipeline import judging, making, running, verifying
from reprokit.pipeline.facts import facts
from reprokit.pipeline.running import Asked
from reprokit.store.kit import Kit
from tests.commands.recipe_maker import write_patch
from tests.pipeline.stages_test import Fake, Silent, fake, kit

__all__ = ["fake", "kit"]


def outcome_of(found_kit: Kit, name: str) -> tuple[str, str]:
    verdicts = {verdict.id: verdict for verdict in judging.candidate_verdicts(found_kit, facts(found_kit))}
    return verdicts[name].outcome, verdicts[name].reasons[0]


def test_a_candidate_whose_attempts_disagree_is_undecided(kit: Kit, fake: Fake) -> None:
    making.make(kit, "local", Silent())
    assert outcome_of(kit, "ask-for-less")[0] == "fixes"
    fake.outcomes = ["failed"]
    patch = kit.root / "inputs" / "patches" / "ask-for-less.patch"
    running.run(kit, Asked(patches=(patch,)), fake, 2, Silent())
    outcome, reason = outcome_of(kit, "ask-for-less")
    assert (outcome, reason) == ("inconclusive", "The attempts disagree: 1 x does_not_fix, 1 x fixes.")


def test_a_control_that_also_passes_proves_nothing(kit: Kit, fake: Fake) -> None:
    making.make(kit, "local", Silent())
    fake.outcomes = ["passed"]
    running.run(kit, Asked(), fake, 2, Silent())
    outcome, reason = outcome_of(kit, "ask-for-less")
    assert outcome == "inconclusive" and "control run" in reason


def test_trials_that_decide_nothing_are_counted_and_said(kit: Kit, fake: Fake) -> None:
    making.make(kit, "local", Silent())
    fake.outcomes = ["nothing"]
    ran = running.run(kit, Asked(), fake, 2, Silent())
    assert ran.verdict.outcome == "inconclusive"
    assert ran.verdict.reasons[0] == "Only 1 of the 2 trials asked for decided anything."
    assert [attempt.outcome for attempt in ran.verdict.attempts] == ["reproduced", "inconclusive"]


class Unproven(Fake):
    """Leaves no trace of an import."""

    def run(self, order: Order, watch: Watch) -> int:
        code = super().run(order, watch)
        if order.worktree is not None:
            for path in (order.worktree / "tiny" / "__pycache__").glob("*"):
                path.unlink()
        return code


def test_a_fix_of_which_nothing_was_run_is_none(kit: Kit, tmp_path: Path) -> None:
    executor = Unproven()
    executor.outcomes = ["failed", "failed", "passed"]
    making.Maker(kit, executor, Silent())._record()
    (verdict,) = verifying.verify_patches(
        kit, (write_patch(tmp_path / "x.patch", "ask-for-less"),), executor, Silent()
    )
    assert verdict.outcome == "inconclusive"
    assert "was run from the patched tree was not observed" in verdict.reasons[0]


def test_the_order_of_runs_is_that_of_their_numbers() -> None:
    names = ["control-local-10", "control-local-9", "control-local-1", "odd"]
    assert sorted(names, key=judging._order)[:3] == ["control-local-1", "control-local-9", "control-local-10"]


@pytest.mark.parametrize("word", ["/dev/zero", "/dev/null"])
def test_a_patch_is_a_plain_file(kit: Kit, word: str) -> None:
    from reprokit.errors import InputError
    from reprokit.pipeline import adopting

    with pytest.raises(InputError, match="not a plain file"):
        adopting.adopt(kit, Path(word))

"""Two runs side by side."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprokit.analyze import compare
from reprokit.model.facts import Where

PEAK = "mem_max_allocated_gigabytes"


def test_figures_meet_only_at_the_same_rank_key_and_point(by_hand: SimpleNamespace) -> None:
    a = by_hand.run(
        by_hand.memory(1, 1, 0, mem_allocated_gigabytes="0.1", mem_max_allocated_gigabytes="0.2"),
        by_hand.memory(1, 2, 1, mem_allocated_gigabytes="0.3"),
        by_hand.memory(2, 3, 0, mem_allocated_gigabytes="0.5"),
        run_id="a",
    )
    b = by_hand.run(
        by_hand.memory(1, 7, 0, mem_allocated_gigabytes="0.4", mem_reserved_gigabytes="9"),
        by_hand.memory(3, 8, 0, mem_allocated_gigabytes="0.7"),
        by_hand.memory(1, 9, 2, mem_allocated_gigabytes="0.8"),
        run_id="b",
    )
    (delta,) = compare.memory_deltas(a, b)
    assert (delta.rank, delta.what, delta.point) == (0, "mem-allocated-gigabytes", "after iteration 1")
    assert (delta.a_bytes, delta.b_bytes, delta.delta_bytes) == (100_000_000, 400_000_000, 300_000_000)
    assert (delta.a, delta.b) == (Where(by_hand.log, 1, "memory"), Where(by_hand.log, 7, "memory"))
    assert (delta.a_printed, delta.b_printed) == ("0.1", "0.4")


def test_a_line_without_a_rank_never_meets_one_with(by_hand: SimpleNamespace) -> None:
    a = by_hand.run(by_hand.memory(1, 1, None, x="1"))
    b = by_hand.run(by_hand.memory(1, 1, 0, x="2"))
    assert compare.memory_deltas(a, b) == ()


def test_the_headline_is_the_latest_peak(by_hand: SimpleNamespace) -> None:
    a = by_hand.run(
        *(by_hand.memory(n, n, 0, **{PEAK: "0.2", "mem_allocated_gigabytes": "9"}) for n in (1, 2))
    )
    b = by_hand.run(
        *(by_hand.memory(n, n, 0, **{PEAK: "0.1", "mem_allocated_gigabytes": "1"}) for n in (1, 2))
    )
    delta = compare.headline(compare.memory_deltas(a, b))
    assert delta is not None
    assert (delta.point, delta.what, delta.delta_bytes) == (
        "after iteration 2",
        PEAK.replace("_", "-"),
        -(10**8),
    )


def test_the_headline_is_the_highest_of_several_ranks(by_hand: SimpleNamespace) -> None:
    """Rank 0 is the one that is short of memory; what rank 1 does says little."""
    a = by_hand.run(by_hand.memory(1, 1, 0, **{PEAK: "0.9"}), by_hand.memory(1, 2, 1, **{PEAK: "0.2"}))
    b = by_hand.run(by_hand.memory(1, 1, 0, **{PEAK: "0.6"}), by_hand.memory(1, 2, 1, **{PEAK: "0.2"}))
    delta = compare.headline(compare.memory_deltas(a, b))
    assert delta is not None and (delta.rank, delta.delta_bytes) == (0, -300_000_000)


def test_no_peak_no_headline(by_hand: SimpleNamespace) -> None:
    a = by_hand.run(by_hand.memory(1, 1, 0, mem_allocated_gigabytes="1", mem_max_reserved_gigabytes="2"))
    assert compare.headline(compare.memory_deltas(a, a)) is None
    assert compare.headline(()) is None


def test_a_delta_in_words(by_hand: SimpleNamespace) -> None:
    a, b = (by_hand.run(by_hand.memory(2, 1, 0, **{PEAK: text})) for text in ("0.1", "0.2"))
    (delta,) = compare.memory_deltas(a, b)
    said = compare.delta_sentence(delta)
    assert said == "rank 0, after iteration 2: mem-max-allocated-gigabytes from 0.1 to 0.2 (+95.37 MiB)"
    (equal,) = compare.memory_deltas(a, a)
    assert compare.delta_sentence(equal).endswith("from 0.1 to 0.1 (no difference)")


def test_fields_one_by_one(by_hand: SimpleNamespace) -> None:
    a, b = by_hand.oom(run_id="a"), by_hand.oom(run_id="b", ranks=(1,))
    found = compare.compare(a, b)
    assert (found.a, found.b) == ("a", "b")
    assert found.differs_in == {"ranks": ("0, 2", "1")}
    assert set(found.same_in) == set(compare.FIELDS) - {"ranks"}
    same_site = found.findings[0]
    assert (same_site.rule, same_site.holds) == ("same_site", True)
    assert same_site.statement == "Both runs failed in host_oom/optimizer.py:copy_group_grads."


def test_another_site(by_hand: SimpleNamespace) -> None:
    other = by_hand.run(by_hand.raised(0, 9, frames=(by_hand.frame("x.py", "f"),)), run_id="b")
    (finding,) = compare.compare(by_hand.oom(run_id="a"), other).findings
    assert not finding.holds
    assert finding.statement == "a failed in host_oom/optimizer.py:copy_group_grads, b failed in x.py:f." or (
        finding.statement == "a failed in host_oom/optimizer.py:copy_group_grads, b in x.py:f."
    )


@pytest.mark.parametrize("ranks", [(0,), (1, 3)])
def test_a_finding_about_sites_points_at_both_failures(
    by_hand: SimpleNamespace, ranks: tuple[int, ...]
) -> None:
    """Also where rank 0 is there and did not fail."""
    memory = by_hand.memory(1, 5, 0, x="1")
    a, b = (by_hand.oom(memory, ranks=ranks, run_id=name) for name in "ab")
    (finding,) = compare.compare(a, b).findings
    assert len(finding.evidence) == 2 and all(where.text for where in finding.evidence)


def test_growth_is_a_difference_with_its_lines(by_hand: SimpleNamespace) -> None:
    a = by_hand.run(by_hand.memory(1, 3, 0, **{PEAK: "0.1"}), run_id="a")
    b = by_hand.run(by_hand.memory(1, 4, 0, **{PEAK: "0.2"}), run_id="b")
    (up,) = compare.compare(a, b).findings
    (down,) = compare.compare(b, a).findings
    assert (up.rule, up.holds, up.numbers) == ("peak_growth", True, {"delta_bytes": 10**8})
    assert (down.rule, down.holds, down.numbers) == ("peak_growth", False, {"delta_bytes": -(10**8)})
    assert [where.line for where in up.evidence] == [3, 4]


def test_without_failures_nothing_is_said_about_them(by_hand: SimpleNamespace) -> None:
    found = compare.compare(by_hand.run(), by_hand.oom())
    assert (found.same_in, found.differs_in, found.findings) == ((), {}, ())


WORDS = {
    "unknown": None, "yes": True, "no": False, "0, 2": (0, 2), "none named": (), "3": 3, "text": "text", "0": 0,
}  # fmt: skip


@pytest.mark.parametrize("expected", WORDS)
def test_values_in_words(expected: str) -> None:
    assert compare.words(WORDS[expected]) == expected


POINTS = st.tuples(st.integers(1, 3), st.sampled_from([None, 0, 1]), st.integers(0, 999))


@given(st.lists(POINTS, max_size=6), st.lists(POINTS, max_size=6))
def test_a_delta_is_what_both_printed(
    by_hand: SimpleNamespace,
    first: list[tuple[int, int | None, int]],
    second: list[tuple[int, int | None, int]],
) -> None:
    def run(points: list[tuple[int, int | None, int]]) -> tuple[object, dict[tuple[str, int | None], int]]:
        unique = {(after, rank): value for after, rank, value in points}
        lines = [
            by_hand.memory(after, line, rank, x=f"0.{value:03}")
            for line, ((after, rank), value) in enumerate(unique.items())
        ]
        return by_hand.run(*lines), {
            (f"after iteration {key[0]}", key[1]): value for key, value in unique.items()
        }

    (a, left), (b, right) = run(first), run(second)
    deltas = compare.memory_deltas(a, b)  # type: ignore[arg-type]
    found = {(delta.point, delta.rank): delta.delta_bytes for delta in deltas}
    assert found == {key: (right[key] - left[key]) * 10**6 for key in left.keys() & right.keys()}
    back = compare.memory_deltas(b, a)  # type: ignore[arg-type]
    assert [-delta.delta_bytes for delta in back] == [delta.delta_bytes for delta in deltas]

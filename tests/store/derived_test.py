from __future__ import annotations

import json
from typing import Any

import pytest

from reprokit.model.fingerprint import Fingerprint
from reprokit.model.run import Failure, Hang, Progress, Run
from reprokit.store import derived
from reprokit.store.kit import Kit

RUN = Run(
    id="r1",
    outcome="failed",
    progress=Progress(first=1, last=2, planned=30),
    hang=Hang(since="2026-10-02T03:04:07Z", seconds=4.2),
    failure=Failure(kind="cpu_oom", failing_ranks=(0, 2), requested_bytes=2**40 + 1),
    fingerprint=Fingerprint(
        id="0" * 12, kind="cpu_oom", site="a.py:f", exception="MemoryError", statement=None,
        phase="training", iteration=3, ranks=(0, 2), then_hung=True,
    ),
)  # fmt: skip


def test_fresh(kit: Kit) -> None:
    derived.save(kit.layout, "r1", "digest", RUN)
    assert derived.load(kit.layout, "r1", "digest", Run) == RUN
    assert derived.state(kit.layout, {"r1": "digest"}) == "fresh"
    entry = json.loads((kit.layout.derived / "r1.json").read_bytes())
    assert entry["evidence"] == "digest" and entry["reprokit"]


def test_absent(kit: Kit) -> None:
    assert derived.load(kit.layout, "r1", "digest", Run) is None
    assert derived.state(kit.layout, {"r1": "digest", "r2": "digest"}) == "absent"


def test_stale_for_other_evidence(kit: Kit) -> None:
    derived.save(kit.layout, "r1", "digest", RUN)
    assert derived.load(kit.layout, "r1", "other", Run) is None
    assert derived.state(kit.layout, {"r1": "other"}) == "stale"


def test_stale_for_another_version(kit: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    derived.save(kit.layout, "r1", "digest", RUN)
    monkeypatch.setattr(derived, "VERSION", "999.0")
    assert derived.load(kit.layout, "r1", "digest", Run) is None
    assert derived.state(kit.layout, {"r1": "digest"}) == "stale"


def test_stale_where_one_of_several_is_missing(kit: Kit) -> None:
    derived.save(kit.layout, "r1", "digest", RUN)
    assert derived.state(kit.layout, {"r1": "digest", "r2": "digest"}) == "stale"


CORRUPT = {
    "empty": b"",
    "cut": b'{"reprokit": "1", "eviden',
    "no JSON": b"\0\0\0\0",
    "no UTF-8": b'{"reprokit": "\xff\xfe"}',
    "other JSON": b"[1, 2]",
    "fields missing": b"{}",
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", CORRUPT)
def test_a_corrupt_cache_is_no_answer_and_no_error(kit: Kit, name: str) -> None:
    derived.save(kit.layout, "r1", "digest", RUN)
    (kit.layout.derived / "r1.json").write_bytes(CORRUPT[name])
    assert derived.load(kit.layout, "r1", "digest", Run) is None
    assert derived.state(kit.layout, {"r1": "digest"}) == "stale"
    derived.save(kit.layout, "r1", "digest", RUN)
    assert derived.load(kit.layout, "r1", "digest", Run) == RUN


@pytest.mark.parametrize("value", [{}, [], {"id": 7}, {"id": "r1", "outcome": "splendid"}])
def test_a_value_of_another_form_is_no_answer(kit: Kit, value: Any) -> None:
    derived.save(kit.layout, "r1", "digest", value)
    assert derived.load(kit.layout, "r1", "digest", Run) is None


def test_the_same_answer_is_the_same_bytes(kit: Kit) -> None:
    derived.save(kit.layout, "r1", "digest", RUN)
    first = (kit.layout.derived / "r1.json").read_bytes()
    derived.save(kit.layout, "r1", "digest", RUN)
    assert (kit.layout.derived / "r1.json").read_bytes() == first

"""The shapes of `show --json`: names that scripts rely on."""

from __future__ import annotations

import msgspec
import pytest

from reprokit.model.facts import Detail, Where, seen, unknown
from reprokit.model.fingerprint import Fingerprint
from reprokit.model.run import Failure, Hang, Job, Progress, Run
from reprokit.model.verdict import CandidateVerdict, Comparison, Verdict

CONTRACT = {
    Run: (
        "id sources role cluster date stack image command config commits patches job progress outcome ended_by hang "
        "failure ranks fingerprint versions version_sources memory preset_env findings"
    ),
    Failure: (
        "kind suspected_kind exception site first_failing_rank first_printed_rank failing_ranks iteration "
        "last_completed_iteration gpu requested_bytes capacity_bytes free_bytes allowed_bytes process_bytes "
        "pytorch_allocated_bytes private_pool_bytes reserved_unallocated_bytes peer_processes hang_after_failure "
        "live_bytes non_pytorch_bytes unexplained_bytes details"
    ),
    Job: "id state limit_s attempt nodes gpus",
    Progress: "first last planned last_time capture_at",
    Hang: "since seconds evidence",
    Fingerprint: "id kind site phase iteration ranks then_hung",
    Comparison: "a b by_rank same_in differs_in deltas findings",
    Verdict: "outcome reasons attempts",
    CandidateVerdict: "id kind base outcome how control patched deltas side_effects limitations",
}


@pytest.mark.parametrize("record", CONTRACT, ids=[record.__name__ for record in CONTRACT])
def test_no_promised_field_is_missing(record: type[msgspec.Struct]) -> None:
    assert set(CONTRACT[record].split()) - set(record.__struct_encode_fields__) == set()


def test_what_is_unknown_is_null_and_never_zero() -> None:
    failure = msgspec.to_builtins(Failure(kind="gpu_oom"))
    sizes = [value for name, value in failure.items() if name.endswith("_bytes")]
    assert len(sizes) == 11 and set(sizes) == {None}
    assert failure["peer_processes"] is failure["hang_after_failure"] is failure["iteration"] is None


def test_a_run_of_which_nothing_is_known() -> None:
    run = Run(id="r1")
    assert (run.outcome, run.ended_by, run.failure, run.hang, run.fingerprint) == (
        "unknown",
        "unknown",
        None,
        None,
        None,
    )
    assert msgspec.json.decode(msgspec.json.encode(run), type=Run) == run


def test_how_a_field_is_known() -> None:
    assert seen(Where("a.log", 7, "text"), "24.0 MiB") == Detail(
        printed="24.0 MiB", path="a.log", line=7, how="observed"
    )
    assert msgspec.to_builtins(unknown("no GPU here")) == {"unknown": "no GPU here"}
    assert msgspec.to_builtins(seen(Where("a.log", 7), "x", "stated"))["how"] == "stated"


def test_records_do_not_change() -> None:
    with pytest.raises(AttributeError):
        Run(id="r1").outcome = "passed"  # type: ignore[misc]

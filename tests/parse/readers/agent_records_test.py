from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reprokit.model.facts import Where
from reprokit.model.trace import Ended, PartFacts
from reprokit.parse import scan
from reprokit.parse.document import Document
from reprokit.parse.readers import agent_records

CASE = Path(__file__).parents[2] / "cases" / "host-oom"


def read(path: str, value: Any) -> Any:
    events = list(agent_records.read(Document(path, json.dumps(value).encode())))
    return events[0] if events else None


def test_the_start() -> None:
    found = scan.read({"node-0/part.json": (CASE / "part.json").read_bytes()})
    assert found.troubles == ()
    assert found.events == (
        PartFacts(
            where=Where("node-0/part.json", 0),
            argv=("python3", "train.py", "--ranks", "4"),
            cwd="/jobs/job",
            host="node-a",
            started="2026-10-02T03:04:04.123Z",
            python="3.11.7",
            facts={
                "agent": "1.0",
                "os": "Ubuntu 24.04.1 LTS",
                "kernel": "6.8.0",
                "machine": "x86_64",
                "libc": "glibc 2.39",
                "cpu": "Example CPU @ 2.40GHz",
                "cores_allowed": "4",
                "mem_total_bytes": "67430182912",
            },
            env={"OMP_NUM_THREADS": "1"},
        ),
    )


def test_the_end() -> None:
    found = scan.read({"node-0/end.json": (CASE / "end.json").read_bytes()})
    assert found.events == (
        Ended(
            where=Where("node-0/end.json", 0),
            exit_code=None,
            signal=15,
            ended_by="agent",
            ended="2026-10-02T03:04:12.456Z",
            seconds=8.333,
            hang_since="2026-10-02T03:04:07.111Z",
            hang_seconds=5.2,
            hang_reason="no output and no progress",
            failure_seen=True,
            not_started=None,
        ),
    )


def test_a_job_that_could_not_be_started() -> None:
    end = {
        "schema": "reprokit/end/1",
        "exit_code": None,
        "ended_by": "exit",
        "hang": None,
        "not_started": {"errno": 2, "text": "No such file or directory: 'trian.py'"},
    }
    event = read("end.json", end)
    assert event.not_started == "No such file or directory: 'trian.py'"
    assert (event.exit_code, event.hang_since, event.failure_seen) == (None, None, False)


def test_fields_of_the_wrong_form_are_left_out() -> None:
    part = read(
        "part.json",
        {
            "schema": "reprokit/part/1",
            "argv": "python3",
            "cwd": None,
            "python": 3,
            "cores_allowed": True,
            "os": ["x"],
            "mem_total_bytes": 1.5,
            "env": {"A": 1, "B": "b\udc80"},
        },
    )
    assert part == PartFacts(
        where=Where("part.json", 0),
        argv=(),
        cwd="",
        host="",
        started="",
        python=None,
        facts={"mem_total_bytes": "1.5"},
        env={"B": "b?"},
    )
    end = read(
        "end.json",
        {
            "schema": "reprokit/end/1",
            "exit_code": True,
            "signal": "9",
            "ended_by": 3,
            "seconds": "1",
            "hang": [1],
        },
    )
    assert (end.exit_code, end.signal, end.ended_by, end.hang_since) == (None, None, "unknown", None)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b'{"schema": "reprokit/end/1", "exit_code": 0',
        b'["reprokit/end/1"]',
        b'{"schema": "reprokit/end/2", "was": "reprokit/end/1"}',
        b"reprokit/end/1" + b"[" * 100_000,
    ],
)
def test_what_is_no_record_says_nothing(data: bytes) -> None:
    assert list(agent_records.read(Document("end.json", data))) == []


@pytest.mark.parametrize("seconds", [b"NaN", b"Infinity", b"1e999", b"9" * 400, b"9" * 5000])
def test_numbers_that_are_none(seconds: bytes) -> None:
    events = list(
        agent_records.read(
            Document("end.json", b'{"schema": "reprokit/end/1", "hang": {"seconds": ' + seconds + b"}}")
        )
    )
    assert all(isinstance(event, Ended) and event.hang_seconds is None for event in events)


def test_only_the_two_names_are_claimed() -> None:
    assert agent_records.claims("node-0/part.json", b"")
    assert agent_records.claims("end.json", b"")
    assert not agent_records.claims("job.log", b'{"schema": "reprokit/part/1"}')

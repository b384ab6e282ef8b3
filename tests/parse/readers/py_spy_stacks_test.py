from __future__ import annotations

from pathlib import Path

import pytest

from reprokit.model.facts import Where
from reprokit.model.trace import Frame, Stack
from reprokit.parse import scan
from reprokit.parse.document import Document
from reprokit.parse.readers import py_spy_stacks

CASE = Path(__file__).parents[2] / "cases" / "host-oom"


def test_a_dump_gives_its_threads_innermost_frame_first() -> None:
    found = scan.read({"stacks/4711.txt": (CASE / "stacks" / "4711.txt").read_bytes()})
    assert found.troubles == ()
    assert found.events == (
        Stack(
            where=Where("stacks/4711.txt", 4, 'Thread 4711 (idle): "MainThread"'),
            pid=4711,
            tool="py-spy",
            thread="MainThread",
            frames=(
                Frame("/jobs/job/host_oom/comm.py", 61, "all_reduce_sum"),
                Frame("/jobs/job/host_oom/comm.py", 40, "ProcessGroup.receive"),
                Frame("libc.so.6", 0, "pthread_cond_wait"),
                Frame("", 0, "0x7ff02f098e51"),
                Frame("train.py", 12, "<module>"),
            ),
        ),
        Stack(
            where=Where("stacks/4711.txt", 12, 'Thread 4720 (active): "beat (1)"'),
            pid=4711,
            tool="py-spy",
            thread="beat (1)",
            frames=(Frame("/usr/lib/python3.11/threading.py", 982, "run"),),
        ),
        Stack(
            where=Where("stacks/4711.txt", 14, "Thread 4721 (idle)"),
            pid=4711,
            tool="py-spy",
            thread="4721",
            frames=(Frame("libtorch_cpu.so", 0, "std::function<void (int)>::operator()"),),
        ),
    )


def test_the_index_gives_rank_and_reason_of_every_process() -> None:
    found = scan.read({"node-0/stacks/index.json": (CASE / "stacks" / "index.json").read_bytes()})
    where = Where("node-0/stacks/index.json", 0)
    assert found.events == (
        Stack(where=where, rank=1, pid=4711, tool="py-spy", thread=None, frames=(), why=None),
        Stack(
            where=where, rank=2, pid=4712, tool=None, thread=None, frames=(), why="py-spy: permission denied"
        ),
    )


def test_a_thread_without_a_name_is_the_main_thread_if_its_number_is_that_of_the_process() -> None:
    data = b"Process 7: x\nPython v3.12.3 (/bin/python3.12)\n\nThread 7 (idle)\n    f (a.py:1)\nThread 0x7F (idle)\n"
    events = list(py_spy_stacks.read(Document("stack.txt", data)))
    assert [event.thread for event in events if isinstance(event, Stack)] == ["MainThread", "0x7F"]


def test_several_processes_in_one_dump_and_a_cut_end() -> None:
    data = (
        b'Process 7: x\nPython v3.12.3 (/usr/bin/python3.12)\n\nThread 7 (idle): "MainThread"\n    f (a.py:1)\n'
        b'Process 8: y\nPython v3.12.3 (/usr/bin/python3.12)\n\nThread 8 (idle): "MainThread"\n    g (b.p'
    )
    events = [event for event in py_spy_stacks.read(Document("stack.txt", data)) if isinstance(event, Stack)]
    assert [(event.pid, event.frames) for event in events] == [
        (7, (Frame("a.py", 1, "f"),)),
        (8, (Frame("", 0, "g (b.p"),)),
    ]


@pytest.mark.parametrize(
    ("path", "head", "claimed"),
    [
        ("stacks/index.json", b"", True),
        ("node-0/stacks/index.json", b"", True),
        ("index.json", b"", False),
        ("stack_RANK0.txt", b"Process 7: python a.py\nPython v3.12.3 (/usr/bin/python3.12)\n", True),
        ("7.txt", b"\nProcess 7: " + b"x" * 4000, True),
        ("job.log", b"Process 7: starting up\nall is well\n", False),
        ("job.log", b"Process Process-1:\nTraceback (most recent call last):\n", False),
        ("7.txt", b"Error: Permission Denied: Try running again with elevated permissions\n", False),
    ],
)
def test_dumps_are_known_by_how_they_begin(path: str, head: bytes, claimed: bool) -> None:
    assert py_spy_stacks.claims(path, head) == claimed


@pytest.mark.parametrize("data", [b"", b"{}", b"[1, null, {}]", b'[{"pid": "7"}]', b'[{"pid": 7'])
def test_an_odd_index_says_nothing(data: bytes) -> None:
    assert list(py_spy_stacks.read(Document("stacks/index.json", data))) == []

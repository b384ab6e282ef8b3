from __future__ import annotations

import pytest

from reprokit.model.facts import Where
from reprokit.model.trace import Phase
from reprokit.parse.document import Document
from reprokit.parse.readers import megatron_phases

TIME = "2026-10-02 03:04:05"


@pytest.mark.parametrize(
    ("line", "name", "time", "rank"),
    [
        ("Starting training loop at iteration 0", "loop_start", None, None),
        ("[rank3]: Starting training loop at iteration 1200", "loop_start", None, 3),
        ("[before the start of training step] datetime: 2026-10-02 03:04:05 ", "loop_start", TIME, None),
        ("INFO:megatron.core.full_cuda_graph:Capture CUDA graph for training!!!", "capture_begin", None, None),
        ("Capture CUDA graph for training!!!", "capture_begin", None, None),
        ("2: INFO:host_oom.capture:Capture static buffers for training!!!", "capture_begin", None, None),
        ("[rank1]: INFO:a.full_cuda_graph:CUDA graph capture done for training!!!", "capture_done", None, 1),
        ("INFO:host_oom.capture:static buffer capture done for training!!!", "capture_done", None, None),
        ("CUDA graph capture done for training!!! (0.24 s)", "capture_done", None, None),
        ("[after training is done] datetime: 2026-10-02 03:04:05 ", "training_done", TIME, None),
        ("[after training is done] datetime: 2026-10", "training_done", None, None),
    ],
)  # fmt: skip
def test_milestones(line: str, name: str, time: str | None, rank: int | None) -> None:
    (event,) = megatron_phases.read(Document("job.log", line.encode()))
    assert event == Phase(where=Where("job.log", 1, line.rstrip()), rank=rank, name=name, time=time)


@pytest.mark.parametrize(
    "line",
    [
        "INFO:megatron.core.full_cuda_graph:Capture CUDA graph for validation!!!",
        "Starting training loop at iteration ",
        "Capture for training!!!",
        "Recapture graphs for training!!!",
        "[after training is do",
    ],
)
def test_other_lines_say_nothing(line: str) -> None:
    assert list(megatron_phases.read(Document("job.log", line.encode()))) == []


def test_the_known_texts_carry_their_source() -> None:
    for milestone in megatron_phases.MILESTONES:
        assert milestone.program
        assert milestone.seen

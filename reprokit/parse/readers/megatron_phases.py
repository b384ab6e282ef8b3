"""Milestones of a training job: lines that say how far it came."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reprokit.model.trace import Event, Phase
from reprokit.parse.document import Document
from reprokit.parse.reader import is_text


class Milestone(Struct, frozen=True):
    """A text and the phase it stands for. `pattern` is searched in lines that contain `anchor`."""

    phase: str
    anchor: bytes
    pattern: re.Pattern[str]
    program: str
    seen: str


_LOGGER = r"(?:^|[\s:])"
"""Python's basicConfig puts `INFO:module:` before the text; without it the text begins the line."""

_DATETIME = r" datetime: (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"

MILESTONES = (
    Milestone(
        "loop_start",
        b"Starting training loop at iteration ",
        re.compile(_LOGGER + r"Starting training loop at iteration \d"),
        "Megatron-Bridge training/train.py",
        "2026-11",
    ),
    Milestone(
        "loop_start",
        b"[before the start of training step]",
        re.compile(r"\[before the start of training step\](?:" + _DATETIME + ")?"),
        "Megatron-LM training/training.py",
        "2024-10 to 2026-11",
    ),
    Milestone(
        "capture_begin",
        b" for training!!!",
        re.compile(_LOGGER + r"Capture [\w ]{1,80} for training!!!"),
        "Megatron-LM core/full_cuda_graph.py, every rank; programs that say it of other buffers",
        "2026-11",
    ),
    Milestone(
        "capture_done",
        b" capture done for training!!!",
        re.compile(r"\w capture done for training!!!"),
        "Megatron-LM core/full_cuda_graph.py, every rank; programs that say it of other buffers",
        "2026-11",
    ),
    Milestone(
        "training_done",
        b"[after training is done]",
        re.compile(r"\[after training is done\](?:" + _DATETIME + ")?"),
        "Megatron-Bridge training/pretrain.py, Megatron-LM training/training.py",
        "2024-10 to 2026-11",
    ),
)

name = "megatron_phases"
anchors: tuple[bytes, ...] = tuple(milestone.anchor for milestone in MILESTONES)
claims = is_text


def read(document: Document) -> Iterator[Event]:
    """One event a line; the first milestone that fits."""
    for line in document.found(anchors):
        for milestone in MILESTONES:
            match = milestone.pattern.search(line.text)
            if match is not None:
                time = match.groupdict().get("time")
                yield Phase(where=document.where(line), rank=line.rank, name=milestone.phase, time=time)
                break

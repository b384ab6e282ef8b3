"""All readers, in the order in which events of one line stand."""

from __future__ import annotations

from reprokit.parse.reader import Reader
from reprokit.parse.readers import (
    agent_records,
    megatron_iterations,
    megatron_memory,
    megatron_phases,
    py_spy_stacks,
    python_tracebacks,
)

READERS: tuple[Reader, ...] = (
    agent_records,
    megatron_phases,
    megatron_iterations,
    megatron_memory,
    python_tracebacks,
    py_spy_stacks,
)

"""Buffers of the forward and backward pass: fresh ones first, static ones after the warm-up.

This is what capturing a whole iteration does to memory: the first iterations give their buffers
back before the optimizer runs; the captured one owns its buffers from then on, also while the
optimizer runs.
"""

from __future__ import annotations

from host_oom.lines import write_line
from host_oom.model import Workspace

WARM_UP_ITERATIONS = 2


class CapturedBuffers:
    """Hands out the workspace of each iteration."""

    def __init__(self, picks: int) -> None:
        self._picks = picks
        self._static: Workspace | None = None

    def workspace(self, iteration: int) -> Workspace:
        """A fresh workspace while warming up (the caller drops it), then always the static one."""
        if iteration <= WARM_UP_ITERATIONS:
            return Workspace.allocate(self._picks)
        if self._static is None:
            write_line("INFO:host_oom.capture:Capture static buffers for training!!!")
            self._static = Workspace.allocate(self._picks)
            write_line("INFO:host_oom.capture:static buffer capture done for training!!!")
        return self._static

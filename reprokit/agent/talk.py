"""The only lines the agent itself says: to stderr, and never a reason to fail."""

from __future__ import annotations

import os


def say(text: str) -> None:
    """Write one line to stderr; a closed or full stderr is nobody's trouble."""
    try:
        os.write(2, f"agent: {text}\n".encode("utf-8", "replace"))
    except OSError:
        pass

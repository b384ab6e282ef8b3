"""What stands in front of a log line's own text, and what it says about who printed the line.

Control sequences go first (terminals, tqdm, Python 3.13 tracebacks, NeMo-Run). Then prefixes are taken from
the left, again and again, because launchers stack them: `3: [default3]:[rank3]: Traceback ...`.
"""

from __future__ import annotations

import re

from msgspec import Struct

_CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # OSC: links, titles
    r"|\x1b[()][0-9A-Z]"  # character sets
    r"|\x1b"
)

_MOST_PREFIXES = 8
"""Real logs stack three or four; the bound keeps a hostile line linear."""


class Known(Struct, frozen=True):
    """A prefix: which field of `Stripped` its number fills, how it looks, who prints it, where that was
    seen."""

    says: str
    pattern: re.Pattern[str]
    program: str
    seen: str


_BEHIND_A_LABEL = (
    r"$|\[| \[| {4}|Traceback \(|  File \"|During handling of the above|The above exception was"
    r"|[A-Z]{4,8}:|(?:srun|slurmstepd)|Starting training loop"
    r"|[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit)\b"
)
"""A bare number and a colon are a label only before text that a training job is known to print."""

PREFIXES = (
    Known(
        "rank",
        re.compile(r"\[rank(\d{1,7})\]: ?"),
        "PyTorch's excepthook and c10 logger: the global rank",
        "torch 2.3+, torch/distributed/distributed_c10d.py, 2026-11",
    ),
    Known(
        "local_rank",
        re.compile(r"\[default(\d{1,7})\]:"),
        "torchrun --tee: role name and local rank",
        "torch 2.x, torch/distributed/elastic/multiprocessing/tail_log.py, 2026-11",
    ),
    Known(
        "task",
        re.compile(r" *(\d{1,7}):(?: |$)(?=" + _BEHIND_A_LABEL + ")"),
        "srun --label: the task number, right-aligned from ten tasks up",
        "Slurm 22.05, 2026-11",
    ),
)


class Stripped(Struct, frozen=True):
    """A line without its prefixes, and the numbers they held. Of two of one kind the inner one counts."""

    text: str
    rank: int | None = None
    local_rank: int | None = None
    task: int | None = None


def without_controls(text: str) -> str:
    """`text` as a terminal would show it: no control sequences and no NULs (holes of sparse files)."""
    if "\x1b" in text:
        text = _CONTROL.sub("", text)
    return text.replace("\0", "") if "\0" in text else text


def strip(text: str) -> Stripped:
    """Take the known prefixes off `text`, which has no control sequences any more."""
    if not text or text[0] not in "[ 0123456789":
        return Stripped(text)
    said: dict[str, int] = {}
    for _ in range(_MOST_PREFIXES):
        for prefix in PREFIXES:
            match = prefix.pattern.match(text)
            if match is not None:
                said[prefix.says] = int(match[1])
                text = text[match.end() :]
                break
        else:
            break
    return Stripped(text, said.get("rank"), said.get("local_rank"), said.get("task"))

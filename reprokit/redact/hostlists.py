"""Slurm's host lists: `gb-nvl-[001-002,007]`. The grammar stays, so that a reader still counts the nodes."""

from __future__ import annotations

import re

PATTERN = re.compile(
    r"(?<![\w.-])[A-Za-z][A-Za-z0-9_.-]*\[[0-9]+(?:[-,][0-9]+)*\](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?"
)
_PARTS = re.compile(r"(?P<head>[^\[]*)\[(?P<list>[^\]]*)\](?P<tail>.*)")
_MOST_NAMES = 20_000
_NUMBERED = re.compile(r"(?P<head>.*?)(?P<number>[0-9]+)")


def expand(text: str) -> list[str]:
    """The names that a list with one bracket stands for, in order; [] if it is none or too long."""
    match = _PARTS.fullmatch(text)
    if not match:
        return []
    result: list[str] = []
    for part in match["list"].split(","):
        first, _, last = part.partition("-")
        last = last or first
        if not (first.isdigit() and last.isdigit()) or int(last) < int(first):
            return []
        if len(result) + int(last) - int(first) >= _MOST_NAMES:
            return []
        width = len(first)
        result += [
            f"{match['head']}{number:0{width}d}{match['tail']}" for number in range(int(first), int(last) + 1)
        ]
    return result


def compress(stand_ins: list[str]) -> str:
    """`host-1`, `host-2`, `host-5` -> `host-[1-2,5]`, in the order given. Names that share no head: comma-separated."""
    matches = [_NUMBERED.fullmatch(name) for name in stand_ins]
    heads = {match["head"] for match in matches if match}
    if len(stand_ins) < 2 or len(heads) != 1 or not all(matches):
        return ",".join(stand_ins)
    numbers = [int(match["number"]) for match in matches if match]
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    return f"{heads.pop()}[{','.join(parts)}]"

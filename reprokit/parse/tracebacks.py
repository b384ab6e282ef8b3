"""The grammar of CPython's tracebacks: one block that takes its lines as they arrive.

Printed by `traceback.print_exception` and by the interpreter for what nobody caught (3.8 to 3.14, 2026-11).
"""

from __future__ import annotations

import re
from typing import Literal

from reprokit.model.trace import Frame
from reprokit.parse.document import Line

HEAD = "Traceback (most recent call last):"

CHAIN = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)
"""Between two blocks of one chain; what is printed first came first."""

Shape = Literal["head", "chain", "frame", "source", "raised", "blank", "other"]

_MARGIN = re.compile(r" *(?:\| |\+ (?:Exception Group )?(?=Traceback))")
"""Left edge of an exception group."""

_FRAME = re.compile(
    r' +File "(?P<path>[^"]{1,4096})", line (?P<line>\d{1,9})(?:, in (?P<function>.{1,500}))?$'
)
_SOURCE = re.compile(r" {4}[^ ~^]")
_RAISED = re.compile(r"(?P<name>[A-Za-z_][\w.]{0,300}(?:\([\w.]{1,300}\))?)(?::?$|: (?P<message>.*))")

_CERTAIN = re.compile(
    r"(?:Error|Exception|Warning|Interrupt|Exit|Iteration|Group|Timeout|Expired|Empty|Full|Abort|Quit"
    r"|Cancelled|error|timeout)(?:\([\w.]+\))?$"
)
"""Ends of class names that no logger or progress line has in front of its colon."""


def body(text: str) -> str:
    """`text` without the margin of an exception group."""
    if "|" in text or "+" in text:
        margin = _MARGIN.match(text)
        return text[margin.end() :] if margin else text
    return text


def shape(text: str) -> Shape:
    """What a line may be inside a traceback, judged by itself."""
    if not text:
        return "blank"
    if text.endswith(HEAD):
        # torchelastic's summary repeats a child's traceback, all of it indented: not this grammar
        return "other" if text.endswith("traceback : " + HEAD) else "head"
    if text in CHAIN:
        return "chain"
    if text[0] == " ":
        return "frame" if _FRAME.match(text) else "source"
    return "raised" if _RAISED.match(text) else "other"


class Block:
    """A traceback while its lines arrive."""

    def __init__(self, head: Line, chained: bool) -> None:
        self.first = head
        self.last = head
        self.chained = chained
        self.frames: list[Frame] = []
        self.frame_lines: list[int] = []
        self.wants_source = False
        """The last frame's source line has not come yet."""

    def add_frame(self, line: Line, text: str) -> None:
        """Take a `File "...", line N, in f` line. Without `in f` it is a SyntaxError's place, not a frame."""
        frame = _FRAME.match(text)
        if frame is not None and frame["function"]:
            self.frames.append(Frame(frame["path"], int(frame["line"]), frame["function"]))
            self.frame_lines.append(line.number)
            self.wants_source = True
        self.last = line

    def ends_in(self, text: str) -> bool:
        """Whether the last frame is the one that `text` tells of."""
        frame = _FRAME.match(text)
        last = self.frames[-1] if self.frames else None
        return (
            frame is not None
            and last is not None
            and (last.path, last.line, last.function)
            == (
                frame["path"],
                int(frame["line"]),
                frame["function"],
            )
        )

    def add_source(self, line: Line, text: str) -> None:
        """Take a line below a frame. The first one is the statement; carets and further lines only pass."""
        if self.wants_source and _SOURCE.match(text):
            frame = self.frames[-1]
            self.frames[-1] = Frame(frame.path, frame.line, frame.function, text.strip())
        self.wants_source = False
        self.last = line

    def may_end_with(self, text: str, follows: bool) -> bool:
        """Whether `text` can be this block's exception line.

        `follows`: it stands right below the block's last line. A class whose name does not look like one
        (`Foo: bar`) is believed only there: elsewhere it is somebody else's output.
        """
        name = exception_line(text)[0]
        if _CERTAIN.search(name):
            return True
        word = name.rsplit(".", 1)[-1]
        return follows and not self.wants_source and not word[:1].islower() and not word.isupper()


def exception_line(text: str) -> tuple[str, str]:
    """Class as printed and message of a line of the shape `raised`."""
    match = _RAISED.match(text)
    return (match["name"], match["message"] or "") if match else ("", "")

"""Python tracebacks of all ranks, whole or cut, also where ranks interleave.

Printed by CPython, line by line or in one write, with or without launcher and rank prefixes. Lines are told
apart by who printed them as far as a prefix says so; without one, blocks that are open at the same time are
told apart by their grammar alone, and each names no rank. A block that is not continued for `PATIENCE` lines
was cut.
"""

from __future__ import annotations

from collections.abc import Iterator

from reprokit.model.trace import Event, Raised
from reprokit.parse import host_memory
from reprokit.parse.document import Document, Line
from reprokit.parse.reader import is_text
from reprokit.parse.tracebacks import CHAIN, HEAD, Block, body, exception_line, shape

name = "python_tracebacks"
anchors: tuple[bytes, ...] = (HEAD.encode(), *(text.encode() for text in CHAIN))
claims = is_text

PATIENCE = 10_000
_MOST_OPEN = 64
"""Blocks open at once in one stream; only a hostile file has more."""

Stream = tuple[int | None, int | None, int | None]
"""Who printed a line, as far as its prefixes say: global rank, local rank, task."""


def read(document: Document) -> Iterator[Event]:
    """One event a traceback. `where` is its exception line, or the last line of it that there is."""
    streams = _Streams(document)
    done = 0
    for hit in document.hits(anchors):
        if hit <= done:
            continue
        for line in document.lines(hit):
            done = line.number
            yield from streams.take(line)
            if not streams.open:
                break
    yield from streams.cut(None)


class _Streams:
    """The open blocks of all streams. In each list the block that took a line last stands last."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.open: dict[Stream, list[Block]] = {}
        self._chain: dict[Stream, int] = {}
        self._latest: dict[Stream, Block | None] = {}

    def take(self, line: Line) -> Iterator[Raised]:
        """Give a line to the block that it belongs to; yields what ended."""
        if line.number % 1024 == 0:
            yield from self.cut(line.number - PATIENCE)
        stream = (line.rank, line.local_rank, line.task)
        text = body(line.text)
        match shape(text):
            case "blank":
                return
            case "head":
                yield from self._begin(stream, line)
                return
            case "chain":
                self._chain[stream] = line.number
                return
            case "frame":
                taker = self._for_frame(stream, text)
                if taker is not None:
                    taker.add_frame(line, text)
            case "source":
                taker = self._for_source(stream)
                if taker is not None:
                    taker.add_source(line, text)
            case "raised":
                taker = self._for_exception(stream, text)
                if taker is not None:
                    self._leave(stream, taker)
                    yield self._raised(taker, line, *exception_line(text))
                    return
            case _:
                taker = None
        self._touch(stream, taker)

    def cut(self, before: int | None) -> Iterator[Raised]:
        """End the blocks that took no line since number `before`; None: all of them."""
        for stream, blocks in list(self.open.items()):
            for block in blocks.copy():
                if before is None or block.last.number < before:
                    self._leave(stream, block)
                    yield self._raised(block, None)

    def _begin(self, stream: Stream, line: Line) -> Iterator[Raised]:
        blocks = self.open.get(stream, [])
        # one rank prints one traceback after the other: what it had begun was cut
        if blocks and (stream[0] is not None or len(blocks) >= _MOST_OPEN):
            yield self._raised(blocks[0], None)
            self._leave(stream, blocks[0])
        above = self._chain.pop(stream, None)
        block = Block(line, chained=above is not None and line.number - above <= PATIENCE)
        self.open.setdefault(stream, []).append(block)
        self._latest[stream] = block

    def _for_frame(self, stream: Stream, text: str) -> Block | None:
        """The latest block that has its source line; one that ends in this very frame only if no other is there."""
        blocks = self.open.get(stream, [])
        ready = [block for block in reversed(blocks) if not block.wants_source]
        other = next((block for block in ready if len(ready) > 1 and not block.ends_in(text)), None)
        return other or next(iter(ready or blocks[-1:]), None)

    def _for_source(self, stream: Stream) -> Block | None:
        blocks = self.open.get(stream, [])
        waiting = next((block for block in reversed(blocks) if block.wants_source), None)
        return waiting or self._latest.get(stream)

    def _for_exception(self, stream: Stream, text: str) -> Block | None:
        latest = self._latest.get(stream)
        for block in reversed(self.open.get(stream, [])):
            if block.may_end_with(text, follows=block is latest):
                return block
        return None

    def _touch(self, stream: Stream, taker: Block | None) -> None:
        """Remember who took the stream's latest line."""
        blocks = self.open.get(stream)
        if blocks:
            self._latest[stream] = taker
            if taker is not None and blocks[-1] is not taker:
                blocks.remove(taker)
                blocks.append(taker)

    def _leave(self, stream: Stream, block: Block) -> None:
        if self._latest.get(stream) is block:
            self._latest[stream] = None
        self.open[stream].remove(block)
        if not self.open[stream]:
            del self.open[stream]

    def _raised(
        self, block: Block, end: Line | None, exception: str | None = None, message: str = ""
    ) -> Raised:
        return Raised(
            where=self.document.where(end or block.last),
            rank=block.first.rank,
            frames=tuple(block.frames),
            frame_lines=tuple(block.frame_lines),
            exception=exception,
            message=message,
            first=self.document.where(block.first),
            figures=host_memory.figures(exception, message) if exception else None,
            chained=block.chained,
            complete=end is not None,
        )

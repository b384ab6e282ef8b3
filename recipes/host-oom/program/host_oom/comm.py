"""Collectives of the ranks: a star of sockets with rank 0 in the middle.

All waits are blocking reads or polls: a rank that waits uses no processor time. A peer that dies
closes its sockets, which the others notice as ``PeerLostError``. A peer that is alive but never comes
is waited for without end, as in any collective.
"""

from __future__ import annotations

import select
import socket

import numpy as np
from numpy.typing import NDArray

HUB = 0


class PeerLostError(ConnectionError):
    """A peer closed its connection in the middle of the job."""


class Channel:
    """One star of stream sockets; each rank holds one end (rank 0: one end per other rank).

    ``peers`` maps a rank to the socket towards it. ``launcher`` is a socket that the launcher
    holds open as long as it lives (rank 0 only): without the launcher the job has to end.
    """

    def __init__(self, rank: int, peers: dict[int, socket.socket], launcher: socket.socket | None) -> None:
        self.rank = rank
        self.peers = peers
        self.launcher = launcher

    def all_reduce_sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over all ranks of ``values``, on every rank; added in the order of the ranks."""
        if self.rank != HUB:
            self._send(HUB, values)
            return self._receive(HUB, values.shape)
        parts = self._gather(values.shape)
        total = values.copy()
        for rank in sorted(parts):
            total += parts[rank]
        for rank in self.peers:
            self._send(rank, total)
        return total

    def _gather(self, shape: tuple[int, ...]) -> dict[int, NDArray[np.float64]]:
        """One array from every peer, read as they arrive, while watching all for their end."""
        waiting = {self.peers[rank].fileno(): rank for rank in self.peers}
        poll = select.poll()
        for descriptor in waiting:
            poll.register(descriptor, select.POLLIN)
        if self.launcher is not None:
            poll.register(self.launcher, select.POLLIN)
        parts: dict[int, NDArray[np.float64]] = {}
        while len(parts) < len(self.peers):
            for descriptor, event in poll.poll():
                rank = waiting.get(descriptor)
                if rank is None:
                    raise PeerLostError("the launcher is gone")
                if rank in parts or not event & select.POLLIN:
                    raise PeerLostError(f"rank {rank} closed its connection")
                parts[rank] = self._receive(rank, shape)
                # No events asked for: poll still tells of a peer that hangs up.
                poll.modify(descriptor, 0)
        return parts

    def _send(self, rank: int, values: NDArray[np.float64]) -> None:
        try:
            self.peers[rank].sendall(values.data)
        except OSError as error:
            raise PeerLostError(f"rank {rank} closed its connection") from error

    def _receive(self, rank: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
        values = np.empty(shape, np.float64)
        rest = values.data.cast("B")
        while rest:
            try:
                count = self.peers[rank].recv_into(rest)
            except OSError as error:
                raise PeerLostError(f"rank {rank} closed its connection") from error
            if count == 0:
                raise PeerLostError(f"rank {rank} closed its connection")
            rest = rest[count:]
        return values


class ProcessGroup:
    """This rank's place among the ranks: one channel for collectives, one for the shutdown."""

    def __init__(self, rank: int, size: int, collective: Channel, shutdown: Channel) -> None:
        self.rank = rank
        self.size = size
        self._collective = collective
        self._shutdown = shutdown

    def all_reduce_sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum over all ranks of ``values``; waits until every rank has called it."""
        return self._collective.all_reduce_sum(values)

    def shutdown_barrier(self, failed: bool) -> int:
        """Wait until every rank is done with the job; return how many of them failed."""
        return int(self._shutdown.all_reduce_sum(np.array([float(failed)]))[0])


def connect(
    rank: int,
    size: int,
    collective_fds: list[int],
    shutdown_fds: list[int],
    launcher_fd: int | None,
) -> ProcessGroup:
    """Take over the inherited sockets: towards ranks 1, 2, ... on rank 0, else towards rank 0."""
    others = range(1, size) if rank == HUB else [HUB]
    launcher = None if launcher_fd is None else socket.socket(fileno=launcher_fd)

    def channel(descriptors: list[int]) -> Channel:
        sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        return Channel(rank, dict(zip(others, sockets, strict=True)), launcher)

    return ProcessGroup(rank, size, channel(collective_fds), channel(shutdown_fds))

"""The launcher: starts the ranks, waits for all of them, leaves none behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from host_oom.lines import STDERR, write_line

# So that the same things are allocated in every run. A set variable is left as it is.
RANK_ENVIRONMENT = {
    # A BLAS thread has a stack and buffers of its own.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Arrays of 128 KiB and more are mapped one by one, and unmapped when freed. By default
    # glibc raises this threshold as arrays are freed and keeps their memory on its heap.
    "MALLOC_MMAP_THRESHOLD_": "131072",
    # No thread reserves 64 MiB for a heap of its own.
    "MALLOC_ARENA_MAX": "1",
}
FORWARDED = {signal.SIGTERM, signal.SIGINT}
SECONDS_TO_END = 5.0


@dataclass
class RankSockets:
    """One rank's socket ends: towards ranks 1, 2, ... on rank 0, else towards rank 0."""

    collective: list[socket.socket] = field(default_factory=list)
    shutdown: list[socket.socket] = field(default_factory=list)
    launcher: list[socket.socket] = field(default_factory=list)

    def close(self) -> None:
        """Close the launcher's copies: a rank's end is then closed when the rank ends."""
        for end in [*self.collective, *self.shutdown, *self.launcher]:
            end.close()

    def arguments(self) -> list[str]:
        """How a rank is told its sockets, which it inherits by number."""
        options = {
            "--collective-fds": self.collective,
            "--shutdown-fds": self.shutdown,
            "--launcher-fd": self.launcher,
        }
        arguments: list[str] = []
        for option, ends in options.items():
            if ends or option != "--launcher-fd":
                arguments += [option, *(str(end.fileno()) for end in ends)]
        return arguments

    def descriptors(self) -> list[int]:
        """The numbers of all ends."""
        return [end.fileno() for end in [*self.collective, *self.shutdown, *self.launcher]]


def launch(ranks: int, arguments: Sequence[str]) -> int:
    """Run the script again once per rank; return 0, 1 if a rank failed, or 128 + ending signal."""
    # Signals are waited for, not handled: none can come between starting and noting a rank.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED | {signal.SIGCHLD})
    processes: list[subprocess.Popen[bytes]] = []
    # Held open until the end: rank 0 notices when the launcher is gone, however it went.
    lifeline, rank_0_end = socket.socketpair()
    sockets = connected_sockets(ranks)
    sockets[0].launcher.append(rank_0_end)
    try:
        for rank in range(ranks):
            # One by one: what has started has to be ended, also if the next cannot start.
            processes.append(start_rank(rank, ranks, arguments, sockets[rank]))
        return wait(processes)
    finally:
        for ends in sockets:
            ends.close()
        end(processes, signal.SIGKILL)
        lifeline.close()


def connected_sockets(ranks: int) -> list[RankSockets]:
    """Two stars of socket pairs around rank 0: no port, no file, nothing a stranger can join."""
    sockets = [RankSockets() for _ in range(ranks)]
    for rank in range(1, ranks):
        for channel in ("collective", "shutdown"):
            towards_rank, towards_hub = socket.socketpair()
            getattr(sockets[0], channel).append(towards_rank)
            getattr(sockets[rank], channel).append(towards_hub)
    return sockets


def start_rank(
    rank: int, ranks: int, arguments: Sequence[str], sockets: RankSockets
) -> subprocess.Popen[bytes]:
    """Start one rank; its output goes where the launcher's goes."""
    place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks)}
    process = subprocess.Popen(
        [sys.executable, *arguments, *sockets.arguments()],
        env={**RANK_ENVIRONMENT, **os.environ, **place},
        stdin=subprocess.DEVNULL,
        pass_fds=sockets.descriptors(),
    )
    sockets.close()
    return process


def wait(processes: Sequence[subprocess.Popen[bytes]]) -> int:
    """Wait until every rank has ended; end them when the launcher is told to end."""
    while any(process.poll() is None for process in processes):
        number = signal.sigwait(FORWARDED | {signal.SIGCHLD})
        if number != signal.SIGCHLD:
            write_line(f"WARNING:host_oom.launch:received signal {number}, ending all ranks", STDERR)
            end(processes, number)
            return 128 + number
    for rank, process in enumerate(processes):
        ended = process.returncode
        if ended:
            how = f"by signal {-ended}" if ended < 0 else f"with exit code {ended}"
            write_line(f"ERROR:host_oom.launch:rank {rank} ended {how}", STDERR)
    return int(any(process.returncode for process in processes))


def end(processes: Sequence[subprocess.Popen[bytes]], number: int) -> None:
    """Send a signal to all ranks; kill those that are still there after a while."""
    # Stopped first, so that no rank lives to tell of the loss of one that got its signal earlier.
    for each in (signal.SIGSTOP, number, signal.SIGCONT):
        for process in processes:
            process.send_signal(each)
    deadline = time.monotonic() + SECONDS_TO_END
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def restore_signals() -> None:
    """In a rank: take signals as a plain process does, and end at once when interrupted."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED | {signal.SIGCHLD})

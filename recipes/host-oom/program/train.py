"""Train a small regression on eight sharded embedding tables, one process per table.

Started by hand, this file is the launcher. The launcher starts it again once per rank, with
the sockets of that rank as arguments. It needs Linux (``/proc/self/status``) and NumPy 2.
"""

from __future__ import annotations

import argparse
import sys

from host_oom import launch
from host_oom.lines import write_line


def mebibytes(text: str) -> int | None:
    """Read an address space budget: a positive whole number of MiB, or ``none`` for no limit."""
    if text == "none":
        return None
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a positive number of MiB nor 'none'")
    return int(text)


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def parse(argv: list[str]) -> argparse.Namespace:
    """Read the command line; the hidden options are how the launcher hands a rank its sockets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=positive, default=8, help="rank processes to start")
    parser.add_argument("--steps", type=positive, default=30, help="training iterations")
    parser.add_argument(
        "--address-space-mib",
        type=mebibytes,
        default=None,
        metavar="N|none",
        help="limit of each rank's address space, in MiB above what it uses before the model",
    )
    hidden = argparse.SUPPRESS
    parser.add_argument("--collective-fds", type=int, nargs="*", default=None, help=hidden)
    parser.add_argument("--shutdown-fds", type=int, nargs="*", default=None, help=hidden)
    parser.add_argument("--launcher-fd", type=int, default=None, help=hidden)
    return parser.parse_args(argv)


def main(argv: list[str]) -> int:
    """Run the launcher or one rank; return the exit code."""
    options = parse(argv)
    budget = options.address_space_mib
    if options.collective_fds is None:
        limit = "none" if budget is None else f"{budget} MiB above what it uses at start-up"
        write_line(f"> initializing host_oom with {options.ranks} ranks ...")
        write_line(f"> limiting each rank's address space: {limit}")
        return launch.launch(options.ranks, [__file__, *argv])
    launch.restore_signals()
    # NumPy is imported by the ranks only, and after the signals are those of a plain process.
    from host_oom import rank

    return rank.run(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

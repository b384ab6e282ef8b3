"""Facts about this process and its machine for part.json; a fact that cannot be read is null."""

from __future__ import annotations

import os
import platform
import resource
import sys
from typing import Any, Callable, TypeVar

from .envlist import pick
from .options import Options
from .start import job_environment

SCHEMA = "reprokit/part/1"
AGENT = "1.0"
_LIMITS = "as core cpu data fsize memlock nofile nproc rss stack sigpending msgqueue".split()
# cpuinfo repeats itself for each core, and the kernel makes it slowly: the first core is enough.
_HEAD = 8192

T = TypeVar("T")


def _try(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except Exception:  # any trouble means one fact less, never a job that does not start
        return None


def _head(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(_HEAD).decode("utf-8", "replace")


def _field(path: str, name: str, mark: str) -> str | None:
    for line in _head(path).splitlines():
        key, found, value = line.partition(mark)
        if found and key.strip() == name:
            return value.strip().strip("\"'")
    return None


def _cpu() -> str | None:
    # aarch64 has no model name
    return _field("/proc/cpuinfo", "model name", ":") or _field("/proc/cpuinfo", "CPU part", ":")


def _memory() -> int:
    text = _try(lambda: _field("/proc/meminfo", "MemTotal", ":"))
    if text:
        return int(text.split()[0]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _user() -> str:
    # the variable first: a user database may be a network away
    for name in ("USER", "LOGNAME"):
        if os.environ.get(name):
            return os.environ[name]
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _cores() -> int | None:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _limits() -> dict[str, list[int | None]]:
    found = {}
    for name in _LIMITS:
        number = getattr(resource, "RLIMIT_" + name.upper(), None)
        if number is not None:
            pair = resource.getrlimit(number)
            found[name] = [None if value == resource.RLIM_INFINITY else value for value in pair]
    return found


def gather(options: Options, started: str) -> dict[str, Any]:
    """All of part.json but the child's pid."""
    decoded = {os.fsdecode(name): os.fsdecode(value) for name, value in job_environment(options).items()}
    environment = pick(decoded, options.env_allow)
    return {
        "schema": SCHEMA,
        "agent": AGENT,
        "argv": options.command,
        "cwd": _try(lambda: os.path.abspath(options.cwd or ".")),
        "host": _try(lambda: os.uname().nodename),
        "user": _try(_user),
        "agent_pid": os.getpid(),
        "child_pid": None,
        "started": started,
        "python": platform.python_version(),
        "kernel": _try(lambda: os.uname().release),
        "os": _try(lambda: _field("/etc/os-release", "PRETTY_NAME", "=")) or sys.platform,
        "machine": _try(lambda: os.uname().machine),
        "libc": _try(lambda: os.confstr("CS_GNU_LIBC_VERSION")),
        "cpu": _try(_cpu),
        "cores_allowed": _try(_cores),
        "mem_total_bytes": _try(_memory),
        "rlimits": _try(_limits) or {},
        "env": environment.values,
        "env_names_not_recorded": environment.left_out,
        "notes": options.notes,
        "end_hang_s": options.end_hang,
        "time_limit_s": options.time_limit,
    }

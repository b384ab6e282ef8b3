"""The limit of a rank's address space, and how much of it is in use.

The limit is the kernel's own (RLIMIT_AS): past it, an allocation fails, in NumPy with a
MemoryError. It is set once, before the model is built, as *base* (what the interpreter and the
imported modules use then) + budget. So the budget means the same with another Python or NumPy,
and a change that saves memory does not shrink it.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass

MIB = 1 << 20


def status_bytes(field: str) -> int:
    """A size of this process from ``/proc/self/status``, e.g. ``VmSize``, in bytes."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            name, _, value = line.partition(":")
            if name == field:
                return int(value.removesuffix("kB\n")) * 1024
    raise RuntimeError(f"/proc/self/status has no {field}: this program needs a Linux kernel")


@dataclass(frozen=True)
class AddressSpace:
    """This process's address space above ``base`` (bytes)."""

    base: int

    def allocated(self) -> int:
        """Bytes in use now: VmSize - base."""
        return status_bytes("VmSize") - self.base

    def max_allocated(self) -> int:
        """The most bytes in use so far: VmPeak - base. The kernel's peak is never reset."""
        return status_bytes("VmPeak") - self.base


def limit_address_space(budget_mib: int | None) -> AddressSpace:
    """Allow ``budget_mib`` MiB more than is in use now (``None``: do not limit)."""
    base = status_bytes("VmSize")
    if budget_mib is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (base + budget_mib * MIB, hard))
    return AddressSpace(base)

"""IP addresses told apart from versions, counters and C++ scopes."""

from __future__ import annotations

import ipaddress
import re

IPV4 = re.compile(r"[0-9](?<![\w.][0-9])[0-9]{0,2}(?:\.[0-9]{1,3}){3}(?![\w]|\.[0-9])")
IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")
MAYBE_IPV6 = re.compile(r"::|(?:[0-9A-Fa-f]{1,4}:){7}")
"""Found on every line that has an IPv6 address (RFC 4291 2.2)."""

# What stands before a version of four parts (cuDNN 9.14.0.64, nvidia-curand-cu12==10.3.5.147), not before an address.
_VERSION_BEFORE = re.compile(
    r"(?:version|versions|ver|release|driver|toolkit|runtime|build|cu(?:da|dnn|blas|fft|rand|solver|sparse|file|tensor)[\w-]*"
    r"|lib\w+|nvidia[\w-]*|nccl|hpcx|ofed|firmware|fw|torch[\w-]*|[\w-]+-cu[0-9]+|[=<>~!]=)[\"'\s:=(]{0,24}$|\bv$",
    re.IGNORECASE,
)
_ADDRESS_BEFORE = re.compile(
    r"(?:\bip|_ip|\baddr|_addr|address|host|hostname|server|endpoint|inet|peer|from|to|on|at|via|connect\w*|listen\w*"
    r"|bind|ssh|ping|gateway|eth[0-9]+|ib[0-9]+|bond[0-9]+|en[a-z0-9]{2,8})[\"'\s:=(\[]{1,4}$|@$|://$|/$",
    re.IGNORECASE,
)
_ADDRESS_AFTER = re.compile(r":[0-9]{2,5}\b|<[0-9]+>|/[0-9]{1,2}\b|\]:[0-9]|\.in-addr")
_CARRIER = ipaddress.ip_network("100.64.0.0/10")
_LOOK_BACK = 48


def is_host_address4(text: str, start: int, end: int) -> bool:
    """Whether the four-part number at `start`..`end` of `text` is an address of a machine.

    A private one is, unless a version's name stands before it; any other one only where an address is expected.
    Loopback, netmasks and 0.0.0.0 are nobody's.
    """
    try:
        address = ipaddress.IPv4Address(text[start:end])
    except ValueError:  # an octet above 255 or with a leading zero
        return False
    if (
        address.is_loopback
        or address.is_unspecified
        or address.is_multicast
        or text[start:end].startswith("255.")
    ):
        return False
    line_start = text.rfind("\n", 0, start) + 1
    before = text[max(line_start, start - _LOOK_BACK) : start]
    if _VERSION_BEFORE.search(before):
        return False
    if address.is_private or address.is_link_local or address in _CARRIER:
        return True
    if _ADDRESS_BEFORE.search(before) or _ADDRESS_AFTER.match(text, end):
        return True
    return start == line_start and text.startswith(": ", end)  # pdsh's prefix


def is_host_address6(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` is a global, unique local or link local IPv6 address."""
    try:
        address = ipaddress.IPv6Address(text[start:end])
    except ValueError:
        return False
    first = int(address) >> 112
    return 0x2000 <= first <= 0x3FFF or 0xFC00 <= first <= 0xFDFF or 0xFE80 <= first <= 0xFEBF

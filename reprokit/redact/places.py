"""Places whose text says that a host, a user or an account stands there: Slurm, torchelastic, environments."""

from __future__ import annotations

import re
from typing import NamedTuple


class Place(NamedTuple):
    """`literal` stands on every line that `pattern` matches. The groups of `pattern` are `before` and `value`; the
    value may be a host list or several names, comma-separated. `source`: what prints it.
    """

    kind: str
    literal: str
    pattern: re.Pattern[str]
    source: str


_NAME = r"(?P<value>[A-Za-z0-9_][A-Za-z0-9_.-]*[A-Za-z0-9_])"
_LIST = r"(?P<value>[A-Za-z][A-Za-z0-9_.,-]*(?:\[[0-9,-]+\][A-Za-z0-9_.,-]*){0,40})"


def _place(kind: str, literal: str, before: str, value: str, after: str, source: str) -> Place:
    return Place(kind, literal, re.compile(rf"(?P<before>{before}){value}{after}"), source)


# Forms seen in Slurm 22.05.8 and 23.x output, torchelastic's failure table, NCCL and dumps of environments, 2026-11-30.
PLACES = (
    _place(
        "host",
        "NODELIST=",
        r"\bSLURM_(?:JOB_|STEP_)?NODELIST=[\"']?",
        _LIST,
        "",
        "sbatch and srun environment",
    ),
    _place("host", "NodeList=", r"\b(?:Sched)?NodeList=", _LIST, "", "scontrol show job"),
    _place("host", "BatchHost=", r"\bBatchHost=", _LIST, "", "scontrol show job"),
    _place("host", "SLURMD_NODENAME=", r"\bSLURMD_NODENAME=[\"']?", _NAME, "", "task environment"),
    _place("host", "HOST", r"\b(?:SLURM_SUBMIT_HOST|HOSTNAME)=[\"']?", _NAME, "", "task environment"),
    _place("host", "srun: error: ", r"\bsrun: error: ", _NAME, r"(?=: tasks? )", "srun"),
    _place(
        "host", "slurmstepd-", r"\bslurmstepd-", _NAME, r"(?=: )", "slurmstepd with several slurmd on a host"
    ),
    _place("host", " CANCELLED", r"\b(?:JOB|STEP) [0-9.+]{1,24} ON ", _NAME, r"(?= CANCELLED)", "slurmstepd"),
    _place("host", "host  ", r"(?<=\s)host[ ]{2,12}: ", _NAME, r"(?=\s|$)", "torchelastic's failure table"),
    _place("host", "MASTER_ADDR=", r"\bMASTER_ADDR=[\"']?(?=[A-Za-z])", _NAME, "", "torch environment"),
    _place(
        "host",
        " NCCL ",
        r"(?<![\w.:-])",
        _NAME,
        r"(?=:[0-9]{1,8}:[0-9]{1,8} \[[0-9]{1,3}\] NCCL )",
        "NCCL: host:pid:tid",
    ),
    _place(
        "host", "]:", r"\[(?=[A-Za-z])", _NAME, r"(?=\]:[0-9]{2,5}\b)", "c10d's socket messages: [host]:port"
    ),
    _place("host", "[pod/", r"\[pod/", _NAME, r"(?=/)", "kubectl logs --prefix"),
    _place("user", "USER=", r"\b(?:USER|SLURM_JOB_USER|SUDO_USER)=[\"']?", _NAME, "", "task environment"),
    _place("user", "LOGNAME=", r"\bLOGNAME=[\"']?", _NAME, "", "task environment"),
    _place("user", "UserId=", r"\bUserId=", _NAME, r"(?=\()", "scontrol show job"),
    _place(
        "user",
        "torchinductor_",
        r"\btorchinductor_",
        _NAME,
        r"(?=[/\s\"':])",
        "torch inductor's cache folder",
    ),
    _place("account", "--account", r"(?<=[\s'\"])--account[= ]", _NAME, "", "sbatch, srun, sacct"),
    _place("account", " -A ", r"(?<=\s)-A ", _NAME, "", "sbatch, srun, sacct"),
    _place("account", "Account=", r"\bAccount=", _NAME, "", "scontrol show job"),
    _place("account", "SLURM_JOB_ACCOUNT=", r"\bSLURM_JOB_ACCOUNT=", _NAME, "", "task environment"),
)

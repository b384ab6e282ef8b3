"""Words that are never taken for a host, a user or an account: replacing them would garble a report.

A name on this list tells nobody apart, so it may stay. List of 2026-11-30.
"""

from __future__ import annotations

import re

COMMON = frozenset(
    """
    root localhost localdomain user users home host hosts node nodes train trainer training test tests data dataset
    datasets model models work workspace workdir tmp temp admin ubuntu debian centos rocky nobody guest default none
    null true false unknown local global main master worker workers head login batch debug compute gpu gpus cpu cuda
    rank ranks step steps layer layers iteration path paths account accounts registry email file files line job jobs
    task tasks slurm docker podman kube kubernetes container containers runner jenkins gitlab github git python
    conda miniconda venv site packages lib libs bin usr opt var etc src scripts script configs config logs log out
    err error output outputs input inputs torch pytorch tensor tensors nccl nvidia megatron bridge nemo core apex
    transformer transformers engine deepspeed lightning huggingface hugging face llama deepseek qwen mistral mixtral
    optimizer scheduler attention linear forward backward loss grad param params checkpoint checkpoints pretrain
    finetune inference eval evaluate server client service system daemon process memory device devices kernel launch
    launcher distributed parallel pipeline expert experts hybrid flash fused module modules utils util common shared
    scratch pdsh project projects team group groups public private internal dev prod staging experiments experiment run
    runs recipe recipes example examples demo research science infra cluster lustre nfs mnt nvme raid disk storage
    """.split()
)

_GENERIC = re.compile(
    r"(?:rank|default|local|step|iter|layer|role|task|job|part)[-_]?[0-9]*|(?:gpu|cuda|device)[-_]?[0-9]{1,2}|node-[0-9]{1,2}"
)


FILE_ENDS = frozenset(
    """
    py pyc log txt json yaml yml out err sh c cc cpp cu cuh h hpp so toml md html js pt pkl gz zip tar csv cfg ini
    """.split()
)
_USER_PREFIXES = ("torchinductor_", "hsperfdata_", "triton_", "ray_", "pymp_", "slurm_", "vscode-", "tmux-")


def too_common(value: str) -> bool:
    """Whether a name is too short, an everyday word, a number, or of the form `rank3`, `node-0`."""
    return len(value) < 3 or value.lower() in COMMON or value.isdigit() or bool(_GENERIC.fullmatch(value))


def stays(value: str) -> bool:
    """Whether a value is no identity: an everyday word, or a path of nothing else, `/opt` (but not `/root`)."""
    if value.startswith("/"):
        return value != "/root" and all(too_common(part) for part in value.split("/") if part)
    return too_common(value) or any(sign.isspace() for sign in value)


def is_distinctive(value: str) -> bool:
    """Whether a name cannot well be part of another word, so that `_` beside it does not make it one."""
    return len(value) >= 8 or any(sign.isdigit() or sign in ".-" for sign in value)


def stands_alone(text: str, start: int, end: int, kind: str) -> bool:
    """Whether `text[start:end]` is the name itself here, not a part of another word or of a source path."""
    value = text[start:end]
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    in_path = "/" in (before, after)
    if kind == "host" and in_path and value.replace("_", "").isalpha():
        return False  # src/host_oom/optimizer.py
    if is_distinctive(value) or (kind == "user" and text[:start].endswith(_USER_PREFIXES)):
        return True
    if (
        before in ("_", "-", ".")
        or after in ("_", "-")
        or (after == "." and text[end + 1 : end + 2].isalnum())
    ):
        return False
    return kind == "user" or not in_path

"""Which environment variables are recorded: an allow-list, minus every name that smells of a secret."""

from __future__ import annotations

from typing import Iterable, Mapping, NamedTuple

# Names that change what a training job does, or say what it ran on.
NAMES = frozenset(
    """
    RANK LOCAL_RANK GROUP_RANK ROLE_RANK NODE_RANK WORLD_SIZE LOCAL_WORLD_SIZE MASTER_PORT
    SLURM_JOB_ID SLURM_JOB_NUM_NODES SLURM_NNODES SLURM_NTASKS SLURM_NTASKS_PER_NODE SLURM_PROCID SLURM_LOCALID
    SLURM_NODEID SLURM_STEP_ID SLURM_RESTART_COUNT SLURM_CPUS_PER_TASK SLURM_GPUS_ON_NODE SLURM_MEM_PER_NODE
    SLURM_CLUSTER_NAME SLURM_JOB_NODELIST
    PYTHONHASHSEED PYTHONFAULTHANDLER PYTHONUNBUFFERED PYTHONMALLOC PYTHONOPTIMIZE PYTHONDONTWRITEBYTECODE
    LANG LC_ALL LC_CTYPE TZ
    NVLINK_DOMAIN_SIZE USE_MNNVL LD_PRELOAD GOMP_CPU_AFFINITY TOKENIZERS_PARALLELISM
    NVIDIA_VISIBLE_DEVICES NVIDIA_DRIVER_CAPABILITIES NVIDIA_PYTORCH_VERSION NVIDIA_BUILD_ID NVIDIA_TF32_OVERRIDE
    NVIDIA_REQUIRE_CUDA TRANSFORMER_ENGINE_VERSION
    """.split()
)

PREFIXES = tuple(
    "OMP_ KMP_ OPENBLAS_ MKL_ BLIS_ NUMEXPR_ MALLOC_ PYTORCH_ TORCH_ TORCHELASTIC_ TORCHINDUCTOR_ TORCHDYNAMO_ "
    "NCCL_ RCCL_ GLOO_ UCX_ UCC_ NVTE_ CUDA_ CUDNN CUBLAS CUFILE_ NVSHMEM_ NUM_OF_ HYBRID_EP_ DEEP_EP_ TRITON_ "
    "HIP_ HSA_ ROCR_ XLA_ OMPI_COMM_WORLD_ FI_ MEGATRON_".split()
)

SECRET_WORDS = frozenset(
    "TOKEN TOKENS KEY SECRET PASS PASSWORD PASSWD CREDENTIALS AUTH COOKIE JWT PAT".split()
)


class Recorded(NamedTuple):
    """Values of the allowed names, and how many names were left out."""

    values: dict[str, str]
    left_out: int


def secret(name: str) -> bool:
    """Whether a name promises a secret; NUM_OF_TOKENS_... counts tokens of another kind."""
    words = set(name.upper().split("_"))
    if name.startswith("NUM_OF_"):
        words.discard("TOKENS")
    return bool(words & SECRET_WORDS)


def allowed(name: str, extra: Iterable[str] = ()) -> bool:
    """Whether a variable may be recorded; `extra` names widen the list, but never to a secret."""
    listed = name in NAMES or name.startswith(PREFIXES) or name in extra
    return listed and not secret(name)


def pick(environment: Mapping[str, str], extra: Iterable[str] = ()) -> Recorded:
    """The part of an environment that is recorded."""
    extra = frozenset(extra)
    values = {name: value for name, value in environment.items() if allowed(name, extra)}
    return Recorded(values, len(environment) - len(values))

"""What is written down: part.json, samples, environment by allow-list, stacks."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reprokit.agent.envlist import allowed, pick
from reprokit.agent.spool import encode

ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
PLANTED = "planted-1f8a-secret"


@pytest.mark.parametrize(
    "name",
    """OMP_NUM_THREADS OPENBLAS_CORETYPE MKL_NUM_THREADS MALLOC_ARENA_MAX PYTORCH_CUDA_ALLOC_CONF NCCL_NVLS_ENABLE
    TORCH_NCCL_AVOID_RECORD_STREAMS NVTE_BWD_LAYERNORM_SM_MARGIN CUDA_DEVICE_MAX_CONNECTIONS
    CUDNNFE_CLUSTER_OVERLAP_MARGIN NVLINK_DOMAIN_SIZE USE_MNNVL NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN
    NUM_OF_TOKENS_PER_CHUNK_COMBINE_API RANK LOCAL_RANK WORLD_SIZE MASTER_PORT SLURM_JOB_ID SLURM_PROCID
    PYTHONHASHSEED LANG LC_ALL TZ""".split(),
)
def test_names_that_matter_are_recorded(name: str) -> None:
    assert allowed(name)


@pytest.mark.parametrize(
    "name",
    """HF_TOKEN WANDB_API_KEY AWS_SECRET_ACCESS_KEY NCCL_TOKEN CUDA_API_KEY TORCH_AUTH MKL_PASS NUM_OF_KEY
    PYTORCH_TOKENS TORCH_COOKIE UCX_PASSWORD OMP_JWT GLOO_PAT NCCL_CREDENTIALS Nccl_Token HOME PATH SSH_AUTH_SOCK
    SLURM_JWT SLURM_JOB_ACCOUNT RANKS
    OMPI_MCA_orte_precondition_transports""".split(),
)
def test_other_names_are_not(name: str) -> None:
    assert not allowed(name)
    assert name not in pick({name: "x"}).values


def test_asked_for_names_are_recorded_but_no_secrets() -> None:
    found = pick({"MY_FLAG": "1", "MY_TOKEN": "2", "OTHER": "3"}, ["MY_FLAG", "MY_TOKEN"])
    assert found == ({"MY_FLAG": "1"}, 2)


def test_json_is_utf8_whatever_the_names_are() -> None:
    assert encode({"b": "ü\udcff", "a": 1}) == '{"a": 1, "b": "ü\ufffd"}'.encode()


@pytest.mark.job
def test_part_says_what_runs_where(record: Callable[..., Any]) -> None:
    planted = {"HF_TOKEN": PLANTED, "WANDB_API_KEY": PLANTED, "NCCL_SECRET": PLANTED, "CUDA_KEY": PLANTED}
    wanted = {"OMP_NUM_THREADS": "3", "NUM_OF_TOKENS_PER_CHUNK_COMBINE_API": "128", "MY_SWITCH": "on"}
    run = record(
        *("sh", "-c", "exit 0"),
        options=(
            "--env-allow",
            "MY_SWITCH",
            "--env-allow",
            "HF_TOKEN",
            "--note",
            "arm=base",
            "--note",
            "why=a=b c",
        ),
        env={**os.environ, **planted, **wanted},
    )
    assert run.finish() == 0
    part = run.json("part.json")
    assert (part["schema"], part["agent"], part["argv"]) == ("reprokit/part/1", "1.0", ["sh", "-c", "exit 0"])
    assert wanted.items() <= part["env"].items()
    assert part["env_names_not_recorded"] > 4
    assert part["notes"] == {"arm": "base", "why": "a=b c"}
    assert part["agent_pid"] == run.process.pid and part["child_pid"] > 1
    assert ISO.fullmatch(part["started"]) and ISO.fullmatch(run.json("end.json")["ended"])
    assert part["cwd"] == os.getcwd() and part["host"] == os.uname().nodename
    assert part["mem_total_bytes"] > 1 << 28 and part["cores_allowed"] == len(os.sched_getaffinity(0))
    assert len(part["rlimits"]["as"]) == 2 and part["os"] and part["libc"]
    assert (part["end_hang_s"], part["time_limit_s"]) == (None, None)
    for file in run.spool.rglob("*"):
        assert PLANTED.encode() not in file.read_bytes(), file


@pytest.mark.job
def test_secrets_of_the_environment_are_nowhere_after_a_hang(record: Callable[..., Any]) -> None:
    run = record(
        "\nimport time\nprint('ValueError: x', flush=True)\ntime.sleep(100)\n",
        options=("--end-hang", "0.5"),
        env={**os.environ, "HF_TOKEN": PLANTED, "SERVICE_KEY": PLANTED},
    )
    assert run.finish() == 143
    files = [file for file in run.spool.rglob("*") if file.is_file()]
    assert len(files) >= 7
    for file in files:
        assert PLANTED.encode() not in file.read_bytes(), file


@pytest.mark.job
def test_samples_know_the_ranks(record: Callable[..., Any]) -> None:
    run = record(
        """
        import os, subprocess, sys
        worker = "import subprocess, sys, time; b = bytearray(20 << 20); print('up', flush=True); time.sleep(30)"
        ranks = [subprocess.Popen([sys.executable, "-c", worker], env={**os.environ, "RANK": str(n)}) for n in (0, 1)]
        for rank in ranks:
            rank.wait()
        """,
        options=("--time-limit", "1.6"),
        env={**os.environ, "SLURM_PROCID": "0"},
    )
    assert run.finish() == 143
    samples = run.lines("samples.jsonl")
    assert len(samples) >= 2
    last = samples[-1]
    assert last["processes"] == 3 and last["cpu_s"] >= 0 and last["output_bytes"] == 6
    assert sorted(last["ranks"]) == ["0", "1"]
    main = run.json("part.json")["child_pid"]
    for rank in last["ranks"].values():
        # rank 0 is the worker, not the launcher that has Slurm's number 0
        assert rank["pid"] != main and rank["rss_bytes"] > 20 << 20 and rank["state"] == "S"
        assert rank["vm_bytes"] >= rank["rss_bytes"]


FAKE_PY_SPY = """#!/bin/sh
[ "$1 $2" = "dump --pid" ] || exit 9
{body}
"""


@pytest.mark.job
@pytest.mark.parametrize(
    ("body", "tool", "why"),
    [
        ('echo "Process $3: python x"; echo "Thread $3 (idle)"', "py-spy", None),
        (
            'echo "Error: Permission Denied: Try running again" >&2; exit 1',
            "proc",
            "py-spy failed: Error: Permission",
        ),
        ("exit 0", "proc", "py-spy failed: code 0"),
        ("kill -9 $$", "proc", "py-spy failed: code -9"),
    ],
)
def test_stacks_by_py_spy_or_else_by_proc(
    record: Callable[..., Any], tmp_path: Path, body: str, tool: str, why: str | None
) -> None:
    fake = tmp_path / "bin" / "py-spy"
    fake.parent.mkdir()
    fake.write_text(FAKE_PY_SPY.format(body=body))
    fake.chmod(0o755)
    run = record(
        "\nimport time\nprint('ValueError: x', flush=True)\ntime.sleep(100)\n",
        options=("--end-hang", "0.5"),
        env={**os.environ, "PATH": f"{fake.parent}:{os.environ['PATH']}", "RANK": "3"},
    )
    assert run.finish() == 143
    [entry] = run.json("stacks/index.json")
    assert (entry["rank"], entry["tool"]) == (3, tool)
    assert (entry["why"] or "").startswith(why or "")
    text = (run.spool / entry["file"]).read_text()
    if tool == "py-spy":
        assert text.startswith(f"Process {entry['pid']}: python x\n")
    else:
        assert "== wchan\n" in text and f"Pid:\t{entry['pid']}\n" in text
    assert run.json("end.json")["hang"]["live_ranks"] == [3]


@pytest.mark.job
def test_other_programs_are_not_asked_for_python_stacks(record: Callable[..., Any]) -> None:
    run = record("sh", "-c", "echo 'ValueError: x'; sleep 100", options=("--end-hang", "0.5"))
    assert run.finish() == 143
    entries = run.json("stacks/index.json")
    assert entries and {entry["why"] for entry in entries} == {"not a Python process"}
    assert {entry["tool"] for entry in entries} == {"proc"}


@pytest.mark.job
def test_real_py_spy_shows_the_line_that_hangs(record: Callable[..., Any]) -> None:
    from reprokit.agent.stacks import find_py_spy

    if find_py_spy() is None:
        pytest.skip("py-spy is not installed here")
    run = record(
        """
        import time
        def stuck_here():
            time.sleep(100)
        print("ValueError: x", flush=True)
        stuck_here()
        """,
        options=("--end-hang", "0.5"),
    )
    assert run.finish() == 143
    [entry] = run.json("stacks/index.json")
    if entry["tool"] != "py-spy":
        pytest.skip(f"py-spy may not look here: {entry['why']}")
    assert "stuck_here (" in (run.spool / entry["file"]).read_text()


@pytest.mark.job
def test_rank_is_all_that_is_read_of_a_process() -> None:
    from reprokit.agent import procs

    assert procs.rank_of(os.getpid()) is None
    me = procs.everything()[os.getpid()]
    assert me.alive and me.parent == os.getppid() and me.session == os.getsid(0)
    assert abs(me.cpu_s - time.process_time()) < 1
    assert procs.everything(str(Path(__file__).parent)) == {}
    assert procs.is_python(me) == ("python" in os.path.basename(os.path.realpath(sys.executable)))


def test_stat_lines_with_odd_names() -> None:
    from reprokit.agent.procs import parse_stat

    line = b"42 (a) b (c) S 1 42 42 0 -1 0 0 0 0 0 100 50 7 3 20 0 9 0 777 4096 2 " + b"0 " * 20
    process = parse_stat(line)
    assert process is not None
    assert (process.pid, process.name, process.state, process.parent) == (42, "a) b (c", "S", 1)
    assert (process.threads, process.start, process.vm_bytes) == (9, 777, 4096)
    assert parse_stat(b"") is parse_stat(b"42 (x") is parse_stat(b"x (y) S 1") is None

"""The program of recipes/host-oom, without reprokit: it fails, hangs, passes and ends as its README says."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

pytestmark = pytest.mark.job

RECIPE = Path(__file__).parents[2] / "recipes" / "host-oom"
PATCHES = RECIPE / "patches"
TEST_PATCHES = Path(__file__).parent / "patches"
BUDGET_MIB = 97
RANKS = 8
FAILING = [0, 2, 4]
REQUEST = "Unable to allocate 24.0 MiB for an array with shape (6291456,) and data type float32"
ERROR = f"numpy._core._exceptions._ArrayMemoryError: {REQUEST}"
STATEMENT = "shard_main_param.grad = shard_model_grad.astype(np.float32)"
# How the failing frames call each other, the innermost last.
CALLS = ["train_step", "step", "prepare_grads", "_copy_model_grads_to_main_grads", "copy_group_grads"]
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PATIENCE_S = 30.0

ITERATION = re.compile(
    r" \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] iteration {1,8}(?P<iteration>\d+)/ {6}30"
    r" \| consumed samples: +(?P<samples>\d+) \| elapsed time per iteration \(ms\): \d+\.\d"
    r" \| learning rate: 1\.000000E-02 \| global batch size:  8192 \| lm loss: (?P<loss>\d\.\d{6}E[+-]\d\d)"
    r" \| loss scale: 1\.0 \| grad norm: \d+\.\d{3}"
    r" \| number of skipped iterations:   0 \| number of nan iterations:   0 \|"
)
MEMORY = re.compile(
    r"\[Rank 0\] \(after (?P<iteration>\d) iterations\) memory \(GB\)"
    r" \| mem-allocated-gigabytes: (?P<now>0\.\d+) \| mem-max-allocated-gigabytes: (?P<peak>0\.\d+)"
)
OTHER = re.compile(
    r"> initializing host_oom with 8 ranks \.\.\."
    r"|> limiting each rank's address space: .*"
    r"|> setting random seeds to 1234 \.\.\."
    r"| > number of parameters on \(tensor, pipeline\) model parallel rank \(0, 0\): 6291456"
    r"|done with setup \.\.\."
    r"|Starting training loop at iteration 0"
    r"|INFO:host_oom\.capture:Capture static buffers for training!!!"
    r"|INFO:host_oom\.capture:static buffer capture done for training!!!"
    r"|\[rank\d\]: .+"
    r"|WARNING:host_oom\.launch:received signal 15, ending all ranks"
    r"|\[after training is done\] datetime: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d "
)


@dataclass
class Output:
    """What a job printed, and the exit code of its launcher."""

    text: str
    exit_code: int

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def losses(self) -> list[float]:
        found = [match for line in self.lines if (match := ITERATION.fullmatch(line))]
        assert [int(match["iteration"]) for match in found] == list(range(1, len(found) + 1))
        return [float(match["loss"]) for match in found]

    def memory(self, iteration: int) -> tuple[float, float]:
        """Allocated and most allocated, in GB."""
        found = [match for line in self.lines if (match := MEMORY.fullmatch(line))]
        (match,) = [match for match in found if int(match["iteration"]) == iteration]
        return float(match["now"]), float(match["peak"])

    def rank_lines(self, rank: int) -> list[str]:
        prefix = f"[rank{rank}]: "
        return [line.removeprefix(prefix) for line in self.lines if line.startswith(prefix)]

    def failing_ranks(self) -> list[int]:
        return [rank for rank in range(RANKS) if any("Error: " in line for line in self.rank_lines(rank))]

    def assert_failed_at(self, calls: list[str]) -> None:
        """Ranks 0, 2 and 4 failed in iteration 3 in the copy of the gradient, and no other rank."""
        assert self.failing_ranks() == FAILING
        assert len(self.losses()) == 2
        for rank in FAILING:
            lines = self.rank_lines(rank)
            assert lines[0] == "Traceback (most recent call last):"
            frames = [line for line in lines if line.startswith("  File ")]
            assert [frame.rpartition(" in ")[2] for frame in frames][-len(calls) :] == calls
            assert frames[-1].split('"')[1].endswith("/host_oom/optimizer.py")
            assert lines[lines.index(frames[-1]) + 1].strip() == STATEMENT
            assert lines[-1] == ERROR


@dataclass
class Job:
    """A started launcher with its ranks; leaving the block ends all of them."""

    program: Path
    budget: str
    launcher: subprocess.Popen[bytes] = field(init=False)

    def __enter__(self) -> Job:
        self._log = self.program.with_suffix(".log").open("w+b")
        command = [sys.executable, "train.py", "--ranks", str(RANKS), "--steps", "30"]
        self.launcher = subprocess.Popen(
            [*command, "--address-space-mib", self.budget],
            cwd=self.program,
            env={**os.environ, "LANG": "C", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        try:
            os.killpg(self.launcher.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.launcher.wait()
        self._log.close()

    def text(self) -> str:
        return os.pread(self._log.fileno(), 1 << 20, 0).decode()

    def finish(self) -> Output:
        code = self.launcher.wait(PATIENCE_S)
        return Output(self.text(), code)

    def wait_for_failure(self) -> None:
        """Until the three ranks have printed their last line; then nothing more is printed."""
        deadline = time.monotonic() + PATIENCE_S
        while self.text().count(ERROR) < len(FAILING):
            assert self.launcher.poll() is None, self.text()
            assert time.monotonic() < deadline, self.text()
            time.sleep(0.05)

    def ranks(self) -> dict[int, int]:
        """The process of each rank."""
        folder = Path(f"/proc/{self.launcher.pid}/task/{self.launcher.pid}")
        pids = [int(word) for word in (folder / "children").read_text().split()]
        return {int(environment(pid)["RANK"]): pid for pid in pids}


def environment(pid: int) -> dict[str, str]:
    entries = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


def state_and_ticks(pid: int) -> tuple[str, int]:
    """The state letter and the processor time used so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return words[0], int(words[11]) + int(words[12])


def alive(pid: int) -> bool:
    try:
        return state_and_ticks(pid)[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pids: list[int]) -> list[int]:
    deadline = time.monotonic() + 5
    while (left := [pid for pid in pids if alive(pid)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left


def program(folder: Path, patch: Path | None = None) -> Path:
    """A copy of the program, in a folder with an odd name."""
    copy = folder / "job's folder" / (patch.stem if patch else "unpatched")
    copytree(RECIPE / "program", copy, ignore=ignore_patterns("__pycache__"))
    if patch:
        assert apply(copy, patch) == 0
    return copy


def apply(folder: Path, patch: Path) -> int:
    git = ["git", "apply", "--whitespace=error", str(patch)]
    # Looked for from the parent on, a repository around the temporary folder would take the paths for its own.
    bounded = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    return subprocess.run(git, cwd=folder, env=bounded, check=False, capture_output=True).returncode


@dataclass
class Hang:
    """A failed job, watched for a while and then ended from outside."""

    output: Output
    running: dict[int, str]  # rank: state letter
    ticks: int  # used by all processes while they were watched
    printed: str  # while they were watched
    limits: dict[int, tuple[int, int]]  # rank: limit of the address space, size of it now (bytes)
    resident: int  # bytes of all ranks together
    left: list[int]


@pytest.fixture(scope="module")
def hang(tmp_path_factory: pytest.TempPathFactory) -> Hang:
    with Job(program(tmp_path_factory.mktemp("hang")), str(BUDGET_MIB)) as job:
        job.wait_for_failure()
        time.sleep(0.3)
        ranks, before = job.ranks(), job.text()
        everyone = [job.launcher.pid, *ranks.values()]
        ticks = sum(state_and_ticks(pid)[1] for pid in everyone)
        time.sleep(1.5)
        used = sum(state_and_ticks(pid)[1] for pid in everyone) - ticks
        states = {rank: state_and_ticks(pid)[0] for rank, pid in ranks.items()}
        printed = job.text().removeprefix(before)
        limits = {rank: limit_and_size(pid) for rank, pid in ranks.items()}
        resident = sum(status(pid, "VmRSS") for pid in ranks.values())
        job.launcher.terminate()
        output = job.finish()
        return Hang(output, states, used, printed, limits, resident, wait_until_gone(everyone[1:]))


def status(pid: int, name: str) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split(f"{name}:")[1].split()[0]) * 1024


def limit_and_size(pid: int) -> tuple[int, int]:
    limits = Path(f"/proc/{pid}/limits").read_text()
    return int(limits.split("Max address space")[1].split()[0]), status(pid, "VmSize")


@pytest.fixture(scope="module")
def without_limit(tmp_path_factory: pytest.TempPathFactory) -> Output:
    with Job(program(tmp_path_factory.mktemp("without-limit")), "none") as job:
        return job.finish()


def fail(folder: Path, patch: Path) -> Output:
    """The output of a patched program that fails and is ended."""
    with Job(program(folder, patch), str(BUDGET_MIB)) as job:
        job.wait_for_failure()
        job.launcher.terminate()
        return job.finish()


def test_three_ranks_fail_in_the_third_step(hang: Hang) -> None:
    hang.output.assert_failed_at(CALLS)


def test_the_error_is_the_kernels_limit(hang: Hang) -> None:
    for rank, (limit, size) in hang.limits.items():
        assert size < limit
        assert (size + (24 << 20) > limit) == (rank in FAILING)


def test_every_line_is_whole(hang: Hang, without_limit: Output) -> None:
    for output in (hang.output, without_limit):
        assert output.text.endswith("\n")
        for line in output.lines:
            assert any(known.fullmatch(line) for known in (ITERATION, MEMORY, OTHER)), line


def test_each_rank_captures_before_the_third_step(hang: Hang, without_limit: Output) -> None:
    for output in (hang.output, without_limit):
        assert output.text.count("INFO:host_oom.capture:Capture static buffers for training!!!\n") == RANKS
        assert output.text.count(":static buffer capture done for training!!!\n") == RANKS


def test_nothing_exits_and_nothing_works(hang: Hang) -> None:
    assert hang.running == dict.fromkeys(range(RANKS), "S")
    assert hang.ticks <= 0.02 * TICKS_PER_S
    assert hang.printed == ""


def test_terminating_the_launcher_ends_all(hang: Hang) -> None:
    assert hang.output.exit_code == 128 + signal.SIGTERM
    assert hang.left == []
    assert "PeerLost" not in hang.output.text


def test_it_is_small(hang: Hang) -> None:
    assert hang.resident < 1.5e9


def test_it_passes_without_a_limit(without_limit: Output) -> None:
    losses = without_limit.losses()
    assert without_limit.exit_code == 0
    assert len(losses) == 30
    assert losses[-1] < 0.1 * losses[0]
    assert without_limit.lines[-1].startswith("[after training is done] datetime: ")
    assert without_limit.failing_ranks() == []


def test_memory_lines_follow_the_first_two_steps_only(hang: Hang, without_limit: Output) -> None:
    for output in (hang.output, without_limit):
        assert output.text.count("memory (GB)") == 2
        for iteration in (1, 2):
            now, peak = output.memory(iteration)
            # The model and its optimizer; with it, the buffers of the forward and backward pass.
            assert now == pytest.approx(48 * 2**20 / 1e9, abs=0.004)
            assert peak == pytest.approx(88 * 2**20 / 1e9, abs=0.004)


def test_chunked_main_grads_fixes_it(tmp_path: Path, without_limit: Output) -> None:
    with Job(program(tmp_path, PATCHES / "chunked-main-grads.patch"), str(BUDGET_MIB)) as job:
        output = job.finish()
    assert output.exit_code == 0
    assert output.losses() == pytest.approx(without_limit.losses(), rel=1e-5)
    assert output.failing_ranks() == []


def test_release_activations_early_saves_but_does_not_fix(tmp_path: Path, hang: Hang) -> None:
    output = fail(tmp_path, PATCHES / "release-activations-early.patch")
    output.assert_failed_at(CALLS)
    (now, peak), (now_before, peak_before) = output.memory(2), hang.output.memory(2)
    assert now == pytest.approx(now_before, abs=0.001)
    assert 0.007 < peak_before - peak < 0.010
    assert output.losses() == hang.output.losses()


def test_the_renamed_function_fails_the_same_way(tmp_path: Path) -> None:
    output = fail(tmp_path, TEST_PATCHES / "rename-failing-function.patch")
    output.assert_failed_at([*CALLS[:-1], "widen_group_grads"])


def test_one_patch_does_not_apply(tmp_path: Path) -> None:
    assert apply(program(tmp_path), TEST_PATCHES / "does-not-apply.patch") != 0


@pytest.mark.parametrize("victim", [0, 3])
def test_a_dying_peer_is_noticed(tmp_path: Path, victim: int) -> None:
    with Job(program(tmp_path), str(BUDGET_MIB)) as job:
        job.wait_for_failure()
        ranks = job.ranks()
        os.kill(ranks[victim], signal.SIGKILL)
        output = job.finish()
        assert wait_until_gone(list(ranks.values())) == []
    assert output.exit_code == 1
    assert f"ERROR:host_oom.launch:rank {victim} ended by signal 9" in output.lines
    for rank in set(range(RANKS)) - {victim}:
        told = r"host_oom\.comm\.PeerLostError: rank \d closed its connection"
        assert re.fullmatch(told, output.rank_lines(rank)[-1]), rank
        assert f"ERROR:host_oom.launch:rank {rank} ended with exit code 1" in output.lines


def test_killing_the_launcher_leaves_no_rank(tmp_path: Path) -> None:
    with Job(program(tmp_path), str(BUDGET_MIB)) as job:
        job.wait_for_failure()
        ranks = job.ranks()
        job.launcher.kill()
        assert wait_until_gone(list(ranks.values())) == []


# What a rank does before and with its limit, in a process of its own: a limit cannot be taken back.
FIGURES = """
import resource, sys
import numpy as np
from host_oom.limits import limit_address_space, status_bytes

MIB = 1 << 20
base = status_bytes("VmSize")
space = limit_address_space(60)
assert space.base == base, (space, base)
assert resource.getrlimit(resource.RLIMIT_AS)[0] == base + 60 * MIB
kept = np.zeros(16 * MIB, np.uint8)
dropped = np.zeros(32 * MIB, np.uint8)
del dropped
print(space.allocated(), space.max_allocated(), status_bytes("VmSize") - base, status_bytes("VmPeak") - base)
try:
    np.zeros(48 * MIB, np.uint8)
except MemoryError as error:
    print(error)
"""


def test_figures_are_those_of_the_kernel(tmp_path: Path) -> None:
    settings = {"PYTHONPATH": str(RECIPE / "program"), "PYTHONDONTWRITEBYTECODE": "1"}
    run = partial(subprocess.run, check=True, capture_output=True, text=True, cwd=tmp_path)
    answer = run([sys.executable, "-c", FIGURES], env={**os.environ, **settings}).stdout.splitlines()
    allocated, peak, size_above, peak_above = map(int, answer[0].split())
    assert (allocated, peak) == (size_above, peak_above)
    assert allocated / 2**20 == pytest.approx(16, abs=2)
    assert peak / 2**20 == pytest.approx(48, abs=2)
    assert answer[1].startswith("Unable to allocate 48.0 MiB")


LINE = "from host_oom.lines import memory_line; print(memory_line(0, 2, 85_178_000, 1_167_053_210))"


def test_memory_is_printed_in_decimal_gigabytes(tmp_path: Path) -> None:
    settings = {"PYTHONPATH": str(RECIPE / "program"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", LINE]
    printed = subprocess.check_output(command, env={**os.environ, **settings}, cwd=tmp_path, text=True)
    assert printed == (
        "[Rank 0] (after 2 iterations) memory (GB)"
        " | mem-allocated-gigabytes: 0.085178 | mem-max-allocated-gigabytes: 1.1671\n"
    )


@pytest.mark.parametrize("wrong", [["--ranks", "0"], ["--address-space-mib", "97M"], ["--steps", "-1"]])
def test_wrong_arguments_are_refused(tmp_path: Path, wrong: list[str]) -> None:
    command = [sys.executable, str(RECIPE / "program" / "train.py"), *wrong]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 2


def test_numpy_is_pinned_with_hashes_for_all_platforms() -> None:
    text = (RECIPE / "requirements.txt").read_text()
    entries = [line for line in text.replace("\\\n", " ").splitlines() if not line.startswith("#")]
    assert len(entries) == 1
    assert re.fullmatch(r"numpy==2\.\d+\.\d+( +--hash=sha256:[0-9a-f]{64}){40,} *", entries[0])

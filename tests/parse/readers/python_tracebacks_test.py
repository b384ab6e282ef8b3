from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reprokit.model.facts import Where
from reprokit.model.trace import AllocationFigures, Frame, Raised
from reprokit.model.units import Size
from reprokit.parse import scan
from reprokit.parse.document import Document
from reprokit.parse.readers import python_tracebacks
from reprokit.parse.readers.python_tracebacks import PATIENCE

CASES = Path(__file__).parents[2] / "cases"
HEAD = "Traceback (most recent call last):"
ARRAY = "Unable to allocate 24.0 MiB for an array with shape (6291456,) and data type float32"


def read(data: bytes | str) -> list[Raised]:
    """Tracebacks by the line they end at, as a scan gives them."""
    events = scan.read({"job.log": data if isinstance(data, bytes) else data.encode()}).events
    return [event for event in events if isinstance(event, Raised)]


def brief(events: Sequence[Raised]) -> list[tuple[object, ...]]:
    return [
        (event.first.line, event.where.line, event.rank, event.exception, [f.statement for f in event.frames])
        for event in events
    ]


def test_ranks_that_interleave_are_kept_apart_by_their_prefixes() -> None:
    found = read((CASES / "host-oom" / "output.log").read_bytes())
    frames = (
        Frame(
            "/jobs/job/host_oom/rank.py",
            66,
            "train_and_shut_down",
            "train(group, steps, limit_address_space(budget_mib))",
        ),
        Frame(
            "/jobs/job/host_oom/optimizer.py",
            62,
            "_copy_model_grads_to_main_grads",
            "copy_group_grads(self.model_float16_groups, self.shard_fp32_groups)",
        ),
        Frame(
            "/jobs/job/host_oom/optimizer.py",
            60,
            "copy_group_grads",
            "shard_main_param.grad = shard_model_grad.astype(np.float32)",
        ),
    )
    exception = "numpy._core._exceptions._ArrayMemoryError"
    figures = AllocationFigures(kind="cpu_oom", requested=Size(25165824, "24.0 MiB"))
    assert found == [
        Raised(
            where=Where("job.log", line, f"[rank{rank}]: {exception}: {ARRAY}"),
            rank=rank,
            frames=frames,
            exception=exception,
            message=ARRAY,
            first=Where("job.log", head, f"[rank{rank}]: {HEAD}"),
            figures=figures,
            frame_lines=lines,
        )
        for rank, head, line, lines in ((0, 14, 29, (15, 21, 23)), (2, 13, 30, (16, 19, 25)))
    ]


def test_the_failure_inside_a_capture_stands_above_the_one_it_causes() -> None:
    first, second = read((CASES / "bridge-oom-inside-capture" / "job.log").read_bytes())
    assert (first.first.line, first.where.line, first.rank, len(first.frames)) == (18, 38, 7, 7)
    assert (first.exception, first.chained, first.complete) == ("torch.OutOfMemoryError", False, True)
    assert first.message.startswith("CUDA out of memory. Tried to allocate 9.31 GiB. GPU 7 has")
    assert first.frames[-1] == Frame(
        "/opt/Megatron-Bridge/3rdparty/Megatron-LM/megatron/core/tensor_parallel/layers.py",
        512,
        "forward",
        "output = torch.matmul(total_input, weight.t())",
    )
    assert (second.first.line, second.where.line, second.rank, len(second.frames)) == (42, 50, 7, 3)
    assert (second.exception, second.chained) == ("torch.AcceleratorError", True)
    assert second.message == "CUDA error: operation failed due to a previous error during capture"


def test_torchrun_puts_its_prefix_before_that_of_the_rank() -> None:
    found = read((CASES / "megatron-lm-role-prefix" / "job.log").read_bytes())
    assert [(event.rank, event.first.line, event.where.line, len(event.frames)) for event in found] == [
        (3, 4, 20, 7),
        (0, 11, 22, 1),
    ]
    assert found[1].frames[0].statement is None


def test_the_cpu_allocator_of_torch() -> None:
    (event,) = read((CASES / "torch-cpu-allocator" / "job.log").read_bytes())
    assert (event.rank, event.first.line, event.where.line, event.exception) == (None, 2, 7, "RuntimeError")
    assert event.figures == AllocationFigures(kind="cpu_oom", requested=Size(67108864, "67108864 bytes"))
    assert event.frames[-1].statement == (
        "state['exp_avg_sq'] = torch.zeros_like(p.data, dtype=state_dtype, device=device)"
    )


def test_two_processes_without_prefixes() -> None:
    first, second = read((CASES / "tracebacks" / "two-unprefixed.log").read_bytes())
    assert (first.rank, second.rank) == (None, None)
    assert (first.exception, second.exception) == ("MemoryError", "OSError")
    assert {first.first.line, second.first.line} == {1, 2}
    assert [frame.function for frame in first.frames] == ["<module>", "main"]
    assert [frame.function for frame in second.frames] == ["<module>", "main"]
    assert [event.figures for event in (first, second)] == [AllocationFigures(kind="cpu_oom")] * 2


def test_a_traceback_that_is_cut_is_kept() -> None:
    whole, cut = read((CASES / "tracebacks" / "cut.log").read_bytes())
    assert (whole.rank, whole.exception, whole.complete) == (6, "RuntimeError", True)
    assert whole.figures == AllocationFigures(kind="cpu_oom")
    assert (cut.rank, cut.exception, cut.message, cut.complete) == (5, None, "", False)
    assert (cut.first.line, cut.where.line, cut.figures) == (1, 8, None)
    assert cut.frames == (
        Frame("/app/train.py", 10, "<module>", "main()"),
        Frame("/app/train.py", 7, "ma"),
    )


def test_a_chain_in_colours_with_statements_of_many_lines() -> None:
    found = read((CASES / "tracebacks" / "chain-colours-3.13.log").read_bytes())
    assert brief(found) == [
        (1, 13, None, "MemoryError", ["allocate(", f'raise MemoryError("{ARRAY}")']),
        (17, 20, None, "RuntimeError", ['raise RuntimeError("optimizer step failed") from error']),
        (24, 30, None, "AssertionError", ["cleanup()", "raise AssertionError"]),
    ]
    assert [event.chained for event in found] == [False, True, True]
    assert [event.message for event in found] == [ARRAY, "optimizer step failed", ""]
    assert found[0].figures == AllocationFigures(kind="cpu_oom", requested=Size(25165824, "24.0 MiB"))
    assert (found[1].figures, found[2].figures) == (None, None)


@pytest.mark.parametrize("version", ["3.11", "3.13"])
def test_groups_and_repeated_frames(version: str) -> None:
    found = read((CASES / "tracebacks" / f"group-and-recursion-{version}.log").read_bytes())
    assert [(event.exception, event.message, event.complete) for event in found] == [
        ("ExceptionGroup", "workers failed (2 sub-exceptions)", True),
        ("ValueError", "worker 1", True),
        ("ValueError", "worker 2", True),
        ("RecursionError", "maximum recursion depth exceeded", True),
    ]
    assert [frame.function for frame in found[0].frames] == ["pool"]
    assert found[0].frames[0].statement == "raise ExceptionGroup("
    assert [frame.function for frame in found[3].frames] == ["deep"] * 3


def raise_plain() -> None:
    raise MemoryError


def raise_with_colon() -> None:
    raise ValueError("a: b: c")


def raise_from_call() -> None:
    int(
        "not a number",
        base=10,
    )


def raise_deep() -> None:
    [raise_plain() for _ in range(1)]


class Outage(Exception):
    """A class whose name says nothing."""


def raise_own() -> None:
    raise Outage("first line\n  second line")


def raise_syntax() -> None:
    compile("a b", "/app/odd.py", "exec")


@pytest.mark.parametrize(
    "function", [raise_plain, raise_with_colon, raise_from_call, raise_deep, raise_own, raise_syntax]
)
@pytest.mark.parametrize("prefix", ["", "[rank3]: ", "3: [default1]:[rank3]: "])
def test_what_this_python_prints_is_read_as_it_was_meant(function: Callable[[], None], prefix: str) -> None:
    try:
        function()
    except Exception as error:
        caught: Exception = error
    text = "".join(traceback.format_exception(caught))
    data = "before\n" + "".join(f"{prefix}{line}\n" for line in text.splitlines()) + "after: x\n"
    (event,) = read(data)
    expected = traceback.extract_tb(caught.__traceback__)
    assert [(frame.path, frame.line, frame.function) for frame in event.frames] == [
        (frame.filename, frame.lineno, frame.name) for frame in expected
    ]
    assert [frame.statement for frame in event.frames] == [
        (frame.line or "").splitlines()[0].strip() for frame in expected
    ]
    last = traceback.format_exception_only(caught)[-1].splitlines()[0]
    assert event.complete
    assert event.rank == (3 if prefix else None)
    assert f"{event.exception}: {event.message}".removesuffix(": ") == last


def block(exception: str, *, prefix: str = "", function: str = "f") -> str:
    lines = [HEAD, f'  File "/app/a.py", line 1, in {function}', "    g()", exception]
    return "".join(f"{prefix}{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("text", "exception", "message"),
    [
        ("KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("torch.OutOfMemoryError: CUDA out of memory.", "torch.OutOfMemoryError", "CUDA out of memory."),
        ("socket.timeout: timed out", "socket.timeout", "timed out"),
        (
            "ray.exceptions.RayTaskError(OutOfMemoryError): ray::Worker.step()",
            "ray.exceptions.RayTaskError(OutOfMemoryError)",
            "ray::Worker.step()",
        ),
        ("torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
         "torch.distributed.elastic.multiprocessing.errors.ChildFailedError", ""),
        ("app.Outage: gone", "app.Outage", "gone"),
    ],
)  # fmt: skip
def test_exception_lines(text: str, exception: str, message: str) -> None:
    (event,) = read(block(text))
    assert (event.exception, event.message, event.where.line) == (exception, message, 4)


@pytest.mark.parametrize(
    "noise",
    [
        "INFO:app:loaded",
        "WARNING: slow",
        "training ...",
        "Epoch: 3",
        "[Rank 1] setup done",
        "2026-10-02 x",
        ">>> done",
    ],
)
def test_other_output_inside_a_traceback_does_not_end_it(noise: str) -> None:
    lines = block("RuntimeError: gone").splitlines()
    lines.insert(2, noise)
    (event,) = read("\n".join(lines))
    assert (event.exception, event.where.line) == ("RuntimeError", 5)
    assert event.frames == (Frame("/app/a.py", 1, "f", "g()"),)


def test_a_rank_prints_one_traceback_after_the_other() -> None:
    cut = "".join(f"[rank4]: {line}\n" for line in block("x").splitlines()[:3])
    found = read(cut + block("ValueError: second", prefix="[rank4]: ", function="h"))
    assert brief(found) == [(1, 3, 4, None, ["g()"]), (4, 7, 4, "ValueError", ["g()"])]
    assert [event.complete for event in found] == [False, True]


def test_a_chain_is_known_by_its_rank_when_others_print_between() -> None:
    link = "During handling of the above exception, another exception occurred:"
    data = (
        block("ValueError: root", prefix="[rank1]: ")
        + f"\n[rank1]: {link}\n"
        + block("KeyError: other", prefix="[rank2]: ")
        + "\n"
        + block("OSError: then", prefix="[rank1]: ")
        + block("IndexError: later", prefix="[rank1]: ")
    )
    assert [(event.rank, event.exception, event.chained) for event in read(data)] == [
        (1, "ValueError", False),
        (2, "KeyError", False),
        (1, "OSError", True),
        (1, "IndexError", False),
    ]


def test_a_head_glued_behind_a_progress_bar_or_a_logger() -> None:
    for before in (" 50%|##  | 1/2 [00:01<00:01]", "ERROR:app:", " 50%|##  |\r"):
        (event,) = read(before + block("ValueError: x"))
        assert (event.exception, event.first.line) == ("ValueError", 1)


def test_the_summary_of_torchelastic_repeats_tracebacks_that_are_not_counted_here() -> None:
    data = f'  traceback : {HEAD}\n    File "/app/a.py", line 1, in f\n      g()\n  ValueError: x\n'
    assert read(data) == []


def test_a_traceback_that_nobody_continues_is_cut_and_what_comes_much_later_is_another() -> None:
    data = (
        block("x").rsplit("\n", 2)[0] + "\n" + "step\n" * (PATIENCE + 2000) + "ValueError: of somebody else\n"
    )
    (event,) = read(data)
    assert (event.complete, event.where.line) == (False, 3)


def test_many_open_tracebacks_are_bounded() -> None:
    found = list(python_tracebacks.read(Document("job.log", f"{HEAD}\n".encode() * 500)))
    assert len(found) == 500

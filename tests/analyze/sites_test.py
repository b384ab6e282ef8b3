from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprokit.analyze import sites
from reprokit.model.trace import Frame

SUFFIXES = {
    "in a pip environment": (
        "/opt/venv/lib/python3.12/site-packages/flash_attn/ops.py",
        (),
        "flash_attn/ops.py",
    ),
    "of a distribution": (
        "/usr/local/lib/python3.10/dist-packages/transformer_engine/pytorch/graph.py",
        (),
        "transformer_engine/pytorch/graph.py",
    ),
    "environment in an environment": (
        "/a/site-packages/x/b/site-packages/pkg/mod.py",
        (),
        "pkg/mod.py",
    ),
    "src layout": ("/opt/NeMo/src/lightning/core.py", (), "lightning/core.py"),
    "framework in a checkout": (
        "/opt/Megatron-LM/megatron/core/optimizer/optimizer.py",
        (),
        "megatron/core/optimizer/optimizer.py",
    ),
    "framework below src": (
        "/opt/bridge/src/megatron/bridge/training/train.py",
        (),
        "megatron/bridge/training/train.py",
    ),
    "two frameworks in a path": (
        "/opt/megatron/nemo/x.py",
        (),
        "megatron/nemo/x.py",
    ),
    "a framework's name on a file": ("/data/x/megatron.py", (), "x/megatron.py"),
    "below a root": ("/jobs/job/host_oom/optimizer.py", ("/jobs/job",), "host_oom/optimizer.py"),
    "root with a slash": ("/jobs/job/train.py", ("/jobs/job/",), "train.py"),
    "the longest root": ("/jobs/job/src/a/b.py", ("/jobs", "/jobs/job/src"), "a/b.py"),
    "not a root": ("/jobs/job-2/a/b.py", ("/jobs/job",), "a/b.py"),
    "empty root": ("/x/y/z.py", ("",), "y/z.py"),
    "unknown place": ("/data/users/x/run/train.py", (), "run/train.py"),
    "relative": ("host_oom/optimizer.py", (), "host_oom/optimizer.py"),
    "a name alone": ("train.py", (), "train.py"),
    # what a job's own folder may hold: the environment it runs in
    "environment in the root": (
        "/jobs/job/.venv/lib/python3.12/site-packages/flash_attn/ops.py",
        ("/jobs/job",),
        "flash_attn/ops.py",
    ),
    "framework in the environment in the root": (
        "/jobs/job/venv/lib/python3.12/site-packages/megatron/core/x.py",
        ("/jobs/job",),
        "megatron/core/x.py",
    ),
}


@pytest.mark.parametrize("name", SUFFIXES)
def test_a_path_without_its_machine(name: str) -> None:
    path, roots, expected = SUFFIXES[name]
    assert sites.suffix(path, roots) == expected


@pytest.mark.parametrize(
    "root", ["/jobs/job", "/tmp/tmp.a1b2c3/src", "/scratch/worktrees/run-1", "/lustre/u/x/src"]
)
def test_a_file_has_one_site_in_every_working_tree(root: str) -> None:
    found = sites.site(Frame(f"{root}/host_oom/optimizer.py", 60, "copy_group_grads"), [root])
    assert found == "host_oom/optimizer.py:copy_group_grads"


LIBRARY = {
    "/usr/lib/python3.12/threading.py": True,
    "/opt/pyenv/versions/3.11.7/lib/python3.11/multiprocessing/spawn.py": True,
    "<frozen runpy>": True,
    "<frozen importlib._bootstrap>": True,
    "<string>": True,
    "<stdin>": True,
    "<__array_function__ internals>": True,
    "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py": False,
    "/usr/lib/python3/dist-packages/mpi4py/run.py": False,
    "/jobs/job/train.py": False,
    "train.py": False,
}


@pytest.mark.parametrize("path", LIBRARY)
def test_what_is_python_s_own(path: str) -> None:
    assert sites.is_library(path) is LIBRARY[path]


FUNCTIONS = {
    "step": "step",
    "Optimizer.step": "step",
    "train.<locals>.inner": "inner",
    "Optimizer.step.<locals>.<lambda>": "<lambda>",
    "<module>": "<module>",
    "<lambda>": "<lambda>",
    "<listcomp>": "<listcomp>",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_without_its_class(name: str) -> None:
    """Python 3.11 prints the name, 3.13 may print the qualified name: the site is one."""
    assert sites.function_name(name) == FUNCTIONS[name]


def frames(*paths: str) -> list[Frame]:
    return [Frame(path, 1, f"f{number}") for number, path in enumerate(paths)]


SITES = {
    "innermost of the job": (("/w/train.py", "/w/opt.py"), ("/w",), "opt.py:f1"),
    "above numpy": (
        ("/w/train.py", "/v/lib/python3.12/site-packages/numpy/_core/a.py"),
        ("/w",),
        "train.py:f0",
    ),
    "above torch": (
        ("/w/t.py", "/v/site-packages/torch/optim/a.py", "/v/site-packages/torch/_ops.py"),
        ("/w",),
        "t.py:f0",
    ),
    "above the library": (
        ("/w/t.py", "/usr/lib/python3.12/threading.py", "<frozen runpy>"),
        ("/w",),
        "t.py:f0",
    ),
    "a package that is no plumbing": (
        ("/w/t.py", "/v/site-packages/megatron/core/o.py", "/v/site-packages/torch/a.py"),
        ("/w",),
        "megatron/core/o.py:f1",
    ),
    "only libraries": (("<frozen runpy>", "/usr/lib/python3.12/runpy.py"), (), None),
    "nothing": ((), (), None),
    "torchtitan is not torch": (("/opt/torchtitan/train.py",), (), "torchtitan/train.py:f0"),
    "a job that lies in a folder called torch": (
        ("/data/torch/train.py",),
        ("/data/torch",),
        "train.py:f0",
    ),
    "plumbing of an environment in the root": (
        ("/w/t.py", "/w/.venv/lib/python3.12/site-packages/numpy/_core/a.py"),
        ("/w",),
        "t.py:f0",
    ),
    "library of an environment in the root": (
        ("/w/t.py", "/w/.pyenv/lib/python3.12/threading.py"),
        ("/w",),
        "t.py:f0",
    ),
}


@pytest.mark.parametrize("name", SITES)
def test_where_a_job_failed(name: str) -> None:
    paths, roots, expected = SITES[name]
    found = sites.site_frame(frames(*paths), roots)
    assert (sites.site(found, roots) if found else None) == expected


def test_a_statement_is_compared_without_its_layout() -> None:
    assert sites.statement(Frame("a.py", 1, "f", "  x  =\ty\n ")) == "x = y"
    assert sites.statement(Frame("a.py", 1, "f", None)) is None
    assert sites.statement(Frame("a.py", 1, "f", "")) is None


PATHS = st.lists(
    st.sampled_from(("work", "job", "src", "site-packages", "lib", "python3.12", "megatron", "torch", "a", "b.py")),
    min_size=1,
    max_size=6,
).map(lambda parts: "/" + "/".join(parts))  # fmt: skip


@given(PATHS, st.lists(PATHS, max_size=3))
def test_a_suffix_is_the_end_of_the_path(path: str, roots: list[str]) -> None:
    found = sites.suffix(path, roots)
    assert found and path.endswith(found)


@given(PATHS, st.lists(PATHS, max_size=3))
def test_the_order_of_roots_means_nothing(path: str, roots: list[str]) -> None:
    assert sites.suffix(path, roots) == sites.suffix(path, list(reversed(roots)))

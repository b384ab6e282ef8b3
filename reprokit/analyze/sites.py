"""Where code failed, written so that it is equal across machines, containers and revisions."""

from __future__ import annotations

from collections.abc import Iterable

from reprokit.model.trace import Frame

PLUMBING = ("torch/", "numpy/")
"""Packages whose frames are how a failure surfaced, not where it happened (2026-11)."""

TOP_PACKAGES = ("megatron", "transformer_engine", "nemo", "nemo_run", "deepspeed", "torchtitan", "accelerate")
"""Top packages of training frameworks: a path is cut to begin with one of these (2026-11)."""

_PACKAGE_FOLDERS = ("/site-packages/", "/dist-packages/")


def suffix(path: str, roots: Iterable[str] = ()) -> str:
    """The part of a source path that names a file inside its project.

    `roots`: folders known to hold the code (the job's working directory), longest match first.
    """
    # An environment may lie inside the job's folder, so packages come first.
    for folder in _PACKAGE_FOLDERS:
        if folder in path:
            return path.rsplit(folder, 1)[1]
    for root in sorted(roots, key=len, reverse=True):
        if root and path.startswith(root.rstrip("/") + "/"):
            return path[len(root.rstrip("/")) + 1 :]
    parts = path.split("/")
    for index, part in enumerate(parts[:-1]):
        if part in TOP_PACKAGES:
            return "/".join(parts[index:])
    if "/src/" in path:
        return path.rsplit("/src/", 1)[1]
    return "/".join(parts[-2:]) if path.startswith("/") else path


def is_library(path: str) -> bool:
    """True for Python's own library and for generated code: never the site of a job's failure."""
    if path.startswith("<"):
        return True
    return "/lib/python3" in path and not any(folder in path for folder in _PACKAGE_FOLDERS)


def function_name(name: str) -> str:
    """A function without its class or closure, as tracebacks, py-spy and faulthandler all can name it."""
    return name.rsplit(".", 1)[-1] if not name.startswith("<") else name


def site_frame(frames: Iterable[Frame], roots: Iterable[str] = ()) -> Frame | None:
    """The innermost frame (`frames` outermost first) outside plumbing, or None."""
    known = tuple(roots)
    for frame in reversed(tuple(frames)):
        if is_library(frame.path) or suffix(frame.path, known).startswith(PLUMBING):
            continue
        return frame
    return None


def site(frame: Frame, roots: Iterable[str] = ()) -> str:
    """`path/suffix.py:function` of a frame."""
    return f"{suffix(frame.path, roots)}:{function_name(frame.function)}"


def statement(frame: Frame) -> str | None:
    """The failing source line with white space squeezed, or None where the log does not show it."""
    return " ".join(frame.statement.split()) if frame.statement else None

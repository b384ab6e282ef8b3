"""All executors, by the word after `--on`. A new one is one file and one line here."""

from __future__ import annotations

from reprokit.launch.executor import Executor
from reprokit.launch.local import LocalExecutor

EXECUTORS: dict[str, Executor] = {"local": LocalExecutor()}

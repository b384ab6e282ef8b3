"""All emit targets. A new one is one file and one line here."""

from __future__ import annotations

from reprokit.emit.base import Target
from reprokit.emit.dockerfile import Dockerfile
from reprokit.emit.readme import KitReadme
from reprokit.emit.repro_script import ReproScript
from reprokit.emit.run_script import RunScript

TARGETS: tuple[Target, ...] = (RunScript(), ReproScript(), Dockerfile(), KitReadme())

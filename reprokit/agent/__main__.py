"""Start of the agent: `python3 PATH/agent ...` (a copied folder) or `python -m reprokit.agent ...`."""

# This file alone must also parse on Pythons before 3.7, so that they get a sentence and not a SyntaxError: no
# `from __future__ import annotations` here, and no annotation that such a Python could not evaluate.
import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))


def _leave_search_path() -> None:
    """Take the folder that Python put first on sys.path away again: its files must not hide stdlib modules.

    It is this folder (started as a folder) or the user's working directory (started with -m), where
    a `queue.py` or `signal.py` of the job may lie.
    """
    unwanted = [HERE]
    try:
        unwanted.append(os.getcwd())
    except OSError:
        pass  # deleted
    if sys.path and os.path.abspath(sys.path[0] or ".") in unwanted:
        del sys.path[0]


def _load_main() -> types.ModuleType:
    """Give the `main` module, with its siblings importable as `from .x import y` in both ways of starting."""
    import importlib
    import importlib.util

    name = __package__
    if not name:
        name = "reprokit_agent"
        spec = importlib.util.spec_from_file_location(
            name, os.path.join(HERE, "__init__.py"), submodule_search_locations=[HERE]
        )
        if spec is None or spec.loader is None:
            raise ImportError(HERE)
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        spec.loader.exec_module(package)
    return importlib.import_module(name + ".main")


if __name__ == "__main__":
    if sys.version_info < (3, 8):
        sys.stderr.write(
            "agent: needs Python 3.8 or newer, this is %s; nothing was started\n" % sys.version.split()[0]
        )
        sys.exit(4)
    _leave_search_path()
    # the folder lies in somebody's kit: leave no caches there
    sys.dont_write_bytecode = True
    sys.exit(_load_main().main(sys.argv[1:]))

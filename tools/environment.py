"""Make a virtual environment from a lock, once, and install this checkout into it as editable.

    python tools/environment.py DIR LOCK

A stamp inside DIR says what it was made from; with the same stamp nothing happens. It is written last, so a set-up
that was interrupted starts afresh. Only the standard library, and syntax that an old Python can read: it is the one
that has to say that it is too old.
"""

import argparse
import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from typing import Any, Dict

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OLDEST = (3, 11)
NEWER_NAMES = ("python3.14", "python3.13", "python3.12", "python3.11")
# settings that would send an install somewhere else than into DIR, or import from somewhere else
STRAY = (
    "PIP_PREFIX",
    "PIP_REQUIRE_VIRTUALENV",
    "PIP_ROOT",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONHOME",
    "PYTHONPATH",
)
STAMP = "reprokit-stamp.json"
Stamp = Dict[str, Any]


class CannotError(Exception):
    """What stands in the way, and what to do about it."""


def say(text: str) -> None:
    print("set-up: " + text, file=sys.stderr, flush=True)


def check_python() -> None:
    if sys.version_info < OLDEST:
        found = [name for name in NEWER_NAMES if runs(name)]
        raise CannotError(
            "{} is Python {}, but reprokit needs {}.{} or newer.\n{}".format(
                sys.executable,
                platform.python_version(),
                OLDEST[0],
                OLDEST[1],
                "Call again with PYTHON={}".format(found[0])
                if found
                else "Install a newer one and name it: PYTHON=/path/to/python3.12",
            )
        )
    missing = [name for name in ("venv", "ensurepip") if not can_import(name)]
    if missing:
        raise CannotError(
            "{} comes without {}, which a virtual environment needs.\n"
            "On Debian or Ubuntu: apt-get install python{}.{}-venv. Or name another Python: PYTHON=...".format(
                sys.executable, " and ".join(missing), sys.version_info[0], sys.version_info[1]
            )
        )


def runs(name: str) -> bool:
    """Version managers put names on PATH that refuse to run."""
    return (
        shutil.which(name) is not None and subprocess.call([name, "-c", ""], stderr=subprocess.DEVNULL) == 0
    )


def can_import(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def read(*parts: str) -> bytes:
    with open(os.path.join(ROOT, *parts), "rb") as file:
        return file.read()


def wanted_stamp(folder: str, lock: str) -> Stamp:
    """`base`: what the whole environment hangs on. `project`: what only the editable install hangs on."""
    import tomllib

    project = tomllib.loads(read("pyproject.toml").decode())
    parts = {key: project.get(key) for key in ("build-system", "project")}
    parts["hatch"] = project.get("tool", {}).get("hatch")
    parts["version"] = sha256(read("reprokit", "version.py"))
    base = {
        "folder": folder,
        "lock": sha256(read(lock)),
        "machine": platform.machine(),
        "python": [os.path.realpath(sys.executable), platform.python_version()],
    }
    return {"base": base, "project": sha256(json.dumps(parts, sort_keys=True).encode())}


def found_stamp(folder: str) -> Stamp:
    try:
        with open(os.path.join(folder, STAMP)) as file:
            stamp = json.load(file)
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) and os.access(python_of(folder), os.X_OK) else {}


def write_stamp(folder: str, stamp: Stamp) -> None:
    path = os.path.join(folder, STAMP)
    with open(path + ".new", "w") as file:
        json.dump(stamp, file, indent=1, sort_keys=True)
    os.replace(path + ".new", path)


def python_of(folder: str) -> str:
    return os.path.join(folder, "bin", "python")


def call(*words: str) -> None:
    """Run quietly; what it said is shown only if it fails."""
    env = {key: value for key, value in os.environ.items() if key not in STRAY}
    done = subprocess.run(
        words,
        cwd=ROOT,
        env=env,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        raise CannotError("this failed with code {}: {}".format(done.returncode, " ".join(words)))


def create(folder: str, lock: str) -> None:
    if os.path.lexists(folder):
        say("{} is incomplete or made from something else: making it anew".format(os.path.basename(folder)))
        if os.path.islink(folder) or not os.path.isdir(folder):
            os.unlink(folder)
        else:
            shutil.rmtree(folder)
    count = sum(b"==" in line for line in read(lock).splitlines())
    say("{}: installing {} packages pinned by hash in {}".format(os.path.basename(folder), count, lock))
    call(sys.executable, "-m", "venv", folder)
    pip(folder, "--require-hashes", "--only-binary", ":all:", "-r", lock)


def pip(folder: str, *words: str) -> None:
    call(python_of(folder), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *words)


def bring_up(folder: str, lock: str) -> None:
    started = time.monotonic()
    want = wanted_stamp(folder, lock)
    found = found_stamp(folder)
    if found == want:
        return
    if found.get("base") != want["base"]:
        create(folder, lock)
    else:
        os.unlink(os.path.join(folder, STAMP))
    pip(folder, "--no-index", "--no-deps", "--no-build-isolation", "-e", ".")
    write_stamp(folder, want)
    say("{} is ready ({:.0f} s)".format(os.path.basename(folder), time.monotonic() - started))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the environment goes, relative to the checkout")
    parser.add_argument("lock", help="requirements with hashes, relative to the checkout")
    args = parser.parse_args()
    folder = os.path.join(ROOT, args.folder)
    try:
        check_python()
        if os.pathsep in folder:
            raise CannotError(
                "the path of this checkout holds a ':', which a virtual environment cannot have"
            )
        # two makes at once: the second waits, then finds the work done
        with open(folder + ".lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            bring_up(folder, args.lock)
    except CannotError as error:
        say("cannot go on: {}".format(error))
        return 1
    except OSError as error:
        say("cannot go on: {}".format(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next call starts afresh")
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

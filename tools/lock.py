"""Write requirements/*.txt anew from pyproject.toml: exact versions with hashes, wheels only.

    python tools/lock.py [--upgrade] [--check]

run.txt   what `make demo` installs: dependencies, the extras demo and hang, the build backend
dev.txt   all of run.txt and the extra dev
lock.txt  the locker itself; it makes the other two

One file serves Linux on x86_64 and aarch64 and Python 3.11 to 3.14: after writing, each combination is resolved
again, wheels only. `--check` does only that. Pins stay as they are unless `--upgrade` is given or pyproject.toml
no longer allows them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "requirements"
ENV = ROOT / ".venv-lock"
LOCKER = "uv==0.13.9"
OLDEST = "3.11"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28")
EXTRAS = {"run.txt": ("demo", "hang"), "dev.txt": ("demo", "hang", "dev")}
# the locker was once seen to hang when several calls ran one after another
PATIENCE_S = 300


def run(*words: object, stdin: str = "") -> None:
    said = [str(word) for word in words]
    subprocess.run(said, cwd=ROOT, input=stdin, text=True, check=True, timeout=PATIENCE_S)


def locker() -> Path:
    """The locker's program, in an environment of its own made from lock.txt (or from nothing, the first time)."""
    program = ENV / "bin" / "uv"
    wanted = FOLDER / "lock.txt"
    pinned = wanted.is_file() and LOCKER in wanted.read_text(encoding="utf-8")
    if not program.exists():
        venv.EnvBuilder(clear=True, with_pip=True).create(ENV)
        what = ("--require-hashes", "-r", wanted) if pinned else (LOCKER,)
        run(ENV / "bin" / "python", "-m", "pip", "install", "-q", "--only-binary", ":all:", *what)
    return program


def build_requires() -> str:
    """Editable installs run without build isolation, so the build backend is pinned like everything else."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return "\n".join(table["build-system"]["requires"])


def compile_to(uv: Path, name: str, upgrade: bool) -> None:
    sources, stdin = ["-"], LOCKER
    if name in EXTRAS:
        sources += ["pyproject.toml", *(f"--extra={extra}" for extra in EXTRAS[name])]
        stdin = build_requires()
    if name == "dev.txt":
        # one version of each package in both files
        sources += ["--constraint", str(FOLDER / "run.txt")]
    run(
        *(uv, "pip", "compile", *sources, "--output-file", FOLDER / name, "--quiet"),
        *("--universal", "--python-version", OLDEST, "--only-binary", ":all:", "--generate-hashes"),
        *("--no-annotate", "--custom-compile-command", "make lock"),
        *(["--upgrade"] if upgrade else []),
        stdin=stdin,
    )


def check(uv: Path, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for platform in PLATFORMS:
            for version in PYTHONS:
                out = Path(folder, "out.txt")
                run(
                    *(uv, "pip", "compile", FOLDER / name, "--output-file", out, "--quiet"),
                    *("--python-platform", platform, "--python-version", version, "--only-binary", ":all:"),
                )
                print(f"{name}: wheels for all of it on {platform}, Python {version}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--upgrade", action="store_true", help="take the newest that pyproject.toml allows")
    parser.add_argument("--check", action="store_true", help="write nothing, check platforms only")
    args = parser.parse_args()
    try:
        uv = locker()
        names = [*EXTRAS, "lock.txt"]
        if not args.check:
            for name in names:
                compile_to(uv, name, args.upgrade)
        for name in names:
            check(uv, name)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"lock: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Run the checks in tiers, stream what they say, and end with a table and one line of counts.

    python tools/run_tests.py [TIER...]

A tier that needs something this machine may lack runs only when its variable is set; else it is skipped by name.
Fails on any failed check, on a tier that collects no test though it should, and on a tier or a whole run that takes
longer than its budget. Only the standard library.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET_S = 600
"""For everything together, on two cores, environments already made."""
PATIENCE = 2.0
"""A tier is stopped at this many times its budget: something hangs."""
GOODBYE_S = 30


@dataclass(frozen=True)
class Tier:
    name: str
    what: str
    budget_s: int
    select: str
    """A pytest marker expression; empty for the tier that is no pytest."""
    variable: str = ""
    may_be_empty: bool = False


TIERS = (
    Tier("lint", "ruff, law of layers, mypy, shellcheck", 60, ""),
    Tier("unit", "tests without real jobs", 180, "not job and not slow and not daemon and not gpu"),
    Tier("job", "real jobs and whole pipelines", 400, "job and not slow and not daemon and not gpu"),
    Tier("slow", "builds, installs, set-up", 120, "slow and not daemon and not gpu"),
    Tier("system", "needs system packages", 240, "daemon and not gpu", "REPROKIT_SYSTEM_TESTS", True),
    Tier("gpu", "needs an NVIDIA GPU", 240, "gpu", "REPROKIT_GPU_TESTS", True),
)


@dataclass(frozen=True)
class Outcome:
    tier: Tier
    result: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0


def tracked_files() -> list[Path]:
    """Files in git or about to be; without git, all files outside hidden folders."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    if done.returncode == 0:
        names = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        return [ROOT / name for name in names if name and (ROOT / name).is_file()]
    folders = [path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".venv")]
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


def shell_scripts() -> list[str]:
    def is_one(path: Path) -> bool:
        if path.suffix == ".sh":
            return True
        with path.open("rb") as file:
            first = file.readline(64)
        return path.suffix == "" and first.startswith(b"#!") and first.split()[-1].endswith((b"sh", b"bash"))

    return [str(path.relative_to(ROOT)) for path in tracked_files() if is_one(path)]


def program(name: str) -> str | None:
    """From this environment, else from PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else shutil.which(name)


def lint_checks() -> list[tuple[str, list[str] | None]]:
    """Name and command; None for a program that no package brings to this kind of machine."""
    python = sys.executable
    shellcheck = program("shellcheck")
    scripts = shell_scripts()
    return [
        ("ruff check", [python, "-m", "ruff", "check", "--no-cache", "."]),
        ("ruff format", [python, "-m", "ruff", "format", "--no-cache", "--check", "."]),
        ("law of layers", [str(program("lint-imports")), "--no-cache", "--no-logo"]),
        ("mypy", [python, "-m", "mypy"]),
        ("shellcheck", [shellcheck, "--severity=warning", *scripts] if shellcheck else None),
    ]


def call(words: list[str], limit_s: float) -> int:
    """Run with our own stdout and stderr. Past the limit: Ctrl-C, so that fixtures clean up, then kill."""
    process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL)
    try:
        return process.wait(limit_s)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as stop:
        if isinstance(stop, subprocess.TimeoutExpired):
            print(f"\nstopped after {limit_s:.0f} s: {' '.join(words)}", flush=True)
            process.send_signal(signal.SIGINT)
        try:
            process.wait(GOODBYE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if isinstance(stop, KeyboardInterrupt):
            raise
        return process.returncode or 1


def run_lint(tier: Tier) -> Outcome:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, words in lint_checks():
        print(f"-- {name}", flush=True)
        if words is None:
            print("skipped: not installed", flush=True)
            counts["skipped"] += 1
            continue
        counts["passed" if call(words, tier.budget_s * PATIENCE) == 0 else "failed"] += 1
    return Outcome(tier, "failed" if counts["failed"] else "ok", **counts)


def run_pytest(tier: Tier) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "junit.xml")
        words = [sys.executable, "-m", "pytest", "-m", tier.select, f"--junitxml={report}"]
        words += ["-p", "no:cacheprovider", "--durations=5", "--durations-min=2"]
        code = call(words, tier.budget_s * PATIENCE)
        passed, failed, skipped = counts_of(report)
    if code == 5 and not failed:
        return Outcome(tier, "empty", failed=0 if tier.may_be_empty else 1)
    # a pytest that ended before it could write its report has not passed, whatever its code
    if code != 0 or not passed + failed + skipped:
        failed = max(failed, 1)
    return Outcome(tier, "failed" if failed else "ok", passed, failed, skipped)


def counts_of(report: Path) -> tuple[int, int, int]:
    try:
        suites = list(ET.parse(report).getroot().iter("testsuite"))
    except (OSError, ET.ParseError):
        return 0, 0, 0
    keys = ("tests", "failures", "errors", "skipped")
    tests, failures, errors, skipped = (sum(int(suite.get(key, "0")) for suite in suites) for key in keys)
    return max(tests - failures - errors - skipped, 0), failures + errors, skipped


def run_tier(tier: Tier) -> Outcome:
    if tier.variable and os.environ.get(tier.variable) != "1":
        return Outcome(tier, f"skipped: {tier.variable}=1 runs it")
    print(f"\n== {tier.name}: {tier.what}", flush=True)
    started = time.monotonic()
    runner: Callable[[Tier], Outcome] = run_pytest if tier.select else run_lint
    outcome = replace(runner(tier), seconds=time.monotonic() - started)
    if outcome.seconds > tier.budget_s:
        return replace(outcome, result=f"{outcome.result}, over budget", failed=outcome.failed + 1)
    return outcome


def table(outcomes: list[Outcome]) -> str:
    lines = [f"{'tier':<8}{'tests':>7}{'failed':>8}{'skipped':>9}{'seconds':>9}{'budget':>8}  result"]
    for one in outcomes:
        tests = one.passed + one.failed + one.skipped
        figures = f"{tests:>7}{one.failed:>8}{one.skipped:>9}{one.seconds:>9.1f}{one.tier.budget_s:>8}"
        lines.append(f"{one.tier.name:<8}{figures}  {one.result}")
    return "\n".join(lines)


def summary(outcomes: list[Outcome]) -> int:
    """Print the table and the closing line; the exit code."""
    seconds = sum(one.seconds for one in outcomes)
    passed = sum(one.passed for one in outcomes)
    failed = sum(one.failed for one in outcomes)
    skipped = sum(one.skipped for one in outcomes)
    print(f"\n{table(outcomes)}")
    late = seconds > BUDGET_S
    print(f"all tiers: {seconds:.1f} s of {BUDGET_S} s" + (": over budget" if late else ""))
    failed += late
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [tier.name for tier in TIERS]
    parser.add_argument("tiers", nargs="*", metavar="TIER", help=f"of {' '.join(names)}; none: all")
    chosen = parser.parse_args().tiers
    unknown = sorted(set(chosen) - set(names))
    if unknown:
        parser.error(f"no tier {' '.join(unknown)}; there are {' '.join(names)}")
    # a shell that starts us in the background makes us ignore Ctrl-C; tests of Ctrl-C need it
    signal.signal(signal.SIGINT, signal.default_int_handler)
    outcomes: list[Outcome] = []
    try:
        for tier in [tier for tier in TIERS if not chosen or tier.name in chosen]:
            outcomes.append(run_tier(tier))
    except KeyboardInterrupt:
        summary(outcomes)
        print("interrupted", file=sys.stderr)
        return 130
    return summary(outcomes)


if __name__ == "__main__":
    raise SystemExit(main())

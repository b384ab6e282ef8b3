"""`reprokit demo`: the shipped failing job from start to bug report, once a session."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.commands.harness import Answer, Desk
from tests.commands.recipe_maker import copy_kit

pytestmark = pytest.mark.job

SITE = "host_oom/optimizer.py:copy_group_grads"
RUNS = ["chunked-main-grads-local-1", "control-local-1", "failing-1", "release-activations-early-local-1"]
NOTE = re.compile(r"^\[\^(\d+)\]: (`+) ?(.+?) ?\2(?:: (`+) ?(.+?) ?\4)?$", re.MULTILINE)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Answer]:
    """The demo's kit, to read only, and what `demo --json` said."""
    desk = Desk(tmp_path_factory.mktemp("demo"))
    answer = desk.call("demo", "--json", code=0)
    desk.tidy()
    return desk.folder / "host-oom.kit", answer


@pytest.fixture(scope="module")
def kit(demo: tuple[Path, Answer]) -> Path:
    return demo[0]


@pytest.fixture(scope="module")
def issue(kit: Path) -> str:
    return (kit / "report" / "issue.md").read_text("utf-8")


@pytest.fixture(scope="module")
def subject(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    desk = Desk(tmp_path_factory.mktemp("show"))
    (run,) = desk.call("show", kit, "--run", "failing-1", "--json", code=0).json()["runs"]
    return dict(run)


def test_the_verdict_and_the_candidates(demo: tuple[Path, Answer]) -> None:
    said = demo[1].json()
    assert said["verdict"]["outcome"] == "reproduced"
    assert [(item["id"], item["outcome"], item["expected"]) for item in said["candidates"]] == [
        ("chunked-main-grads", "fixes", "fixes"),
        ("release-activations-early", "does_not_fix", "does_not_fix"),
    ]
    assert all(item["deltas"] for item in said["candidates"])
    saved = [
        delta["delta_bytes"]
        for delta in said["candidates"][1]["deltas"]
        if "max" in delta["what"] and delta["point"] == "after iteration 2"
    ]
    assert saved and min(saved) < 0, "the second candidate lowers the peak at an equal, earlier point"
    assert not said["candidates"][0]["limitations"], "the patched file was the one imported"


def test_the_facts(subject: dict[str, Any]) -> None:
    failure = subject["failure"]
    assert (failure["kind"], failure["site"]) == ("cpu_oom", SITE)
    assert (failure["iteration"], failure["last_completed_iteration"]) == (3, 2)
    assert failure["failing_ranks"] == [0, 2, 4]
    assert failure["first_failing_rank"] in failure["failing_ranks"]
    assert failure["requested_bytes"] > 2**20
    assert failure["hang_after_failure"] is True
    assert (subject["outcome"], subject["ended_by"]) == ("failed", "agent")
    assert [rank["rank"] for rank in subject["ranks"]] == list(range(8))
    assert subject["hang"]["seconds"] >= 4
    reached = {"first": 1, "last": 2, "planned": 30, "capture_at": 3}
    assert {name: subject["progress"][name] for name in reached} == reached


def test_the_layout_and_the_modes(kit: Path) -> None:
    assert sorted(path.name for path in kit.iterdir()) == [
        "README.md", "SHA256SUMS", "container", "derived", "evidence", "inputs", "kit.yaml", "launch", "report",
    ]  # fmt: skip
    assert not kit.with_name("host-oom.kit.open").exists()
    assert sorted(path.name for path in (kit / "evidence").iterdir()) == RUNS
    for run in RUNS:
        folder = kit / "evidence" / run
        assert (folder / "run.yaml").is_file()
        assert (folder / "node-0" / "SHA256SUMS").is_file() and (folder / "node-0" / "output.log").is_file()
        assert (kit / "derived" / f"{run}.json").is_file()
    for name in ("launch/run.sh", "launch/repro.sh", "container/Dockerfile", "launch/agent/__main__.py"):
        assert (kit / name).is_file()
    for path in [kit, *kit.rglob("*")]:
        script = path.parent == kit / "launch" and path.suffix == ".sh"
        wanted = 0o700 if path.is_dir() or script else 0o600
        assert path.stat().st_mode & 0o777 == wanted, path
        assert not path.is_symlink()


def test_the_checksums_hold(kit: Path) -> None:
    checked = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"], cwd=kit, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    listed = {line.split("  ", 1)[1] for line in (kit / "SHA256SUMS").read_text().splitlines()}
    sealed = {
        path.relative_to(kit).as_posix()
        for name in ("evidence", "inputs")
        for path in (kit / name).rglob("*")
        if path.is_file()
    }
    assert listed == sealed


def test_generated_files_say_who_made_them(kit: Path) -> None:
    for name in ("launch/run.sh", "launch/repro.sh", "container/Dockerfile", "README.md", "report/issue.md"):
        head = (kit / name).read_text().splitlines()[:2]
        assert any(
            "Made by reprokit " in line and "host-oom" in line and "subject run " in line for line in head
        )


def test_the_report_says_what_where_when_who_and_how_it_ended(issue: str, subject: dict[str, Any]) -> None:
    problem = issue.partition("## Problem")[2].partition("\n## ")[0]
    assert SITE in problem and "ranks 0, 2" in problem and "iteration 3" in problem.lower()
    assert re.search(r"asked for \d+(?:\.\d+)? MiB \(\d+ bytes\)", problem), problem
    assert "the recording agent ended the processes" in problem
    assert re.search(r"nothing moved for \d+\.\d s", problem)
    assert "copy_group_grads" in issue.splitlines()[1] and "then hangs" in issue.splitlines()[1]
    assert str(subject["failure"]["requested_bytes"]) in problem
    for sentence in re.split(r"(?<=\])\s+(?=[A-Z])", problem)[1:]:
        assert re.search(r"\[\^\d+\]", sentence), sentence


def test_every_footnote_stands_on_its_evidence(kit: Path, issue: str) -> None:
    notes = {match[1]: (match[3], match[5]) for match in NOTE.finditer(issue)}
    used = set(re.findall(r"\[\^(\d+)\](?!:)", issue))
    assert used == set(notes) and len(used) > 5
    for place, text in notes.values():
        path, mark, number = place.rpartition(":")
        if not mark:
            assert (kit / place).is_file(), place
            continue
        line = (kit / path).read_text("utf-8", "replace").splitlines()[int(number) - 1]
        assert text, place
        assert text in line, f"{place}: {text!r} is not in {line!r}"


def test_the_report_names_no_host_user_or_path(kit: Path, issue: str) -> None:
    import socket

    assert str(kit) not in issue and str(kit.parent) not in issue
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", issue)
    assert "/tmp/" not in issue


def test_called_again_it_runs_nothing(demo: tuple[Path, Answer], tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    kit = copy_kit(demo[0], tmp_path / "host-oom.kit")
    before = (kit / "SHA256SUMS").read_bytes()
    answer = desk.call("demo", code=0)
    for stage in (
        "record",
        "emit",
        "run control",
        *(f"run {name}" for name in ("chunked-main-grads", "release-activations-early")),
        "report",
    ):
        assert f"{stage}: done before" in answer.err, str(answer)
    assert (kit / "SHA256SUMS").read_bytes() == before
    assert "issue.md" in answer.out
    desk.tidy()


def test_without_the_limit_all_thirty_iterations_complete(demo: tuple[Path, Answer], tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    kit = copy_kit(demo[0], tmp_path / "host-oom.kit")
    words = ("run", kit, "--on", "local", "--set", "limits.address_space_mib=null", "--json")
    verdict = desk.call(*words, code=1).json()["verdict"]
    assert verdict["outcome"] == "passed"
    assert "30 iterations" in verdict["reasons"][0]
    desk.tidy()

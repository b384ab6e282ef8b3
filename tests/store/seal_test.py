from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reprokit.errors import MachineError
from reprokit.redact.rule import fake
from reprokit.redact.secrets import Redactor
from reprokit.store import checksums, files, seal, spool
from reprokit.store.kit import Kit, open_kit

Open = Callable[..., spool.OpenRun]
CONTENT = {
    "node-0/output.log": b"step 1\nstep 2\n",
    "node-0/stacks/17.txt": b"Thread 17\n",
    "node-1/output.log": b"step 1\n",
}


def same(data: bytes) -> bytes:
    return data


def hide(data: bytes) -> bytes:
    return data.replace(b"hunter2", b"[secret-1]")


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files.walk(folder)}


def check_sealed(kit: Kit, run_id: str = "r1") -> None:
    """Everything is where it belongs and nothing else is."""
    assert kit.run(run_id).read() == CONTENT
    assert not kit.layout.open.exists() or list(kit.layout.open.iterdir()) == []
    assert [path.name for path in kit.layout.evidence.iterdir()] == [run_id]
    listed = checksums.load(kit.layout.sums)
    assert checksums.compare(kit.root, listed) == ([], [])
    assert {f"evidence/{run_id}/{name}" for name in CONTENT} <= set(listed)


def test_a_seal_moves_everything(kit: Kit, open_run: Open, sha256sum: Callable[[Path], None]) -> None:
    run = open_run("r1", CONTENT)
    assert seal.seal(kit, run, same) == kit.layout.evidence / "r1"
    check_sealed(kit)
    sha256sum(kit.root)
    sha256sum(kit.layout.evidence / "r1" / "node-0")
    assert kit.run("r1").parts == ["node-0", "node-1"]


def test_what_is_sealed_is_private(kit: Kit, open_run: Open) -> None:
    run = open_run("r1", CONTENT)
    for path in files.walk(run.folder):
        path.chmod(0o644)
    (run.folder / "node-0").chmod(0o755)
    seal.seal(kit, run, same)
    for path in [kit.root, *kit.root.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_secrets_stay_out_of_texts_and_names(kit: Kit, open_run: Open) -> None:
    run = open_run(
        "r1", {"node-0/hunter2.log": b"pw hunter2\n", "node-0/hunter2/x": b"-", "node-0/b": b"\xff"}
    )
    seal.seal(kit, run, hide)
    assert kit.run("r1").read() == {
        "node-0/[secret-1].log": b"pw [secret-1]\n",
        "node-0/[secret-1]/x": b"-",
        "node-0/b": b"\xff",
    }
    left = [path for path in kit.root.rglob("*") if "hunter2" in path.name]
    assert left == []
    assert all(b"hunter2" not in path.read_bytes() for path in files.walk(kit.root))


def test_secrets_stay_out_of_the_declaration(kit: Kit, open_run: Open) -> None:
    """And it stays readable: a stand-in that begins with a bracket is still a text."""
    words = ("run", "--password", "hunter2", "--pw=hunter2", "a: hunter2", "hunter2 x")
    run = open_run("r1", command=words)
    seal.seal(kit, run, hide)
    assert kit.run("r1").declaration.command == tuple(word.replace("hunter2", "[secret-1]") for word in words)


def test_a_token_on_the_command_line_leaves_a_kit_that_opens(kit: Kit, open_run: Open) -> None:
    token = (b"hf_" + fake(5, 34)).decode()
    rules = Redactor()
    run = open_run("r1", command=("python", "train.py", "--token", token))
    seal.seal(kit, run, lambda data: rules.redact(data).data)
    command = kit.run("r1").declaration.command
    assert command[:3] == ("python", "train.py", "--token") and token not in command


def test_the_real_rules_and_checksums_agree(
    kit: Kit, open_run: Open, sha256sum: Callable[[Path], None]
) -> None:
    token = b"hf_" + fake(3, 34)
    rules = Redactor()
    run = open_run("r1", {f"node-0/{token.decode()}.log": b"HF_TOKEN=" + token + b"\n"})
    seal.seal(kit, run, lambda data: rules.redact(data).data)
    sha256sum(kit.root)
    assert all(token not in path.read_bytes() + bytes(path) for path in files.walk(kit.root))


def test_two_names_that_become_one_lose_nothing(kit: Kit, open_run: Open) -> None:
    run = open_run("r1", {"node-0/hunter2": b"first", "node-0/[secret-1]": b"second"})
    seal.seal(kit, run, hide)
    assert sorted(kit.run("r1").read().values()) == [b"first", b"second"]


def test_the_lock_and_our_unfinished_writes_stay_behind(kit: Kit, open_run: Open) -> None:
    """What the job left is kept, whatever it is called."""
    kept = {"node-0/output.log": b"x", "node-0/half.tmp": b"y", "node-0/deep/lock": b"z"}
    seal.seal(kit, open_run("r1", {"node-0/lock": b"", "node-0/.writing-x1.tmp": b"{", **kept}), same)
    assert kit.run("r1").read() == kept


def test_links_are_never_followed(kit: Kit, open_run: Open, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "private").write_bytes(b"keys")
    run = open_run("r1", CONTENT)
    (run.folder / "node-0" / "link").symlink_to(outside / "private")
    (run.folder / "node-0" / "folder").symlink_to(outside)
    (run.folder / "node-9").symlink_to(outside)
    (run.folder / "node-0" / "dangling").symlink_to("nowhere")
    os.mkfifo(run.folder / "node-0" / "pipe")
    seal.seal(kit, run, same)
    check_sealed(kit)
    assert (outside / "private").read_bytes() == b"keys"


def test_a_declaration_that_is_a_link_is_not_followed(kit: Kit, open_run: Open, tmp_path: Path) -> None:
    path = open_run("r1").folder / "run.yaml"
    private = path.rename(tmp_path / "private.yaml")
    path.symlink_to(private)
    assert seal.seal_finished(kit, same) == []
    assert kit.runs() == []


ODD_NAMES = (
    "a b", " a ", "-x", "a\nb", "\n", "a\\b", "a\\nb", "\\", "\\n", "a\\", "a\rb", "a\tb", "a\x0bb", "a\x0cb", "a\x1cb",
    "é", "a\x85b", "a\u2028b", "*", "$(touch x)", "'", '"', "#", "x" * 200, os.fsdecode(b"a\xffb"),
)  # fmt: skip


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_sealed_and_checked(
    kit: Kit, open_run: Open, sha256sum: Callable[[Path], None], name: str
) -> None:
    run = open_run("r1", {f"node-0/{name}": b"content"})
    seal.seal(kit, run, same)
    assert kit.run("r1").read() == {f"node-0/{name}": b"content"}
    assert checksums.compare(kit.root, checksums.load(kit.layout.sums)) == ([], [])
    assert f"evidence/r1/node-0/{name}" in checksums.load(kit.layout.sums)
    sha256sum(kit.root)


@pytest.mark.parametrize("name", ["SHA256SUMS", "run.yaml", "deeper/SHA256SUMS", "deeper/run.yaml"])
def test_a_recorded_file_may_be_called_like_one_of_ours(
    kit: Kit, open_run: Open, sha256sum: Callable[[Path], None], name: str
) -> None:
    """Such as the checksum file of an artifact: it must not spoil ours, and what it held is kept."""
    seal.seal(kit, open_run("r1", {f"node-0/{name}": b"theirs", "node-0/output.log": b"x"}), same)
    sha256sum(kit.root)
    assert checksums.compare(kit.root, checksums.load(kit.layout.sums)) == ([], [])
    assert b"theirs" in kit.run("r1").read().values()


class Stop(Exception):
    """Dies here, in the middle of it."""


STEPS = ((os, "replace"), (Path, "rename"), (shutil, "rmtree"), (os, "fchmod"), (Path, "mkdir"))
NAMES = [name for _, name in STEPS]
ERRORS: dict[str, Callable[[], BaseException]] = {
    "ctrl-c": KeyboardInterrupt,
    "full disk": lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "quota": lambda: OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
    "killed": Stop,
}


@contextmanager
def dies(step: str, at: int, error: BaseException, after: bool = False) -> Iterator[list[str]]:
    """The call number `at` of `step` fails; with `after`, once it has done its work."""
    calls: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        owner = next(owner for owner, name in STEPS if name == step)
        real = getattr(owner, step)

        def instead(*args: object, **kwargs: object) -> object:
            calls.append(step)
            if len(calls) - 1 != at:
                return real(*args, **kwargs)
            if after:
                real(*args, **kwargs)
            raise error

        patch.setattr(owner, step, instead)
        yield calls


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("step", NAMES)
def test_a_seal_that_dies_leaves_the_spool_or_the_run(
    tmp_path: Path, step: str, kind: str, after: bool
) -> None:
    """At every step, before it and after it; and the next seal completes."""
    from reprokit.model.kit import RUN_SCHEMA, RunDeclaration
    from reprokit.store.kit import create_kit

    for at in range(40):
        kit = create_kit(tmp_path / f"{at}.kit")
        folder = spool.begin(
            kit, RunDeclaration(schema=RUN_SCHEMA, id="r1", role="current", origin="recorded")
        )
        for name, data in CONTENT.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        raw = content_of(folder)
        with dies(step, at, ERRORS[kind](), after) as calls:
            try:
                seal.seal_finished(kit, same)
            except (KeyboardInterrupt, Stop, MachineError, OSError):
                pass
        kit = open_kit(kit.root)
        if (kit.layout.evidence / "r1").exists():
            assert kit.run("r1").read() == CONTENT
        else:
            assert content_of(folder) == raw, f"{step} {at}: neither spool nor run"
        seal.seal_finished(kit, same)
        check_sealed(kit)
        if len(calls) <= at:
            return
    pytest.fail("never came to the end of it")


@pytest.mark.parametrize("first", ["run.yaml", "node-0/output.log"])
def test_a_spool_that_was_removed_in_part_is_removed_by_the_next_seal(
    kit: Kit, open_run: Open, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """What is left of it is raw: it must not stay, whichever file went first."""
    run = open_run("r1", CONTENT)
    with monkeypatch.context() as patch:

        def half(folder: Path) -> None:
            (Path(folder) / first).unlink()
            raise KeyboardInterrupt

        patch.setattr(shutil, "rmtree", half)
        with pytest.raises(KeyboardInterrupt):
            seal.seal(kit, run, same)
    seal.seal_finished(kit, same)
    check_sealed(kit)


@pytest.mark.parametrize("step", ["replace", "rename", "mkdir"])
@pytest.mark.parametrize("kind", ["full disk", "quota"])
def test_a_full_disk_is_said(kit: Kit, open_run: Open, step: str, kind: str) -> None:
    run = open_run("r1", CONTENT)
    with dies(step, 0, ERRORS[kind]()), pytest.raises(MachineError, match="the disk is full") as caught:
        seal.seal(kit, run, same)
    assert caught.value.hint and "make room" in caught.value.hint


def test_finished_runs_are_sealed_and_live_ones_left_alone(kit: Kit, open_run: Open) -> None:
    open_run("gone", {"node-0/lock": b"", "node-0/output.log": b"x"})
    live = open_run("live", {"node-0/output.log": b"x", "node-1/lock": b""})
    with (live.folder / "node-1" / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert seal.seal_finished(kit, same) == ["gone"]
        assert [run.id for run in spool.open_runs(kit.layout)] == ["live"]
    assert seal.seal_finished(kit, same) == ["live"]
    assert [run.id for run in kit.runs()] == ["gone", "live"]


def test_sealing_again_changes_nothing(kit: Kit, open_run: Open) -> None:
    seal.seal(kit, open_run("r1", CONTENT), same)
    before = content_of(kit.root)
    assert seal.seal_finished(kit, same) == []
    kit.refresh_sums()
    assert content_of(kit.root) == before

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from reprokit.errors import InputError, MachineError
from reprokit.store import files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o022, 0o077, 0o000], ids=["022", "077", "000"])
def any_umask(request: pytest.FixtureRequest) -> object:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("any_umask")
def test_files_and_folders_are_private_under_any_umask(tmp_path: Path) -> None:
    files.write(tmp_path / "a" / "b" / "file", "text")
    files.write(tmp_path / "a" / "run.sh", "text", files.SCRIPT_MODE)
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700
    assert mode(tmp_path / "a" / "b" / "file") == 0o600
    assert mode(tmp_path / "a" / "run.sh") == 0o700


def test_a_folder_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "open").chmod(0o755)
    files.write(tmp_path / "open" / "file", b"")
    assert mode(tmp_path / "open") == 0o755


@pytest.mark.parametrize("data", [b"\0\xff\r\n", "é\n", ""])
def test_bytes_are_written_as_they_are(tmp_path: Path, data: bytes | str) -> None:
    files.write(tmp_path / "file", data)
    assert (tmp_path / "file").read_bytes() == (data.encode() if isinstance(data, str) else data)


def test_names_that_are_no_text_can_stand_in_a_text(tmp_path: Path) -> None:
    """Such as in SHA256SUMS: a file may be called anything."""
    files.write(tmp_path / "sums", os.fsdecode(b"a\xffb\n"))
    assert (tmp_path / "sums").read_bytes() == b"a\xffb\n"


def test_a_long_name_is_no_obstacle(tmp_path: Path) -> None:
    files.write(tmp_path / ("x" * 255), "text")
    assert (tmp_path / ("x" * 255)).read_text() == "text"


@pytest.mark.parametrize("step", ["replace", "fchmod"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    files.write(tmp_path / "file", "old")

    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, fails)
    with pytest.raises(KeyboardInterrupt):
        files.write(tmp_path / "file", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "the disk is full"),
        (errno.EROFS, "cannot write: Read-only file system"),
        (errno.EACCES, "cannot write: Permission denied"),
    ],
)
def test_what_the_machine_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str
) -> None:
    def refuses(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", refuses)
    with pytest.raises(MachineError) as caught:
        files.write(tmp_path / "file", "text")
    assert str(caught.value) == f"{tmp_path / 'file'}: {said}"
    assert (caught.value.hint is not None) == (said == "the disk is full")
    assert list(tmp_path.iterdir()) == []


def test_a_really_full_disk() -> None:
    """The kernel's own refusal, where it offers one."""
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with (
        pytest.raises(MachineError, match="the disk is full"),
        files.disk_errors(Path("file")),
        open("/dev/full", "wb", buffering=0) as full,
    ):
        full.write(b"x")


def test_a_file_in_the_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot write"):
        files.write(tmp_path / "file" / "below", "x")


def test_only_a_change_is_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert files.write_if_changed(path, "text")
    before = path.stat()
    assert not files.write_if_changed(path, "text")
    assert path.stat().st_mtime_ns == before.st_mtime_ns and path.stat().st_ino == before.st_ino
    assert files.write_if_changed(path, "other") and path.read_text() == "other"


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        files.read(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'}: No such file or directory"
    with pytest.raises(InputError, match="Is a directory"):
        files.read(tmp_path)


def test_a_walk_finds_plain_files_in_order(tmp_path: Path) -> None:
    for name in ("b", "a/z", "a/y", "a.x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "b")
    (tmp_path / "up").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    found = [path.relative_to(tmp_path).as_posix() for path in files.walk(tmp_path)]
    assert sorted(found) == ["a.x", "a/y", "a/z", "b"]
    assert files.walk(tmp_path) == files.walk(tmp_path) and files.walk(tmp_path / "none") == []

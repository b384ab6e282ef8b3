from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprokit.errors import InputError
from reprokit.store import checksums
from reprokit.store.checksums import Problem

HEX = st.text("0123456789abcdef", min_size=64, max_size=64)
# whatever a file may be called: no slash at odd places, no NUL; bytes that are no UTF-8 too
NAMES = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20),
    st.text("\\nr \r\n\t\x0b\x0c\x1c\x85\u2028ab", min_size=1, max_size=8),
    st.binary(min_size=1, max_size=8).filter(lambda data: b"\0" not in data).map(os.fsdecode),
)


@given(st.dictionaries(NAMES, HEX, max_size=5))
def test_what_is_written_is_read_back(sums: dict[str, str]) -> None:
    assert checksums.parse(checksums.render(sums), "SHA256SUMS") == sums


@given(st.dictionaries(NAMES, HEX, max_size=5))
def test_one_line_a_file(sums: dict[str, str]) -> None:
    text = checksums.render(sums)
    assert text.count("\n") == len(sums)
    assert text == checksums.render(dict(reversed(sums.items())))


@pytest.mark.parametrize("name", ["plain", "a b", "a\nb", "a\\b", "a\\nb", "\\", "é", "-x", "a\rb", " a"])
def test_the_text_is_that_of_sha256sum(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"content")
    theirs = subprocess.run(
        ["sha256sum", "--", name], cwd=tmp_path, capture_output=True, check=True, env=os.environ | {"LC_ALL": "C"}
    ).stdout.decode()  # fmt: skip
    ours = checksums.render({name: checksums.digest(tmp_path / name)})
    assert checksums.parse(theirs, "theirs") == {name: checksums.digest(tmp_path / name)}
    if "\r" not in name:  # escaped by newer coreutils only; all of them read both
        assert ours == theirs


@pytest.mark.parametrize(
    "line",
    ["words", "0123  short", "0" * 64 + " one-space", "0" * 64, "g" * 64 + "  no-hex", "0" * 65 + "  long"],
)
def test_other_lines_are_refused_with_their_number(line: str) -> None:
    with pytest.raises(InputError, match=r"^KIT/SHA256SUMS:2: not a line of a checksum file"):
        checksums.parse("0" * 64 + "  fine\n" + line + "\n", "KIT/SHA256SUMS")


def test_a_file_that_is_not_there_lists_nothing(tmp_path: Path) -> None:
    assert checksums.load(tmp_path / "SHA256SUMS") == {}


def test_missing_and_altered_are_told_apart(tmp_path: Path) -> None:
    for name in ("same", "altered", "linked", "folder/deep"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"content")
    listed = checksums.of_folder(tmp_path)
    assert list(listed) == ["altered", "folder/deep", "linked", "same"]
    assert checksums.compare(tmp_path, listed, jobs=3) == ([], [])
    (tmp_path / "altered").write_bytes(b"Content")
    (tmp_path / "folder" / "deep").unlink()
    (tmp_path / "linked").unlink()
    (tmp_path / "linked").symlink_to(tmp_path / "same")
    assert checksums.compare(tmp_path, listed) == (
        [Problem("folder/deep", "is missing"), Problem("linked", "is missing")],
        [Problem("altered", "is not what was sealed")],
    )


def test_nothing_outside_the_kit_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    (tmp_path / "outside").write_bytes(b"content")
    value = checksums.digest(tmp_path / "outside")
    for name in ("../outside", str(tmp_path / "outside")):
        missing, altered = checksums.compare(tmp_path / "kit", {name: value})
        assert [problem.path for problem in (*missing, *altered)] == [name]


def test_names_to_skip(tmp_path: Path) -> None:
    for name in ("notes.md", "a"):
        (tmp_path / name).write_bytes(b"")
    assert list(checksums.of_folder(tmp_path, skip=("notes.md",))) == ["a"]

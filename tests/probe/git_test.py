"""The one place that calls git: nothing of this machine or of a stranger's repository changes what it does."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from reprokit.errors import MachineError
from reprokit.probe import git

FILES = {
    "train.py": b"print('one')\r\nprint('two')\n",
    "tiny/__init__.py": b"",
    "data.bin": bytes(range(256)),
}
PATCH = """\
--- a/train.py
+++ b/train.py
@@ -1,2 +1,3 @@
 print('one')\r
 print('two')
+print('three')
"""


def program(folder: Path) -> Path:
    for name, data in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def commit(folder: Path, scratch: Path) -> str:
    return git.commit_folder(folder, scratch, "a message")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return program(tmp_path / "source")


@pytest.fixture
def bundle(tmp_path: Path, source: Path) -> tuple[Path, str]:
    found = commit(source, tmp_path / "repository")
    git.bundle(tmp_path / "repository", tmp_path / "source.bundle")
    return tmp_path / "source.bundle", found


@pytest.fixture
def tree(tmp_path: Path, bundle: tuple[Path, str]) -> Path:
    git.checkout(*bundle[:1], tmp_path / "tree", bundle[1])
    return tmp_path / "tree"


@pytest.fixture
def victim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of the user's that the environment names, as it does inside a git hook."""
    folder = tmp_path / "victim"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "mine.txt").write_text("mine")
    monkeypatch.setenv("GIT_DIR", str(folder / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(folder))
    monkeypatch.setenv("GIT_INDEX_FILE", str(folder / ".git" / "index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(folder / ".git" / "objects"))
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_another_repository_in_the_environment_is_never_touched(
    tmp_path: Path, source: Path, victim: Path
) -> None:
    before = names(victim)
    found = commit(source, tmp_path / "repository")
    git.bundle(tmp_path / "repository", tmp_path / "source.bundle")
    git.checkout(tmp_path / "source.bundle", tmp_path / "tree", found)
    (tmp_path / "p.patch").write_bytes(PATCH.encode())
    git.apply(tmp_path / "tree", tmp_path / "p.patch")
    assert git.changed_files(tmp_path / "tree") == ["train.py"]
    assert names(victim) == before
    assert (tmp_path / "repository" / ".git").is_dir() and (tmp_path / "tree" / ".git").is_dir()


def test_the_commit_is_the_same_everywhere(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever umask, execute bits, user configuration, time zone, locale or leftovers there are."""
    expected = commit(source, tmp_path / "first")
    config = tmp_path / "config"
    config.write_text(
        "[core]\n autocrlf = true\n eol = crlf\n safecrlf = true\n excludesFile = /etc/passwd\n fileMode = true\n"
        "[user]\n name = Somebody\n email = s@example.invalid\n[commit]\n gpgSign = true\n"
        "[init]\n defaultBranch = trunk\n defaultObjectFormat = sha256\n[i18n]\n commitEncoding = latin1\n"
    )
    settings = {
        "GIT_CONFIG_GLOBAL": str(config), "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.autocrlf",
        "GIT_CONFIG_VALUE_0": "true", "GIT_AUTHOR_NAME": "Somebody", "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z",
        "GIT_DEFAULT_HASH": "sha256", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "GIT_CONFIG_PARAMETERS": "'user.name=x'",
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    (source / "train.py").chmod(0o755)
    for left in (
        "__pycache__/train.cpython-311.pyc",
        ".git/config",
        "tiny/.mypy_cache/x",
        "tiny/__init__.pyc",
    ):
        (source / left).parent.mkdir(parents=True, exist_ok=True)
        (source / left).write_text("left")
    before = os.umask(0o077)
    try:
        assert commit(source, tmp_path / "second") == expected
    finally:
        os.umask(before)


def test_ignore_files_of_the_program_hide_nothing(tmp_path: Path, source: Path) -> None:
    (source / ".gitignore").write_text("*.bin\n")
    found = commit(source, tmp_path / "repository")
    git.bundle(tmp_path / "repository", tmp_path / "b")
    git.checkout(tmp_path / "b", tmp_path / "tree", found)
    assert (tmp_path / "tree" / "data.bin").read_bytes() == FILES["data.bin"]


def test_line_ends_survive(tree: Path) -> None:
    assert {name: (tree / name).read_bytes() for name in FILES} == FILES


def test_hooks_and_filters_of_a_hostile_repository_do_not_run(tmp_path: Path, source: Path) -> None:
    """Hooks of a template, `.gitattributes` filters, an fsmonitor: none of them is started."""
    trap = f"touch {tmp_path}/trapped"
    (source / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    (source / ".gitconfig").write_text(f'[filter "evil"]\n smudge = {trap}\n clean = {trap}\n')
    repository = tmp_path / "repository"
    found = commit(source, repository)
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "pre-commit", "post-commit", "post-index-change", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\n{trap}\n")
        (hooks / name).chmod(0o755)
    with (repository / ".git" / "config").open("a") as file:
        file.write(f"[core]\n fsmonitor = {trap}; false\n")
    git.bundle(repository, tmp_path / "b")
    git.checkout(tmp_path / "b", tmp_path / "tree", found)
    git.run(repository, "status")
    git.run(repository, "checkout", "--quiet", "--detach", found)
    git.run(
        repository,
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "x",
        env={
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "b",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "b",
        },
    )
    assert not (tmp_path / "trapped").exists()


def test_a_commit_that_is_not_there(tmp_path: Path, bundle: tuple[Path, str]) -> None:
    for wrong in ("a" * 40, "-x", "--upload-pack=touch trapped"):
        with pytest.raises(git.GitError):
            git.checkout(bundle[0], tmp_path / "tree" / wrong[:5], wrong)
    for wrong in ("nothing", "-x", "--exec=x", "HEAD~9", ""):
        with pytest.raises(git.GitError):
            git.resolve(bundle[0], tmp_path, wrong)
    assert (
        git.resolve(bundle[0], tmp_path, "HEAD")
        == git.resolve(bundle[0], tmp_path, bundle[1][:8])
        == bundle[1]
    )
    assert not (tmp_path / "trapped").exists()


def _new_file(path: str, text: str = "evil\n", mode: str = "100644") -> str:
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n"
    lines = text.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    end = "" if text.endswith("\n") else "\\ No newline at end of file\n"
    return f"{head}@@ -0,0 +1,{len(lines)} @@\n{body}{end}"


ESCAPES = {
    "parent": _new_file("../escaped"),
    "parent-inside": _new_file("tiny/../../escaped"),
    "absolute": _new_file("/ABSOLUTE/escaped"),
    "absolute-plain": _new_file("x").replace("b/x", "/ABSOLUTE/escaped").replace("a/x", "/ABSOLUTE/escaped"),
    "git-config": _new_file(".git/config"),
    "git-hook": _new_file(".git/hooks/post-checkout", mode="100755"),
    "git-case": _new_file(".GIT/config"),
    "git-inside": _new_file("tiny/.git/config"),
    "link-then-file": _new_file("link", "/ABSOLUTE", "120000") + _new_file("link/escaped"),
    "link-to-parent": _new_file("link", "..", "120000") + _new_file("link/escaped"),
    "rename": "diff --git a/train.py b/../escaped\nsimilarity index 100%\nrename from train.py\nrename to ../escaped\n",
    "existing-link": _new_file("out/escaped"),
}


@pytest.mark.parametrize("name", ESCAPES)
def test_a_patch_never_leaves_the_tree(tmp_path: Path, source: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (source / "out").symlink_to("../outside")
    found = commit(source, tmp_path / "repository")
    git.bundle(tmp_path / "repository", tmp_path / "b")
    git.checkout(tmp_path / "b", tmp_path / "tree", found)
    before, config = names(tmp_path / "tree"), (tmp_path / "tree" / ".git" / "config").read_text()
    patch = tmp_path / "evil.patch"
    patch.write_text(ESCAPES[name].replace("/ABSOLUTE", str(outside)))
    refused = True
    try:
        git.apply(tmp_path / "tree", patch)
        refused = False
    except git.PatchError:
        assert names(tmp_path / "tree") == before
    assert refused or name == "absolute-plain", "git takes the first slash away and stays inside"
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "escaped").exists()
    assert (tmp_path / "tree" / ".git" / "config").read_text() == config


def test_a_patch_is_applied_whole_or_not_at_all(tmp_path: Path, tree: Path) -> None:
    half = tmp_path / "half.patch"
    half.write_bytes((PATCH + PATCH.replace("train.py", "missing.py")).encode())
    with pytest.raises(git.PatchError) as caught:
        git.apply(tree, half)
    assert "missing.py" in caught.value.stderr
    assert git.changed_files(tree) == []
    whole = tmp_path / "-whole patch.patch"
    whole.write_bytes(PATCH.encode())
    git.apply(tree, whole)
    assert git.changed_files(tree) == ["train.py"]
    assert b"three" in (tree / "train.py").read_bytes()


def test_a_machine_without_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("env", "sh"):
        (tmp_path / name).symlink_to(shutil.which(name) or "/nonexistent")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MachineError, match="git is not on this machine"):
        git.run(tmp_path, "--version")

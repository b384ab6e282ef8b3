"""Every git call. The only module that imports gitpython, and only as a runner of git commands.

Hooks, the file system monitor, external protocols and the user's configuration stay off: repositories and patches
come from strangers, and a setting of this machine must not change what a kit means.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from reprokit.errors import InputError, MachineError

SAFE = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "core.autocrlf=false",
    "-c", "core.attributesFile=/dev/null",
    "-c", "core.excludesFile=/dev/null",
    "-c", "protocol.ext.allow=never",
    "-c", "commit.gpgSign=false",
    "-c", "init.defaultBranch=main",
)  # fmt: skip
ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
NOT_FOUND = 127
"""What `env` exits with where there is no such program."""

AUTHOR = "reprokit"
EMAIL = "reprokit@example.invalid"
DATE = "2026-01-01T00:00:00+00:00"
"""Author, committer and date of the commit made from a recipe's folder: fixed, so that its hash is."""


class GitError(InputError):
    """git said no. `stderr`: its own words."""

    def __init__(self, command: str, stderr: str) -> None:
        first = next((line for line in stderr.splitlines() if line.strip()), "no message")
        super().__init__(f"git {command}: {first}")
        self.stderr = stderr


class PatchError(GitError):
    """A patch does not fit the working tree it was meant for."""


def run(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """The output of one git command in `folder`. Raises GitError with git's words; MachineError without git."""
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from git import Git
    from git.exc import GitCommandError, GitCommandNotFound

    # GitPython only adds variables; those such as GIT_DIR would make git act on another repository than `folder`.
    stray = [word for name in sorted(os.environ) if name.startswith("GIT_") for word in ("-u", name)]
    settings = [f"{name}={value}" for name, value in {**ENVIRONMENT, **(env or {})}.items()]
    words = ["env", *stray, *settings, "git", *SAFE, *arguments]
    try:
        answer = Git(str(folder)).execute(words, with_extended_output=False)
    except GitCommandNotFound:
        raise MachineError("git is not on this machine", hint="install git") from None
    except GitCommandError as error:
        if error.status == NOT_FOUND:
            raise MachineError("git is not on this machine", hint="install git") from None
        said = str(error.stderr).strip().removeprefix("stderr: '").removesuffix("'")
        raise GitError(next(word for word in _verbs(arguments)), said) from None
    return str(answer)


def _verbs(arguments: tuple[str, ...]) -> list[str]:
    """The git command among its words: the first that is neither an option nor the value of `-c`."""
    return [
        word
        for before, word in zip(("", *arguments), arguments, strict=False)
        if before != "-c" and not word.startswith("-")
    ] or [arguments[0]]


def commit_folder(source: Path, repository: Path, message: str) -> str:
    """A new repository at `repository` with the files of `source` as its only commit; the commit's hash.

    Author and dates are fixed, and only git's two file modes count, so the hash is the same everywhere.
    """
    import shutil

    ignore = shutil.ignore_patterns("__pycache__", "*.pyc", ".git", ".*cache")
    shutil.copytree(source, repository, symlinks=True, ignore=ignore)
    identity = {
        "GIT_AUTHOR_NAME": AUTHOR, "GIT_AUTHOR_EMAIL": EMAIL, "GIT_AUTHOR_DATE": DATE,
        "GIT_COMMITTER_NAME": AUTHOR, "GIT_COMMITTER_EMAIL": EMAIL, "GIT_COMMITTER_DATE": DATE,
    }  # fmt: skip
    run(repository, "init", "--quiet")
    run(repository, "-c", "core.fileMode=false", "add", "--all", "--force", ".")
    run(repository, "commit", "--quiet", "--no-verify", "-m", message, env=identity)
    return run(repository, "rev-parse", "HEAD").strip()


def bundle(repository: Path, target: Path) -> None:
    """All of `repository`'s history in one file that git clones from."""
    run(repository, "-c", "pack.threads=1", "bundle", "create", "--quiet", str(target), "HEAD", "main")


def checkout(bundle_file: Path, folder: Path, commit: str) -> None:
    """A working tree of `commit` from a bundle. Raises GitError where the bundle lacks it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    run(folder.parent, "clone", "--quiet", "--no-checkout", str(bundle_file), str(folder))
    run(folder, "checkout", "--quiet", "--detach", commit)


def resolve(bundle_file: Path, scratch: Path, revision: str) -> str:
    """The full hash of `revision` in a bundle. Raises GitError where it is unknown or begins with a dash."""
    if revision.startswith("-"):
        raise GitError("rev-parse", f"not a revision: {revision}")
    repository = scratch / "resolve"
    if not repository.exists():
        run(scratch, "clone", "--quiet", "--bare", str(bundle_file), str(repository))
    return run(
        repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    ).strip()


def apply(folder: Path, patch: Path) -> None:
    """Apply a patch to a clean working tree, all of it or nothing. Raises PatchError with git's reason."""
    try:
        run(folder, "apply", "--check", "--index", "--whitespace=nowarn", str(patch))
        run(folder, "apply", "--index", "--whitespace=nowarn", str(patch))
    except GitError as error:
        raise PatchError("apply", error.stderr) from None


def changed_files(folder: Path) -> list[str]:
    """Files of the working tree that differ from its commit, sorted."""
    names = run(folder, "diff", "--cached", "--name-only", "-z", "HEAD")
    return sorted(name for name in names.split("\0") if name)

"""A kit on disk: opening, declarations, inputs, runs, and the checksum file over all that is sealed."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from reprokit.errors import InputError, MachineError, SafetyError
from reprokit.model.kit import KIT_SCHEMA, Candidate, Expect, KitDeclaration
from reprokit.store import checksums, files, recipes, yamlfile
from reprokit.store.layout import Layout
from reprokit.store.runs import SealedFolder, SealedRun, read_run

HEADER = "# A reprokit kit. Declarations only: facts are derived from evidence/.\n"


class Kit:
    """An existing kit. Methods that write expect the caller to hold `lock()`."""

    def __init__(self, root: Path, declaration: KitDeclaration, raw: dict[str, Any]) -> None:
        self.layout = Layout(root)
        self.declaration = declaration
        self._raw = raw

    @property
    def root(self) -> Path:
        """The kit's folder."""
        return self.layout.root

    @property
    def id(self) -> str:
        """12 hex digits of the checksum file's hash: changes with every sealed run and input."""
        return checksums.digest(self.layout.sums)[:12] if self.layout.sums.is_file() else ""

    @property
    def read_only(self) -> bool:
        """True for a kit of a newer minor version: this reprokit reads it and would lose what it does not know."""
        return _minor(self.declaration.schema) > _minor(KIT_SCHEMA)

    def refuse_newer(self) -> None:
        """Raises SafetyError where this kit must not be written to."""
        if self.read_only:
            raise SafetyError(
                f"{self.root}: schema {self.declaration.schema} is newer than {KIT_SCHEMA}, so it is only read",
                hint="use a newer reprokit to change this kit",
            )

    def altered(self, run_id: str | None = None) -> list[str]:
        """Sealed files that are missing or not what SHA256SUMS says, by path in the kit: inputs, or those of a run."""
        prefix = f"evidence/{run_id}/" if run_id else "inputs/"
        listed = {
            name: value for name, value in checksums.load(self.layout.sums).items() if name.startswith(prefix)
        }
        missing, differing = checksums.compare(self.root, listed)
        return sorted(problem.path for problem in (*missing, *differing))

    def declare(self, **changes: Any) -> None:
        """Change declarations in kit.yaml. Keys that this version does not know stay as they are."""
        self.refuse_newer()
        self.declaration = msgspec.structs.replace(self.declaration, **changes)
        self._raw = _keep_unknown(self._raw, msgspec.to_builtins(self.declaration))
        files.write(self.layout.declaration, yamlfile.dumps(self._raw, HEADER))

    def read_input(self, name: str) -> bytes:
        """An input file by its path in the kit. Raises InputError where it leads out of the kit or is missing."""
        path = self.root / name
        if not path.resolve().is_relative_to(self.layout.inputs.resolve()) or path.is_symlink():
            raise InputError(f"{path}: leads out of the kit's inputs")
        return files.read(path)

    def folders(self) -> list[SealedFolder]:
        """Folders of all sealed runs, by name; nothing in them is read."""
        if not self.layout.evidence.is_dir():
            return []
        own = [path for path in self.layout.evidence.iterdir() if path.is_dir() and not path.is_symlink()]
        return [SealedFolder(path) for path in sorted(own) if not path.name.startswith(".")]

    def runs(self) -> list[SealedRun]:
        """All sealed runs, by id. Raises InputError for one whose run.yaml cannot be read."""
        found = []
        for sealed in self.folders():
            source = sealed.folder / "run.yaml"
            declaration = read_run(source)
            if declaration.id != sealed.folder.name:
                raise InputError(f"{source}: id {declaration.id!r} is not the folder's name")
            found.append(SealedRun(sealed.folder, declaration))
        return found

    def run(self, run_id: str) -> SealedRun:
        """The sealed run `run_id`. Raises InputError naming those that exist."""
        runs = {run.id: run for run in self.runs()}
        if run_id not in runs:
            raise InputError(
                f"{self.root}: there is no run {run_id!r}", hint="runs here: " + (", ".join(runs) or "none")
            )
        return runs[run_id]

    def add_input(self, name: str, data: bytes) -> str:
        """Put an input file into the kit, once; its SHA-256. A different file of that name is refused."""
        path = self.layout.inputs / name
        if path.exists():
            if path.read_bytes() != data:
                raise SafetyError(
                    f"{path}: another file of this name is in the kit", hint="inputs are never replaced"
                )
        else:
            files.write(path, data)
        self.refresh_sums()
        return hashlib.sha256(data).hexdigest()

    def refresh_sums(self) -> None:
        """Add lines for what has been sealed or put in since. A line that stands is never changed."""
        listed = checksums.load(self.layout.sums)
        for name, value in sealed_files(self.layout).items():
            listed.setdefault(name, value)
        files.write_if_changed(self.layout.sums, checksums.render(listed))

    @contextmanager
    def lock(self, wait_s: float = 0.0) -> Iterator[None]:
        """Keep other reprokit processes from writing to this kit meanwhile. `wait_s`: seconds to wait for one."""
        self.refuse_newer()
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            deadline = time.monotonic() + wait_s
            while not self._locked(descriptor):
                if time.monotonic() >= deadline:
                    raise SafetyError(
                        f"{self.root}: another reprokit is writing to this kit",
                        hint="wait for it, or use another kit (-o)",
                    )
                time.sleep(0.2)
            yield
        finally:
            os.close(descriptor)

    def _locked(self, descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise MachineError(f"{self.root}: cannot lock: {error.strerror}") from None
        return True


def sealed_files(layout: Layout) -> dict[str, str]:
    """Digests of everything that SHA256SUMS speaks of, by path relative to the kit.

    A part brings its own sums: those are taken, so that a change after the seal is seen and not blessed.
    """
    found: dict[str, str] = {}
    if layout.inputs.is_dir():
        for name, value in checksums.of_folder(layout.inputs, skip=(layout.notes.name,)).items():
            found[f"inputs/{name}"] = value
    if not layout.evidence.is_dir():
        return found
    for run in sorted(layout.evidence.iterdir()):
        if not run.is_dir() or run.is_symlink() or run.name.startswith("."):
            continue
        if (run / "run.yaml").is_file():
            found[f"evidence/{run.name}/run.yaml"] = checksums.digest(run / "run.yaml")
        for part in sorted(path for path in run.iterdir() if path.is_dir()):
            own = part / checksums.NAME
            prefix = f"evidence/{run.name}/{part.name}/"
            for name, value in checksums.load(own).items():
                found[prefix + name] = value
            if own.is_file():
                found[prefix + checksums.NAME] = checksums.digest(own)
    return found


def _minor(schema: str) -> int:
    """The minor version of a schema name."""
    last = schema.rsplit(".", 1)[-1]
    return int(last) if last.isascii() and last.isdecimal() else 0


def _keep_unknown(raw: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """`known` with the keys of `raw` that no record has; inside `expect` and the candidates of equal id too."""
    kept = {**known, **{key: raw[key] for key in raw if key not in KitDeclaration.__struct_fields__}}
    old = raw.get("expect")
    if isinstance(old, dict) and "expect" in known:
        kept["expect"] = {
            **known["expect"],
            **{key: old[key] for key in old if key not in Expect.__struct_fields__},
        }
    candidates = {item.get("id"): item for item in raw.get("candidates", ()) if isinstance(item, dict)}
    if "candidates" in known:
        kept["candidates"] = [
            {
                **item,
                **{
                    k: v
                    for k, v in candidates.get(item["id"], {}).items()
                    if k not in Candidate.__struct_fields__
                },
            }
            for item in known["candidates"]
        ]
    return kept


def is_kit(path: Path) -> bool:
    """True for a folder that says it is a kit."""
    return (path / "kit.yaml").is_file()


def open_kit(path: Path) -> Kit:
    """The kit at `path`. Raises InputError where there is none, or one of another major version."""
    root = Path(os.path.realpath(path))
    if not root.exists():
        raise InputError(f"{path}: no such kit")
    if not is_kit(root):
        raise InputError(f"{path}: not a kit (no kit.yaml)")
    source = root / "kit.yaml"
    located = yamlfile.loads(recipes.read_text(source), str(source))
    if not isinstance(located.data, dict):
        raise InputError(f"{source}:1: not the declaration of a kit")
    schema = str(located.data.get("schema", ""))
    if not schema.startswith(KIT_SCHEMA.rsplit(".", 1)[0] + "."):
        raise InputError(
            f"{source}:{located.line(('schema',))}: schema {schema!r}; this reprokit reads {KIT_SCHEMA}"
        )
    declaration = recipes.validate(located, KitDeclaration)
    _refuse_links(Layout(root))
    for index, candidate in enumerate(declaration.candidates):
        parts = PurePosixPath(candidate.patch).parts
        if parts[:1] != ("inputs",) or ".." in parts:
            line = located.line(("candidates", index, "patch"))
            raise InputError(f"{source}:{line}: candidates.{index}.patch: must lie in the kit's inputs/")
    return Kit(root, declaration, located.data)


def _refuse_links(layout: Layout) -> None:
    """Raises InputError for a folder of ours that is a link: what we write would land elsewhere."""
    own = (layout.inputs, layout.patches, layout.evidence, layout.derived, layout.container, layout.launch)
    for folder in (
        *own,
        layout.launch / "agent",
        layout.report,
        layout.open,
        layout.declaration,
        layout.sums,
    ):
        if folder.is_symlink():
            raise InputError(f"{folder}: is a link; a kit holds its own files")


def create_kit(path: Path) -> Kit:
    """A new kit at `path`, or the one that is there. Raises SafetyError where something else is."""
    root = Path(os.path.realpath(path))
    if is_kit(root):
        return open_kit(root)
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise SafetyError(f"{path}: exists and is not a kit", hint="choose another place with -o")
    files.make_folder(root)
    declaration = KitDeclaration(schema=KIT_SCHEMA, name=Layout(root).name)
    kit = Kit(root, declaration, {})
    kit.declare()
    return kit

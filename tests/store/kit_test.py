from __future__ import annotations

import hashlib
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from reprokit.errors import InputError, ReprokitError, SafetyError
from reprokit.model.kit import Candidate, Expect
from reprokit.store import checksums, seal, spool, yamlfile
from reprokit.store.kit import Kit, create_kit, is_kit, open_kit

Open = Callable[..., spool.OpenRun]
SHA = "0" * 64


def same(data: bytes) -> bytes:
    return data


def written(kit: Kit) -> str:
    return kit.layout.declaration.read_text(encoding="utf-8")


def write(kit: Kit, text: str) -> None:
    kit.layout.declaration.write_text(text, encoding="utf-8")


def test_a_new_kit(tmp_path: Path) -> None:
    kit = create_kit(tmp_path / "deep" / "job.kit")
    assert is_kit(kit.root) and kit.declaration.name == "job"
    assert kit.runs() == [] and kit.id == ""
    assert stat.S_IMODE(kit.root.stat().st_mode) == 0o700
    assert stat.S_IMODE(kit.layout.declaration.stat().st_mode) == 0o600
    assert open_kit(kit.root).declaration == kit.declaration


def test_creating_a_kit_that_exists_opens_it(kit: Kit) -> None:
    kit.declare(subject="r1")
    before = written(kit)
    assert create_kit(kit.root).declaration.subject == "r1"
    assert written(kit) == before


def test_an_empty_folder_becomes_a_kit(tmp_path: Path) -> None:
    (tmp_path / "job.kit").mkdir()
    assert is_kit(create_kit(tmp_path / "job.kit").root)


def test_another_folder_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "results.csv").write_text("1")
    with pytest.raises(SafetyError, match="exists and is not a kit") as caught:
        create_kit(tmp_path / "data")
    assert caught.value.hint and "-o" in caught.value.hint
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["results.csv"]


def test_a_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "job.kit").write_text("text")
    with pytest.raises(SafetyError, match="exists and is not a kit"):
        create_kit(tmp_path / "job.kit")
    assert (tmp_path / "job.kit").read_text() == "text"


def test_what_is_no_kit_does_not_open(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such kit"):
        open_kit(tmp_path / "none.kit")
    with pytest.raises(InputError, match=r"not a kit \(no kit\.yaml\)"):
        open_kit(tmp_path)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("name: x\nschema: reprokit/kit/2.0\n", 2, "schema 'reprokit/kit/2.0'; this reprokit reads"),
        ("name: x\nschema: reprokit/kit/10.0\n", 2, "schema 'reprokit/kit/10.0'"),
        ("name: x\nschema: reprokit/recipe/1\n", 2, "schema 'reprokit/recipe/1'"),
        ("name: x\n", 1, "schema ''"),
        ("", 1, "not the declaration of a kit"),
        ("- a\n", 1, "not the declaration of a kit"),
        ("schema: reprokit/kit/1.0\nname: 7\n", 2, "name: Expected text, got a whole number"),
        ("schema: reprokit/kit/1.0\nname: x\ncandidates:\n  - id: a\n", 4, "is missing the field `patch`"),
        ("schema: reprokit/kit/1.0\nname: no\n", 2, "`no` is a truth value"),
    ],
)
def test_a_declaration_that_cannot_be_read(kit: Kit, text: str, line: int, said: str) -> None:
    write(kit, text)
    with pytest.raises(InputError) as caught:
        open_kit(kit.root)
    assert str(caught.value).startswith(f"{kit.layout.declaration}:{line}: ") and said in str(caught.value)


def test_what_is_declared_is_read_back(kit: Kit) -> None:
    candidate = Candidate(
        id="a", patch="inputs/patches/a.patch", sha256=SHA, title="no: 3.10", limitations=("~",)
    )
    kit.declare(
        subject="r1", expect=Expect(pass_iterations=30, behavior="Two\nlines"), candidates=(candidate,)
    )
    kit.declare(base="0" * 40)
    again = open_kit(kit.root).declaration
    assert again == kit.declaration
    assert (again.subject, again.base, again.candidates) == ("r1", "0" * 40, (candidate,))


def test_taking_a_declaration_back(kit: Kit) -> None:
    kit.declare(subject="r1", recipe="inputs/recipe.yaml")
    kit.declare(subject=None)
    again = open_kit(kit.root).declaration
    assert again.subject is None and again.recipe == "inputs/recipe.yaml"


NEWER = """\
schema: reprokit/kit/1.0
name: job
owner: {team: "no", list: [1, 2.5, "3.10", null]}
tolerance: 0.00001
expect:
  pass_iterations: 30
  throughput: 12
candidates:
  - id: a
    patch: inputs/patches/a.patch
    sha256: "0000"
    reviewer: somebody
"""


def test_unknown_keys_survive_a_rewrite(kit: Kit) -> None:
    """Also keys inside of what is known, and they are still readable."""
    write(kit, NEWER)
    before = yamlfile.loads(NEWER, "kit.yaml").data
    open_kit(kit.root).declare(subject="r1")
    assert yamlfile.loads(written(kit), "kit.yaml").data == {**before, "subject": "r1"}


def test_unknown_keys_of_a_candidate_survive_a_new_candidate(kit: Kit) -> None:
    write(kit, NEWER)
    opened = open_kit(kit.root)
    opened.declare(
        candidates=(*opened.declaration.candidates, Candidate(id="b", patch="inputs/b", sha256=SHA))
    )
    first, second = yamlfile.loads(written(kit), "kit.yaml").data["candidates"]
    assert first["reviewer"] == "somebody" and second["id"] == "b"


def test_a_newer_minor_is_read_and_never_written(kit: Kit) -> None:
    write(kit, NEWER.replace("kit/1.0", "kit/1.7"))
    opened = open_kit(kit.root)
    assert opened.declaration.name == "job"
    with pytest.raises(ReprokitError):
        opened.declare(subject="r1")
    assert written(kit) == NEWER.replace("kit/1.0", "kit/1.7")


@pytest.mark.parametrize("patch", ["../../private", "/etc/passwd", "inputs/../../private"])
def test_a_candidate_lies_in_the_kit(kit: Kit, patch: str) -> None:
    """Its text goes into the report: a stranger's kit must not name a file of ours."""
    write(kit, NEWER.replace("inputs/patches/a.patch", patch))
    with pytest.raises(InputError, match=r"kit\.yaml:10: "):
        open_kit(kit.root)


def test_a_run_that_is_not_there(kit: Kit, open_run: Open) -> None:
    seal.seal(kit, open_run("r1"), same)
    with pytest.raises(InputError, match="there is no run 'r2'") as caught:
        kit.run("r2")
    assert caught.value.hint == "runs here: r1"


def test_an_id_that_is_not_its_folder_is_refused(kit: Kit, open_run: Open) -> None:
    """Ids become paths (derived/<id>.json): a stranger's kit must not choose where we write."""
    seal.seal(kit, open_run("r1"), same)
    path = kit.layout.evidence / "r1" / "run.yaml"
    path.write_text(path.read_text().replace("r1", "../../outside"))
    with pytest.raises(InputError, match=r"run\.yaml"):
        kit.runs()


def test_unsealed_and_linked_folders_are_no_runs(kit: Kit, open_run: Open, tmp_path: Path) -> None:
    seal.seal(kit, open_run("r1"), same)
    (kit.layout.evidence / ".sealing-r2").mkdir()
    (kit.layout.evidence / "r3").symlink_to(tmp_path)
    (kit.layout.evidence / "note").write_text("")
    assert [run.id for run in kit.runs()] == ["r1"]


def test_a_digest_tells_of_every_change(kit: Kit, open_run: Open) -> None:
    seal.seal(kit, open_run("r1", {"node-0/output.log": b"x", "node-1/output.log": b"y"}), same)
    seal.seal(kit, open_run("r2", {"node-0/output.log": b"x", "node-1/output.log": b"z"}), same)
    digests = {run.digest() for run in kit.runs()}
    assert len(digests) == 2 and digests == {run.digest() for run in kit.runs()}
    with (kit.layout.evidence / "r1" / "run.yaml").open("a") as file:
        file.write("# changed\n")
    assert kit.run("r1").digest() not in digests


def test_the_kit_id_changes_with_every_run_and_input(kit: Kit, open_run: Open) -> None:
    ids = []
    seal.seal(kit, open_run("r1"), same)
    ids.append(kit.id)
    seal.seal(kit, open_run("r2"), same)
    ids.append(kit.id)
    kit.add_input("recipe.yaml", b"x")
    ids.append(kit.id)
    assert len(set(ids)) == 3 and all(len(one) == 12 for one in ids)
    kit.declare(subject="r1")
    kit.layout.notes.write_text("mine")
    kit.refresh_sums()
    assert kit.id == ids[-1], "declarations and notes are no evidence"


def test_inputs_are_put_in_once_and_never_replaced(kit: Kit) -> None:
    assert kit.add_input("patches/a.patch", b"one") == hashlib.sha256(b"one").hexdigest()
    kit.add_input("patches/a.patch", b"one")
    with pytest.raises(SafetyError, match="another file of this name") as caught:
        kit.add_input("patches/a.patch", b"two")
    assert caught.value.hint == "inputs are never replaced"
    assert (kit.layout.patches / "a.patch").read_bytes() == b"one"
    assert checksums.load(kit.layout.sums) == {"inputs/patches/a.patch": hashlib.sha256(b"one").hexdigest()}


@pytest.mark.parametrize(
    "name", ["evidence/r1/node-0/output.log", "evidence/r1/run.yaml", "inputs/recipe.yaml"]
)
def test_a_changed_byte_is_never_blessed(kit: Kit, open_run: Open, name: str) -> None:
    kit.add_input("recipe.yaml", b"recipe")
    seal.seal(kit, open_run("r1"), same)
    path = kit.root / name
    path.write_bytes(path.read_bytes() + b"\n")
    before = kit.layout.sums.read_bytes()
    kit.refresh_sums()
    assert kit.layout.sums.read_bytes() == before
    missing, altered = checksums.compare(kit.root, checksums.load(kit.layout.sums))
    assert (missing, [problem.path for problem in altered]) == ([], [name])


def test_a_change_before_the_kit_s_own_sums_is_not_blessed_either(kit: Kit, open_run: Open) -> None:
    """A seal died before it wrote SHA256SUMS: the part's own sums count, not what lies there now."""
    seal.seal(kit, open_run("r1"), same)
    kit.layout.sums.unlink()
    (kit.layout.evidence / "r1" / "node-0" / "output.log").write_bytes(b"other")
    kit.refresh_sums()
    _, altered = checksums.compare(kit.root, checksums.load(kit.layout.sums))
    assert [problem.path for problem in altered] == ["evidence/r1/node-0/output.log"]


def test_what_is_gone_stays_listed(kit: Kit, open_run: Open) -> None:
    seal.seal(kit, open_run("r1"), same)
    (kit.layout.evidence / "r1" / "node-0" / "output.log").unlink()
    kit.refresh_sums()
    missing, altered = checksums.compare(kit.root, checksums.load(kit.layout.sums))
    assert ([problem.path for problem in missing], altered) == (["evidence/r1/node-0/output.log"], [])


def test_notes_are_no_input(kit: Kit) -> None:
    kit.add_input("recipe.yaml", b"x")
    kit.layout.notes.write_text("mine")
    kit.refresh_sums()
    assert list(checksums.load(kit.layout.sums)) == ["inputs/recipe.yaml"]


def test_evidence_that_is_too_large_is_named(
    kit: Kit, open_run: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reprokit.store import runs as module

    seal.seal(kit, open_run("r1", {"node-0/output.log": b"0123456789"}), same)
    monkeypatch.setattr(module, "MAX_FILE", 9)
    with pytest.raises(InputError, match=r"node-0/output\.log: 10 bytes"):
        kit.run("r1").read()

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reprokit.model.arm import Arm, Patch

ARM = Arm(
    base="0" * 40,
    patches=(Patch(id="a", sha256="a" * 64), Patch(id="b", sha256="b" * 64)),
    env={"A": "1", "B": "2"},
    overrides={"job.ranks": "2"},
    stack=None,
    limits={"address_space_mib": 112, "time_s": 120},
    executor="local",
    script_sha256="c" * 64,
)


def test_the_key_is_a_contract() -> None:
    """Kits on disk carry it: another key for the same arm would run everything anew."""
    assert ARM.key == "b6e8d06a307d1760"


CHANGES: dict[str, Any] = {
    "base": "1" * 40,
    "patches": (Patch(id="b", sha256="b" * 64), Patch(id="a", sha256="a" * 64)),
    "env": {"A": "1", "B": "3"},
    "overrides": {"job.ranks": "3"},
    "stack": "old",
    "limits": {"address_space_mib": None, "time_s": 120},
    "executor": "slurm",
    "script_sha256": "d" * 64,
}


@pytest.mark.parametrize("field", CHANGES)
def test_everything_that_decides_what_runs_is_in_it(field: str) -> None:
    assert set(CHANGES) == set(Arm.__struct_fields__)
    assert msgspec.structs.replace(ARM, **{field: CHANGES[field]}).key != ARM.key


def test_a_patch_is_its_content_not_its_name() -> None:
    renamed = tuple(Patch(id="other", sha256=patch.sha256) for patch in ARM.patches)
    assert msgspec.structs.replace(ARM, patches=renamed).key == ARM.key


def test_the_order_of_variables_means_nothing() -> None:
    mixed = msgspec.structs.replace(
        ARM, env={"B": "2", "A": "1"}, limits={"time_s": 120, "address_space_mib": 112}
    )
    assert mixed.key == ARM.key


def test_values_cannot_run_into_each_other() -> None:
    one = msgspec.structs.replace(ARM, env={"A": '1","B":"2'}, overrides={})
    two = msgspec.structs.replace(ARM, env={"A": "1", "B": "2"}, overrides={})
    assert one.key != two.key


def test_a_key_survives_the_disk() -> None:
    assert msgspec.json.decode(msgspec.json.encode(ARM), type=Arm).key == ARM.key

from __future__ import annotations

import pytest

from reprokit import errors

CODES = {
    errors.UsageError: 2,
    errors.ReprokitError: 3,
    errors.MachineError: 4,
    errors.InputError: 5,
    errors.SafetyError: 6,
    errors.AlteredError: 1,
    errors.Interrupted: 130,
}


def test_the_numbers_are_a_contract() -> None:
    in_order = [errors.OK, errors.NO, errors.USAGE, errors.BUG, errors.MACHINE, errors.INPUT, errors.SAFETY]
    assert in_order == list(range(7))
    assert (errors.INCONCLUSIVE, errors.INTERRUPTED) == (125, 130)


@pytest.mark.parametrize("kind", CODES, ids=[kind.__name__ for kind in CODES])
def test_an_error_carries_its_code_and_what_to_do(kind: type[errors.ReprokitError]) -> None:
    error = kind("it broke", hint="mend it")
    assert (error.exit_code, str(error), error.what, error.hint) == (
        CODES[kind],
        "it broke",
        "it broke",
        "mend it",
    )
    assert kind("it broke").hint is None


def test_every_error_has_a_code_of_the_list() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert set(kinds) == set(CODES)
    assert all(issubclass(kind, errors.ReprokitError) for kind in kinds)

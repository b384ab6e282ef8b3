"""JSON that may be anything: values are taken by name and type, and what does not fit is not there."""

from __future__ import annotations

import json
import math


class Fields:
    """A JSON object, seen by what is asked of it. Strings come without lone surrogates, so they can be
    written."""

    def __init__(self, values: dict[str, object]) -> None:
        self._values = values

    def text(self, key: str) -> str | None:
        """A string."""
        value = self._values.get(key)
        return _clean(value) if isinstance(value, str) else None

    def scalar(self, key: str) -> str | None:
        """A string or a number, as text."""
        value = self._values.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        return self.text(key)

    def whole(self, key: str) -> int | None:
        """An integer that fits in 64 bits."""
        value = self._values.get(key)
        if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**63:
            return None
        return value

    def number(self, key: str) -> float | None:
        """A finite number."""
        value = self._values.get(key)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        try:
            return float(value) if math.isfinite(value) else None
        except OverflowError:
            return None

    def flag(self, key: str) -> bool:
        """True only for `true`."""
        return self._values.get(key) is True

    def texts(self, key: str) -> tuple[str, ...]:
        """The strings of a list."""
        value = self._values.get(key)
        if not isinstance(value, list):
            return ()
        return tuple(_clean(item) for item in value if isinstance(item, str))

    def inner(self, key: str) -> Fields:
        """An object inside; an empty one if there is none."""
        value = self._values.get(key)
        return Fields(value if isinstance(value, dict) else {})

    def all_texts(self) -> dict[str, str]:
        """Every entry that is a string."""
        return {_clean(key): _clean(value) for key, value in self._values.items() if isinstance(value, str)}


def fields(data: bytes) -> Fields:
    """The JSON object that `data` holds, or an empty one."""
    value = _value(data)
    return Fields(value if isinstance(value, dict) else {})


def records(data: bytes) -> list[Fields]:
    """The objects of the JSON list that `data` holds."""
    value = _value(data)
    return [Fields(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _value(data: bytes) -> object:
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")

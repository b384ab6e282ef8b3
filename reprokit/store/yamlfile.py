"""YAML as people write it, read strictly. The only module that imports yaml.

PyYAML follows YAML 1.1, where `no` is False, `0123` is 83, `12:30:45` is 45045, `3.10` is 3.1 and the second of two
equal keys wins in silence. Here each of these is an error that names the line and says how to write what was meant.
"""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from reprokit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_BYTES = 4 * 2**20
"""A file that people edit is small. YAML is slow, and a large one is a mistake or an attack."""

MAX_DEPTH = 30

MAX_DIGITS = 20
"""A longer number does not fit into 64 bits."""

_AMBIGUOUS_WORD = re.compile(r"(?:y|n|yes|no|on|off)\Z", re.IGNORECASE)
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]*[1-9]\Z|[-+]?(?:0|[1-9][0-9]*)\.0\Z")
_NUMBERLIKE = re.compile(
    r"[-+]?\.?[0-9][0-9_.:]*(?:[eE][-+]?[0-9]+)?\Z|[-+]?0[xob][0-9a-fA-F_]+\Z|[-+]?\.(?:inf|nan)\Z",
    re.IGNORECASE,
)

Path = tuple[str | int, ...]


class Ambiguous(Exception):
    """A plain scalar that two YAML versions read as two things."""


def plain_value(text: str) -> Any:
    """The value of an unquoted scalar. Raises Ambiguous with advice where versions disagree."""
    if text in {"", "~", "null", "Null", "NULL"}:
        return None
    if text in {"true", "True", "TRUE"}:
        return True
    if text in {"false", "False", "FALSE"}:
        return False
    if _INTEGER.match(text):
        if len(text) > MAX_DIGITS:
            raise Ambiguous(f"a whole number of {len(text)} digits is read differently by different programs")
        return int(text)
    if _FLOAT.match(text):
        return float(text)
    if _AMBIGUOUS_WORD.match(text):
        raise Ambiguous(
            f'`{text}` is a truth value in old YAML and a word in new: write true or false, or "{text}"'
        )
    if _NUMBERLIKE.match(text):
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return text
        raise Ambiguous(f'`{text}` could be a number or a text: write "{text}" for the text, or plain digits')
    return text


class Located:
    """Plain data and the 1-based line of each value, by its path of keys and indexes."""

    def __init__(self, data: Any, lines: Mapping[Path, int], source: str) -> None:
        self.data = data
        self.lines = dict(lines)
        self.source = source

    def line(self, path: Path) -> int:
        """The line of the value at `path`, or of the nearest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def loads(text: str, source: str) -> Located:
    """Parse one YAML document. `source` names it in errors. Raises InputError with file and line."""
    import yaml

    if len(text) > MAX_BYTES:
        raise InputError(f"{source}: {len(text)} characters: too large for a file that people edit")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_machinery(yaml, text, loader, source)
        node = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise InputError(f"{source}:{line}: not valid YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise InputError(f"{source}:{line}: not valid YAML: {error.reason}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InputError(f"{source}: not valid YAML: {str(error).splitlines()[0]}") from None
    lines: dict[Path, int] = {}
    return Located(_build(node, (), lines, source, 0), lines, source)


def _refuse_machinery(yaml: Any, text: str, loader: Any, source: str) -> None:
    """Tags, anchors, aliases and directives: files that people edit need none, and attacks do."""
    words = {
        yaml.TagToken: "a tag (!) is not used in these files",
        yaml.AnchorToken: "an anchor (&) is not used in these files",
        yaml.AliasToken: "an alias (*) is not used in these files",
        yaml.DirectiveToken: "a directive (%) is not used in these files",
    }
    for token in yaml.scan(text, Loader=loader):
        if type(token) in words:
            raise InputError(f"{source}:{token.start_mark.line + 1}: {words[type(token)]}")


def _build(node: Any, path: Path, lines: dict[Path, int], source: str, depth: int) -> Any:
    """Plain data of a composed node; deep nesting, merge keys and repeated keys are refused."""
    if node is None:
        return None
    line = node.start_mark.line + 1
    lines[path] = line
    if depth > MAX_DEPTH:
        raise InputError(f"{source}:{line}: nested more than {MAX_DEPTH} deep")
    if node.id == "scalar":
        if node.style:
            return node.value
        try:
            return plain_value(node.value)
        except Ambiguous as error:
            raise InputError(f"{source}:{line}: {error}") from None
    if node.id == "sequence":
        return [
            _build(item, (*path, index), lines, source, depth + 1) for index, item in enumerate(node.value)
        ]
    return _mapping(node, path, lines, source, depth)


def _mapping(node: Any, path: Path, lines: dict[Path, int], source: str, depth: int) -> dict[str, Any]:
    """A mapping with text keys, each once."""
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if key_node.id != "scalar":
            raise InputError(f"{source}:{line}: a key must be a plain word")
        key = key_node.value
        if key == "<<" and not key_node.style:
            raise InputError(f"{source}:{line}: a merge key (<<) is not used in these files")
        if key in result:
            raise InputError(
                f"{source}:{line}: the key {key!r} stands here a second time (first: line {lines[(*path, key)]})"
            )
        result[key] = _build(value_node, (*path, key), lines, source, depth + 1)
        lines[(*path, key)] = line
    return result


def dumps(data: Any, header: str = "", *, quoted: bool = False) -> str:
    """YAML text that `loads` reads back as the same data: keys in their order, doubtful texts quoted.

    `quoted`: for files that go through the secret rules. Every text in double quotes, so that it stays a text where
    a placeholder replaces a part of it; lists of words on one line, so that a flag stands beside its value.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        """Quotes every text that the strict loader would not take for the same text."""

        def ignore_aliases(self, _data: Any) -> bool:
            return True

    def text(dumper: Any, value: str) -> Any:
        try:
            plain = not quoted and value.isprintable() and isinstance(plain_value(value), str)
        except Ambiguous:
            plain = False
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')

    def decimal(dumper: Any, value: float) -> Any:
        digits = format(Decimal(repr(value)), "f")
        return dumper.represent_scalar("tag:yaml.org,2002:float", digits if "." in digits else f"{digits}.0")

    def sequence(dumper: Any, value: list[Any] | tuple[Any, ...]) -> Any:
        return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=quoted)

    Dumper.add_representer(str, text)
    Dumper.add_representer(float, decimal)
    Dumper.add_representer(list, sequence)
    Dumper.add_representer(tuple, sequence)
    width = sys.maxsize if quoted else 110
    body = yaml.dump(
        data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=width, default_flow_style=False
    )
    return header + body

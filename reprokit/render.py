"""Templates to text. The only module that imports jinja2."""

from __future__ import annotations

import re
import shlex
from functools import cache
from typing import TYPE_CHECKING, Any

from reprokit import resources

if TYPE_CHECKING:
    from jinja2 import Environment

_BACKTICKS = re.compile(r"`+")
_SPACE = re.compile(r"\s+")
_BREAK = re.compile(r"[\r\n\t\x85\u2028\u2029]+")
_EMPHASIS = re.compile(r"(\*|~|(?<![^\W_])_|_(?![^\W_]))")
_LINK = re.compile(r"\]([(\[:])")
_FOOTNOTE = re.compile(r"\[(?=\^)")
_BLOCK = re.compile(r"\A(\s*)([>#+=-])")
_NUMBER = re.compile(r"\A(\s*[0-9]{1,9})([.)])(?=\s|\Z)")
_HIDDEN = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
"""Colours, control characters and marks that turn the direction of writing: noise in an issue, or a trick."""
_MENTION = re.compile(r"(?<![\w`])@(?=\w)")
_REFERENCE = re.compile(r"(?<![\w`&/])((?:[\w.-]+/[\w.-]+)?)#(?=\d)")


def shell_word(value: Any) -> str:
    """A value as one word of a POSIX shell, whatever is in it."""
    return shlex.quote(str(value))


def shown(value: Any) -> str:
    """A text without what a reader cannot see."""
    return _HIDDEN.sub("", str(value))


def md(value: Any) -> str:
    """Evidence as Markdown text: no tag, link, emphasis, mention or issue reference comes alive by accident."""
    text = _SPACE.sub(" ", shown(value))
    text = (
        text.replace("\\", "\\\\")
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace("|", "\\|")
        .replace("`", "\\`")
    )
    text = _EMPHASIS.sub(r"\\\1", text)
    text = _LINK.sub(r"\\]\1", text)
    text = _MENTION.sub("@\u200b", text)
    text = _FOOTNOTE.sub(r"\\[", text)
    text = _BLOCK.sub(r"\1\\\2", text)
    text = _NUMBER.sub(r"\1\\\2", text)
    return _REFERENCE.sub(lambda match: f"{match[1]}#\u200b", text)


def comment(value: Any) -> str:
    """A text inside a comment of a script or of HTML: one line, and nothing that ends the comment."""
    text = "".join(character if character.isprintable() else " " for character in str(value))
    return _SPACE.sub(" ", text).replace("--", "- -").strip()


def code(value: Any) -> str:
    """Evidence as a Markdown code span, with more backticks around it than inside."""
    text = _BREAK.sub(" ", shown(value)).strip() or " "
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if longest or text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(text: str, language: str = "") -> str:
    """Lines of evidence in a fenced block that they cannot close."""
    text = shown(text.replace("\r\n", "\n").replace("\r", "\n"))
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    body = text if text.endswith("\n") else text + "\n"
    return f"{ticks}{language}\n{body}{ticks}"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(str(resources.folder("templates"))),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - shell and Markdown; every value goes through a filter of its own
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"sh": shell_word, "md": md, "comment": comment, "code": code, "fence": fence}
    return environment


def render(template: str, values: dict[str, Any]) -> str:
    """The text of `templates/<template>` with `values`. A name that is not given is an error, never empty text."""
    return _environment().get_template(template).render(values)

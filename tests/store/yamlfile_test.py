from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprokit.errors import InputError
from reprokit.store import yamlfile


def read(text: str) -> Any:
    return yamlfile.loads(text, "some.yaml").data


def refusal(text: str) -> str:
    with pytest.raises(InputError) as caught:
        yamlfile.loads(text, "some.yaml")
    return str(caught.value)


PLAIN = {
    "true": True,
    "False": False,
    "null": None,
    "~": None,
    "": None,
    "0": 0,
    "-7": -7,
    "112": 112,
    "2.5": 2.5,
    "-0.25": -0.25,
    "3.0": 3.0,
    "word": "word",
    "two words": "two words",
    "1.2.3-rc1": "1.2.3-rc1",
    "2026-11-30": "2026-11-30",
    "v3.10": "v3.10",
    "nope": "nope",
    "Norway": "Norway",
    "host_oom/optimizer.py:copy": "host_oom/optimizer.py:copy",
    '"no"': "no",
    "'3.10'": "3.10",
    '"~"': "~",
    '""': "",
}


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_clear_is_read(text: str) -> None:
    value = read(f"key: {text}\n")["key"]
    assert value == PLAIN[text] and type(value) is type(PLAIN[text])


WORDS = ("y", "N", "yes", "No", "on", "OFF")
NUMBERS = (
    "1e-6", "1.5e3", "3.10", "1.50", "0123", "00", "12:30:45", "1:30", "1_000", "0x1F", "0x1_F", "0o17", "0b101",
    ".5", "5.", "-.5", ".inf", "-.INF", ".NaN", "1.2.3", "+1e9",
)  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_a_word_that_old_yaml_takes_for_a_truth_value(word: str) -> None:
    said = refusal(f"first: 1\nkey: {word}\n")
    assert said.startswith(f"some.yaml:2: `{word}` is a truth value in old YAML")
    assert f'"{word}"' in said


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_that_two_readers_take_for_two_things(number: str) -> None:
    said = refusal(f"first: 1\nlist:\n  - fine\n  - {number}\n")
    assert said.startswith(f"some.yaml:4: `{number}` could be a number or a text")
    assert f'"{number}"' in said


@pytest.mark.parametrize("word", [*WORDS, *NUMBERS])
def test_quoted_it_is_a_text(word: str) -> None:
    assert read(f'key: "{word}"\n') == {"key": word}


def test_a_whole_number_of_any_length_is_no_crash() -> None:
    """Python itself refuses to read more than 4300 digits."""
    assert refusal("first: 1\nkey: " + "9" * 5000).startswith("some.yaml:2: ")


TAGS = {
    "object": "key: !!python/object:os.system x",
    "apply": "key: !!python/object/apply:os.system [echo]",
    "none": "key: !!python/none ''",
    "tuple": "key: !!python/tuple [1]",
    "binary": "key: !!binary aGVsbG8=",
    "set": "key: !!set {a}",
    "omap": "key: !!omap [a: 1]",
    "own": "key: !mine x",
    "other": "key: !<tag:example.org,2000:x> y",
    "text": "key: !!str 123",
    "whole number": 'key: !!int "3"',
    "on a mapping": "key: !!map {a: 1}",
    "on a key": "!!python/none a: 1",
}


@pytest.mark.parametrize("name", TAGS)
def test_tags_are_refused(name: str) -> None:
    said = refusal("first: 1\n" + TAGS[name])
    assert said.startswith("some.yaml:2: ") and "tag" in said


def test_a_tag_runs_nothing() -> None:
    """Whatever a tag names, no object is made of it."""
    import os

    marker = f"reprokit-{os.getpid()}"
    try:
        read(f"!!python/object/apply:os.putenv [{marker}, '1']")
    except InputError:
        pass
    assert marker not in os.environ


@pytest.mark.parametrize(
    "text", ["a: &x 1\nb: *x\n", "a: &x {k: 1}\nb:\n  <<: *x\n", "a: &x [*x]\n", "a: &x k\n*x : 2\n"]
)
def test_aliases_are_refused(text: str) -> None:
    assert refusal(text).startswith(("some.yaml:1: ", "some.yaml:2: ", "some.yaml:3: "))


@pytest.mark.parametrize("text", ["a: 1\n<<: {b: 2}\n", "a: 1\n<<: [{b: 2}, {c: 3}]\n"])
def test_merge_keys_are_refused(text: str) -> None:
    """Other readers would put `b` beside `a`."""
    assert refusal(text).startswith("some.yaml:2: ")


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3\n", 'a: 1\nb: 2\n"a": 3\n', "{a: 1,\nb: 2,\na: 3}\n"])
def test_a_key_that_stands_twice(text: str) -> None:
    assert refusal(text) == "some.yaml:3: the key 'a' stands here a second time (first: line 1)"


def test_the_same_key_at_two_places_is_fine() -> None:
    assert read("a: {k: 1}\nb: {k: 2}\n") == {"a": {"k": 1}, "b": {"k": 2}}


BROKEN = {
    "tab": ("a:\n\tb: 1\n", 2),
    "two documents": ("a: 1\n---\nb: 2\n", 2),
    "no end": ("a: 1\nb: [1,\n", 3),
    "no end of a text": ('a: 1\nb: "x\n', 3),
    "two values": ("a: 1\nb: c: d\n", 2),
    "a list for a key": ("a: 1\n? [b]\n: 2\n", 2),
    "deep": ("a: " + "[" * 40 + "]" * 40, 1),
    "very deep": ("[" * 100_000, 1),
    "deep mapping": ("{a: " * 100_000, 1),
    "deep list": ("- " * 100_000, 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_name_the_line(name: str) -> None:
    text, line = BROKEN[name]
    assert refusal(text).startswith(f"some.yaml:{line}: ")


@pytest.mark.parametrize("text", ["a: 1\nb: \0\n", "a: 1\nb: \x1b[31m\n"])
def test_binary_files_name_the_line(text: str) -> None:
    assert refusal(text).startswith("some.yaml:2: not valid YAML")


def test_half_a_character_is_refused() -> None:
    assert refusal("a: \udcff").startswith("some.yaml:")


def test_a_huge_file_is_refused_before_it_is_parsed() -> None:
    assert "too large" in refusal("# " + "x" * yamlfile.MAX_BYTES)


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n"])
def test_an_empty_document_is_nothing(text: str) -> None:
    assert read(text) is None


def test_lines_of_values() -> None:
    located = yamlfile.loads("a: 1\nb:\n  - x\n  - k: 2\n    l: 3\n", "some.yaml")
    assert [located.line(path) for path in [("a",), ("b", 0), ("b", 1, "l")]] == [1, 3, 5]


def test_the_line_of_what_is_not_there_is_the_line_around_it() -> None:
    located = yamlfile.loads("a: 1\nb:\n  c: 2\n", "some.yaml")
    assert located.line(("b", "missing", 3)) == 2
    assert located.line(("nowhere",)) == 1


NASTY = (
    "", " ", "no", "On", "y", "3.10", "1e-6", "0123", "0b1", "12:30:45", "1_000", "~", "null", "true", "2.5", "7", "=",
    "<<", " #", "x #y", "#", "a: b", "x: ", "- x", "-", "?", "!x", "&x", "*x", "%x", "@x", "`x", "'", '"', "[", "{",
    "|", ">", "---", "...", "\n", "\n\n", "\na", "a\n", "a\n\n", "\n a", " a\nb", "a \nb", "a\n b", "\t", "a\tb", "\r",
    "a\r\nb", "\0", "\x1b[31mred\x1b[0m", "\x7f", "\x85", "a\x85b", "\xa0", "\u2028", "a\u2029b", "\ufeff", "\ufffe",
    "é", "\u200b", "\U0001f600", "word " * 60, "é" * 200, "2026-11-30", "2026-11-30 10:00:00", "C:\\new\\table",
)  # fmt: skip
TEXTS = st.one_of(
    st.sampled_from(NASTY),
    st.lists(st.sampled_from(NASTY), max_size=4).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)
DATA = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=10,
)


@given(DATA, st.booleans())
def test_what_is_written_is_read_back(data: Any, quoted: bool) -> None:
    text = yamlfile.dumps(data, "# header\n", quoted=quoted)
    assert text.startswith("# header\n")
    assert read(text) == data


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("text", NASTY)
def test_each_nasty_text_is_read_back_at_each_place(text: str, quoted: bool) -> None:
    data = {"a": text, "b": [text, {"c": text}], text + "k": 1, "l": [[text]]}
    assert read(yamlfile.dumps(data, quoted=quoted)) == data


def test_quoted_every_text_survives_a_stand_in() -> None:
    """The secret rules put `[secret-kind-1]` in: alone on its place that would be a list."""
    data = {"command": ["python", "hunter2", "--pw=hunter2"], "stated": {"hunter2": "hunter2"}}
    text = yamlfile.dumps(data, quoted=True).replace("hunter2", "[secret-word-1]")
    assert read(text) == {
        "command": ["python", "[secret-word-1]", "--pw=[secret-word-1]"],
        "stated": {"[secret-word-1]": "[secret-word-1]"},
    }
    assert '"python", "[secret-word-1]"' in text, "a flag and its value stand on one line"


@pytest.mark.parametrize("number", [0.00001, 1e-6, 0.1, 2.5, 3.0, 1e16, 1e21, -1.5e-9])
def test_numbers_are_read_back(number: float) -> None:
    """Anything that the strict reader takes, and more, may stand under a key of a newer version."""
    assert read(yamlfile.dumps({"number": number})) == {"number": number}


def test_keys_stay_in_their_order() -> None:
    assert list(read(yamlfile.dumps({"z": 1, "a": 2, "m": 3}))) == ["z", "a", "m"]


def test_the_same_data_twice_is_written_out_twice() -> None:
    shared = ["x"]
    assert read(yamlfile.dumps({"a": shared, "b": shared})) == {"a": ["x"], "b": ["x"]}

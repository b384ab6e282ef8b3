"""Values on the lines below their name: what is hidden, what stays, and that lines stay lines."""

from __future__ import annotations

import re
import time

import pytest

from reprokit.redact.below import BELOW_RULE
from reprokit.redact.rule import fake
from reprokit.redact.secrets import redact, scan

A = fake(90, 40).decode()
B = fake(91, 40).decode()
HEX = fake(92, 40, "0123456789abcdef").decode()

HIDDEN = {
    "block": f"secret: |\n  {A}\nother: 1\n",
    "folded": f"a:\n  password: >-\n    {A}\n\n    correct horse\n  other: word\n",
    "list-block": f"- api_key: |2 # from the vault\n    {A}\n- other: x\n",
    "tagged": f"[rank3]: secret: |\n[rank3]:   {A}\n[rank3]: other: 1\n",
    "numbered": f"0: api_key\n0: {A}\n",
    "time": f"2026-04-23T05:09:58.1Z secret: |\n2026-04-23T05:09:58.2Z   {A}\n",
    "alone": f"api_key\n{A}\n",
    "colon": f"api_key:\n  {A}\n",
    "json": f'"api_key":\n  "{A}",\n',
    "hex": f"wandb_api_key =\n  {HEX}\n",
    "tag": f"<password>\n  {A}\n</password>\n",
    "yaml-option": f'- "--password"\n- "hunter2"\n- "--seed"\n- "1"\n- "--api-key"\n- {A}\n',
    "python-option": f"cmd = ['--password',\n       'hunter2', ]\nx = [\n  '--hf-token',\n  '{A}',\n]\n",
    "shell-option": f"  --hf_token \\\n  {A} \\\n  --seed 1\n",
    "triple": f'password = """{A}"""\n',
    "triple-lines": f'API_KEY = """\n{A}\n{B}"""\nprint(1)\n',
    "triple-single": f"password: '''hunter2\n{B}\n'''\n",
    "colour": f"secret: |\n  \x1b[1m{B}\x1b[0m\napi_key:\n  \x1b[1m{A}\x1b[0m\n",
}
GONE = (A, B, HEX, "hunter2", "correct horse")
STAYS = [
    "secret: |\nother: value\n",
    "password:\n  required: true\n",
    "password: >-\n  ${DB_PASSWORD}\n  {{ .Values.password }}\n",
    "api_key:\n  decoder.layers.0.self_attention\n",
    f"key:\n  {HEX}\ntoken\n{HEX}\n",
    f"the last commit with that key\n{HEX}\n",
    "  --hf_token\n        The token that is used to load the model\n",
    'add_argument(\n    "--password",\n    "-p",\n)\noption(\n    "--hf-token",\n    "hf_token",\n)\n',
    '- "--token-dispatcher"\n- "alltoall"\n- "--max-tokens"\n- "4096"\n',
    'args = ["--password",\n        password, "--api-key",\n        args.api_key]\n',
    "[rank0]: secret: |\n[rank1]:   Traceback of another rank\n",
    'def token():\n    """\n    x7Kq9TzLm2Qw8RtVb3Nm\n    """\n',
    'def f():\n    """Send the credentials."""\n    return a, b\n',
    'def g():\n    """Set the password: """\n    if a b:\n"""x"""\n',
    "loading the tokenizer |\n  a b c\nnum_tokens:\n  4096\n",
    "password = None\ntoken =\n  get_token()\nsecrets:\n  inherit\n",
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", HIDDEN)
def test_values_below_their_name_are_gone(name: str, end: str) -> None:
    text = HIDDEN[name].replace("\n", end).encode()
    result = redact(text)
    for value in GONE:
        assert value.encode() not in result.data
    assert result.hits and scan(result.data) == ()
    assert result.data.count(end.encode()) == text.count(end.encode())
    rest = re.sub(rb"\[secret-[a-z-]+-\d+\]|\x1b\[\d*m", b"", result.data)
    lost = re.sub("|".join(GONE), "", HIDDEN[name].replace("\n", end)).encode()
    assert rest == re.sub(rb"\x1b\[\d*m", b"", lost)


@pytest.mark.parametrize("text", STAYS, ids=range(len(STAYS)))
def test_what_stands_below_other_names_stays(text: str) -> None:
    assert redact(text.encode()).data == text.encode()


def test_hits_name_the_line_of_the_value() -> None:
    result = redact(f"one\nsecret: |\n  {A}\n  {B}\n  {A}\n".encode())
    assert [(hit.rule, hit.line, hit.placeholder) for hit in result.hits] == [
        (BELOW_RULE, 3, "[secret-secret-1]"),
        (BELOW_RULE, 4, "[secret-secret-2]"),
        (BELOW_RULE, 5, "[secret-secret-1]"),
    ]


@pytest.mark.parametrize(
    "piece", [b"secret: |\n", b'password = """\n', b"api_key\n", b'- "--password"\n', b"key="]
)
def test_time_grows_with_the_size_only(piece: bytes) -> None:
    def seconds(size: int) -> float:
        data = piece * (size // len(piece))
        began = time.perf_counter()
        redact(data)
        return time.perf_counter() - began

    seconds(1000)
    assert seconds(240_000) < 40 * max(seconds(20_000), 0.01)

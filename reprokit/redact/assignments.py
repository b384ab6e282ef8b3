"""Rules that a name speaks for: NAME=VALUE, NAME: VALUE, JSON, option and value, printed arguments.

The pattern finds the name, what separates it from the value, and the value's first byte; `_judge` asks names.py
about the name and only then measures the value. So the many harmless `key=value` of a log stay cheap.
"""

from __future__ import annotations

import re

from reprokit.redact import names, values
from reprokit.redact.extent import value_end
from reprokit.redact.rule import Found, Rule, Sample, fake

_NAME = rb"(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,120}+)"
_START = rb"(?:(?P<open>[\"'])|(?<![A-Za-z0-9_.$-]))(?P<dash>--?|(?:setenv|ENV)[ \t]{1,8})?"
_QUOTE = rb"(?:\[?[bru]{0,2}(?P<quote>\\{0,3}(?:\"{3}|'{3}|[\"'`])))?"
_FIRST = rb"(?P<secret>[^\s\x00])"
_SEPARATORS = (
    rb"(?P<shut>\\{0,3}[\"']\]?)?"  # the quote that ends a JSON key, or a subscript: environ["X"]
    rb"(?:=(?![=>])|[ \t]{1,8}:?=(?![=>])[ \t]{0,8}|[ \t]{0,40}:(?:[ \t]{1,8}|(?=[\"'\\]))|[ \t]{0,8}=>[ \t]{0,8}"
    rb"|(?P<thin>:(?=[A-Za-z0-9])|[ \t]{1,40}(?:\||\xe2\x94\x82|->)[ \t]{1,8}))"  # may mean anything: see _holds
)
_ASSIGN = re.compile(
    _START
    + _NAME
    + rb"(?:"
    + _SEPARATORS
    + rb"|[ \t](?P<dots>\.{3,60})[ \t]"  # Megatron's argument block
    + rb"|(?(dash)(?P<gap>[ \t]{1,8}|[\"'],[ \t]{0,8}(?=[\"']))|(?!))"  # an option and its value
    + rb")"
    + _QUOTE
    + _FIRST
)
_PAIR = re.compile(  # {"name": "DB_PASSWORD", "value": "..."} of containers and pods
    rb"[\"']?(?i:name|key)\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}\\{0,3}[\"']?"
    rb"(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,120}+)\\{0,3}[\"']?"
    rb"\s{0,4},\s{0,4}\\{0,3}[\"']?(?i:value)\\{0,3}[\"']?\s{0,4}[:=]\s{0,4}(?P<quote>\\{0,3}[\"'])?(?P<secret>[^\s\x00])"
)
_LOOK = 256  # bytes of a value that are looked at to judge it
_LONG_LINE = 1024
_PART = re.compile(rb"(?:id|type|src|source|env|target)=")  # docker build --secret id=...
_PROSE = frozenset(
    b"is to or and for option options flag flags argument must was not with in if when as from will can has should "
    b"value parameter on instead which that the a an of by are be it this your found given set".split()
)


def _judge(match: re.Match[bytes]) -> Found | None:
    name = names.judge(match["name"].decode("ascii"))
    if name.promise is names.Promise.NONE:
        return None
    start, end = match.start("secret"), value_end(match, _LOOK)
    if end <= start or not _holds(match, name, match.string[start:end]):
        return None
    if end - start >= _LOOK:
        end = value_end(match, len(match.string))
    return Found(name.kind, start, end, soft=not match["quote"])


def _holds(match: re.Match[bytes], name: names.Name, value: bytes) -> bool:
    """Whether this value, written this way, is the secret that the name promises."""
    groups = match.groupdict()
    loose = not groups.get("shut") and not groups.get("gap")
    if groups.get("open") and loose and groups["quote"] == groups["open"]:
        return False  # 'Password: ', ...: what looks like a value's first quote ends the text
    upper = match["name"].isupper()
    if name.promise is names.Promise.WEAK:
        # TOKEN=..., PASS=... of an environment: no count and no path is a secret
        owned = upper and len(names.words(match["name"].decode("ascii"))) > 1 and not groups.get("gap")
        return values.looks_random(value, hashes=owned)
    if groups.get("dash") and _PART.match(value):
        return False
    if groups.get("gap") and (value.startswith(b"-") or value.lower() in _PROSE or _is_metavar(value)):
        return False
    assigned = upper and match.string[match.end("name") : match.start("secret")] == b"="  # an environment
    if groups.get("thin"):
        return upper and values.looks_random(value, hashes=True)
    bare = not groups["quote"] and not assigned and not groups.get("dash")
    if bare and not _is_yaml_line(match, value) and values.is_code(value) and not values.looks_random(value):
        return False
    if value.strip(b"[]<>{}()").lower() == match["name"].lower():
        return False
    if name.promise is names.Promise.PASSWORD:
        return values.plausible_password(value)
    return values.plausible(value)


def _is_metavar(value: bytes) -> bool:
    """`--hf_token HF_TOKEN` of a usage line."""
    return bool(re.fullmatch(rb"[A-Z][A-Z_]*[\])]*", value))


def _is_yaml_line(match: re.Match[bytes], value: bytes) -> bool:
    """`name: value` and nothing else on the line, a plain word: YAML, so the word is the value itself."""
    if len(match.string) > _LONG_LINE:
        return False
    before = match.string[: match.start()]
    after = match.string[match.start("secret") + len(value) :]
    separator = match.string[match.end("name") : match.start("secret")]
    plain = not any(sign in value for sign in b".()[]{}")
    return plain and b":" in separator and not after.strip() and bool(re.fullmatch(rb"[\s-]*", before))


_S = fake(1, 24)
_H = fake(5, 40, "0123456789abcdef")
_WORDS = rb"(?:token|secret|pass|key|cred|auth|jwt|pat|cookie|pwd)"
_GATE = re.compile(
    _WORDS + rb"[a-z0-9_.-]{0,80}+(?:\\{0,3}[\"'])?[ \t]{0,40}(?:[]=:|]|\.{3}|->|\xe2\x94\x82)"
)
_GATE_OPTION = re.compile(rb"(?:(?<![a-z0-9_.$-])--?|\b(?:setenv|env)[ \t]{1,8})[a-z0-9_.-]{0,120}?" + _WORDS)


def _gate(line: bytes) -> bool:
    """Whether a line in lower case has a telling word with something assigned to it, or an option with one."""
    return bool(_GATE.search(line) or ((b"-" in line or b"env" in line) and _GATE_OPTION.search(line)))


_NAME_LITERALS = (
    b"token",
    b"secret",
    b"pass",
    b"key",
    b"cred",
    b"auth",
    b"jwt",
    b"cookie",
    b"pwd",
    b"pat=",
    b"pat:",
    b'pat"',
    b"pat'",
    b"pat ",
)

BY_NAME = Rule(
    name="assignment",
    kind="secret",
    source="names.py; set -x echoes and option forms of Megatron-Bridge's launchers, 2026-11-30",
    literals=_NAME_LITERALS,
    pattern=_ASSIGN,
    judge=_judge,
    gate=_gate,
    positive=(
        Sample(b"HF_TOKEN=" + _S, (_S,)),
        Sample(b"+ export HF_TOKEN=" + _S, (_S,)),
        Sample(b"3: ++ DB_PASS='two words 1'", (b"two words 1",)),
        Sample(b"+ export 'DB_PASSWORD=two words'", (b"two words",)),
        Sample(b'declare -x NGC_KEY="' + _H + b'"', (_H,)),
        Sample(b'{"env": {"AWS_SECRET_ACCESS_KEY": "' + _S + b'", "A": "1"}}', (_S,)),
        Sample(b'{\\"GITHUB_TOKENS\\": \\"' + _S + b'\\"}', (_S,)),
        Sample(b"python a.py --hf_token " + _S + b" --seed 1", (_S,)),
        Sample(b"python a.py --password=hunter --seed 1", (b"hunter",)),
        Sample(b"Command '['python', '--api-key', '" + _S + b"', '-x']'", (_S,)),
        Sample(b"  wandb_api_key ......................... " + _S, (_S,)),
        Sample(b"--export=ALL,HF_TOKEN=" + _S + b",SEED=1", (_S,)),
        Sample(b"[rank3]: slurm_jwt: " + _S, (_S,)),
        Sample(b"db_passwd = hunter22", (b"hunter22",)),
        Sample(b"  password: hunter", (b"hunter",)),
        Sample(b"SSH_KEY=" + _H, (_H,)),
        Sample(b"DB_PASSWORD=a'b\"c", (b"a'b\"c",)),
        Sample(b"MY_CREDENTIALS=user1/" + _S, (b"user1/" + _S,)),
        Sample(b"X-Auth-Token: " + _S, (_S,)),
        Sample(b"GET /v1?access_token=" + _S + b"&page=2", (_S,)),
        Sample(b"Namespace(seed=1, hf_token='" + _S + b"', password=None)", (_S,)),
        Sample(b"os.environ['WANDB_API_KEY'] = '" + _H + b"'", (_H,)),
        Sample(b"setenv HF_TOKEN " + _S, (_S,)),
        Sample(b"{HF_TOKEN:" + _S + b", A:1}", (_S,)),
        Sample(b"| NGC_API_KEY | " + _S + b" |", (_S,)),
        Sample(b"'wandb_key': ['" + _H + b"']", (_H,)),
        Sample(b"docker run -e GH_PAT=" + _S + b" image", (_S,)),
    ),
    negative=(
        b"NUM_OF_TOKENS_PER_CHUNK_COMBINE_API=128",
        b"max_tokens=4096 tokenizer_type=HuggingFaceTokenizer vocab",
        b"TOKENIZERS_PARALLELISM=False",
        b"key_value_heads: 8, num_query_groups=8",
        b"keys: /default_pg/0//cuda//0",
        b"tokens per sec: 12345.6 | global batch size: 512",
        b"key: 4f1c90d27ae85b63019d7e42c8a5f3b6d1204e97",
        b"cache_key=9f86d081884c7d659a2feaa0c55ad015",
        b"eos_token='<|endoftext|>' pad_token: '[PAD]'",
        b"HF_TOKEN=$HF_TOKEN NGC_API_KEY=${KEY:-none}",
        b"export HF_TOKEN=",
        b"HF_TOKEN= python train.py",
        b"usage: run.py [--hf_token HF_TOKEN] [--password PASSWORD]",
        b"    out = login(api_key=api_key, token=args.hf_token, auth=get_auth())",
        b"TOKEN_FILE=/run/secrets/token --key-file=/etc/munge/munge.key",
        b"GOOGLE_APPLICATION_CREDENTIALS=/etc/gcp/key.json",
        b"AuthType=auth/munge StoragePass=socket=/run/munge.socket.2",
        b"password: None, api_key=null, secret=***, token: <your token>",
        b"pass --token to authenticate; the password is required",
        b"forward pass: 12.3 ms, PASSED, bypass=1",
        b"state_dict keys: key=decoder.layers.0.self_attention.linear_qkv.weight",
        b"PWD=/workspace OLDPWD=/root",
        b"docker build --secret id=hf,src=./token .",
        b"def ask(prompt='Password: ', stream=None, password=None):",
        b"KEY:value TOKEN:0 | PASSWORD | set |",
    ),
)

BY_PAIR = Rule(
    name="name-value-pair",
    kind="secret",
    source="Kubernetes EnvVar and ECS container environment (name and value fields), 2026-11-30",
    literals=(b"value",),
    pattern=_PAIR,
    judge=_judge,
    positive=(Sample(b'[{"name": "DB_PASSWORD", "value": "hunter 2"}]', (b"hunter 2",)),),
    negative=(b'[{"name": "NUM_TOKENS", "value": "4096"}, {"name": "TOKEN_FILE", "value": "x"}]',),
)

ASSIGNMENTS = (BY_NAME, BY_PAIR)

"""Does a name promise a secret? Whole words only: `tokenizer` and `key_value_heads` promise none."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


class Promise(Enum):
    """How surely a name stands before a secret.

    PASSWORD: its value is hidden even if it is a plain word or number. STRONG: hidden unless it is plainly
    something else (a path, a number, a shell reference). WEAK: hidden only if it looks random.
    """

    NONE = 0
    WEAK = 1
    STRONG = 2
    PASSWORD = 3


class Name(NamedTuple):
    """What a name says: how surely, and of which kind (`hf-token`, `password`)."""

    promise: Promise
    kind: str


NOTHING = Name(Promise.NONE, "")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words of 2026-11-30: environment and option names of the frameworks in use, and what secret scanners look for.
PASSWORD_WORDS = _set("password passwords passwd passphrase passcode")
SECRET_WORDS = _set("secret credential credentials creds")
GLUED_ENDS = ("password", "passwd", "passphrase", "apikey", "secretkey", "accesskey", "privatekey", "authtoken",
              "accesstoken", "oauthtoken", "refreshtoken", "identitytoken", "registrytoken", "sessiontoken",
              "hftoken", "githubtoken", "clientsecret")  # fmt: skip
KEY_OWNERS = _set(
    "api access private secret auth signing encryption encrypt crypto service account master license licence deploy "
    "ssh ngc wandb wb session shared storage client consumer app application admin registry openai anthropic hf aws "
    "azure gcp google github gitlab slack sas webhook rsa dsa ecdsa ed25519 pgp gpg tls ssl vault jwt hmac"
)
KEY_OTHERS = _set(
    "cache store sort primary foreign partition public dict map config row index group lookup routing object state "
    "param params module layer attention attn kv query head num hash json data batch shard meta rng prng random pub "
    "value host known metric feature column field registration handle plan process rendezvous"
)
TOKEN_OWNERS = _set(
    "my hf hub huggingface hugging face github gh gitlab gl access auth api bearer refresh security bot slack wandb wb "
    "ngc nvidia jupyter notebook oauth oauth2 csrf xsrf personal deploy job ci registry docker pypi npm vault sa "
    "service account user secret login openai anthropic aws azure gcp google slurm id session client app admin sso "
    "private runner trigger sts read write"
)
TOKEN_OTHERS = _set(
    "eos bos pad unk mask sep cls image img video audio special stop start begin end next first last per prefix "
    "suffix prompt response input output new max min num total each by bo eo think tool vision speech text "
    "placeholder newline system eod eot dummy current prev previous generated draft target completion"
)
PAT_OWNERS = _set("gh github gitlab gl azure ado devops docker user my bot ci")
PASS_OWNERS = _set(
    "db database user root admin smtp mysql postgres pg redis sudo ssh http https proxy ftp mail imap ldap rsync "
    "storage login my wifi vpn registry docker git svn basic auth jupyter rabbitmq mongo"
)
PASS_OTHERS = _set(
    "forward backward fwd bwd first second third test optimizer by one two per every multi single low high"
)
WEAK_LAST = _set("secrets key keys token tokens pass auth pat jwt cookie cookies pwd")
# After the secret word, these still speak of the secret itself; any other word speaks of something about it.
STILL_SECRET = _set(
    "read write ro rw dev prod test staging old new main value val b64 base64 default str string plain raw"
)
ABOUT_IT = _set(
    "file files path paths dir name names type types id ids count counts len length size limit limits url uri endpoint "
    "host port method mode policy version format prefix suffix index idx expiry expires expiration ttl timeout enabled "
    "disabled required provider backend class module style algorithm alg env var vars rate num budget parallelism max "
    "min mask masks mapping map embedding embeddings embed weights bias dim dims dtype ratio loss dropout heads head "
    "api ring exchange store manager helper handler error errors config conf hash digest fingerprint set list iter"
)
_OWNER_KINDS = {
    "hf": "hf",
    "hub": "hf",
    "huggingface": "hf",
    "hugging": "hf",
    "wandb": "wandb",
    "wb": "wandb",
    "ngc": "ngc",
    "nvidia": "ngc",
    "github": "github",
    "gh": "github",
    "gitlab": "gitlab",
    "gl": "gitlab",
    "aws": "aws",
    "slack": "slack",
    "openai": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "gcp": "google",
}


def words(name: str) -> tuple[str, ...]:
    """The lower-case words of a name, split on everything but letters and digits, and at camelCase humps."""
    return tuple(word.lower() for word in _WORD.findall(name))


@lru_cache(maxsize=4096)
def judge(name: str) -> Name:
    """What `name` (a variable, a key, an option without its dashes, a header) promises."""
    parts = words(name)
    for last in range(len(parts) - 1, -1, -1):
        promise, noun = _at(parts, last)
        if promise is Promise.NONE:
            continue
        promise = _weakened(promise, parts[last + 1 :], name)
        return Name(promise, _kind(parts, noun)) if promise is not Promise.NONE else NOTHING
    return NOTHING


def _at(parts: tuple[str, ...], last: int) -> tuple[Promise, str]:
    """What the word at `last` promises, seen with the word before it."""
    word = parts[last]
    owner = parts[last - 1] if last else ""
    if word in PASSWORD_WORDS or word.endswith(("password", "passwd", "passphrase")):
        return Promise.PASSWORD, "password"
    if word in SECRET_WORDS:
        return Promise.PASSWORD, "credentials" if word.startswith("cred") else "secret"
    if word.endswith(GLUED_ENDS):
        return Promise.STRONG, "key" if word.endswith("key") else "token"
    if word not in WEAK_LAST:
        return Promise.NONE, ""
    if word in ("key", "keys"):
        return _owned(owner, KEY_OWNERS, KEY_OTHERS), "key"
    if word == "token":
        return _owned(owner, TOKEN_OWNERS, TOKEN_OTHERS), "token"
    if word == "tokens":
        return (Promise.WEAK if owner in TOKEN_OWNERS else Promise.NONE), "token"
    if word == "pass":
        return _owned(owner, PASS_OWNERS, PASS_OTHERS), "password"
    if word == "pat":
        return (Promise.STRONG if owner in PAT_OWNERS else Promise.WEAK), "token"
    return Promise.WEAK, {"pwd": "password", "jwt": "jwt", "cookies": "cookie", "secrets": "secret"}.get(
        word, word
    )


def _owned(owner: str, owners: frozenset[str], others: frozenset[str]) -> Promise:
    if owner in others:
        return Promise.NONE
    return Promise.STRONG if owner in owners else Promise.WEAK


def _weakened(promise: Promise, after: tuple[str, ...], name: str) -> Promise:
    """The promise of a secret word that other words follow (`HF_TOKEN_READ`, `TOKEN_FILE`)."""
    if not after or all(word.isdigit() or word in STILL_SECRET for word in after):
        return promise
    if any(word in ABOUT_IT for word in after):
        return Promise.NONE
    return Promise.WEAK if name.isupper() and promise is not Promise.WEAK else Promise.NONE


def _kind(parts: tuple[str, ...], noun: str) -> str:
    """`hf-token` for HF_TOKEN, `aws-secret` for AWS_SECRET_ACCESS_KEY, else the noun alone."""
    owner = next((_OWNER_KINDS[word] for word in parts if word in _OWNER_KINDS), "")
    if owner == "aws" and "secret" in parts:
        return "aws-secret"
    if owner in ("hf", "github", "gitlab", "slack") and noun in ("key", "token", "secret"):
        return f"{owner}-token"
    if owner and noun in ("key", "token", "secret"):
        return f"{owner}-key"
    return noun

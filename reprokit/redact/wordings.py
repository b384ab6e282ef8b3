"""Rules for a value that a word before it gives away without `=` or `:`, and for tags, logins and session values."""

from __future__ import annotations

import re

from reprokit.redact import names, values
from reprokit.redact.names import Promise
from reprokit.redact.rule import Found, Rule, Sample, fake

_SURE = (Promise.STRONG, Promise.PASSWORD)
_NAME = rb"(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,80}+)"
_LITERALS = (b"token", b"secret", b"pass", b"key", b"cred", b"auth", b"jwt")
_SESSION = frozenset("csrf xsrf hmac salt".split())
_SESSION_ENDS = (("session", "id"), ("session",), ("sessionid",), ("jsessionid",), ("phpsessid",))


def _name(match: re.Match[bytes]) -> names.Name:
    return names.judge(match["name"].decode("ascii"))


def _spoken(match: re.Match[bytes]) -> Found | None:
    """`refresh_token VALUE`: prose goes on like this too, so only a random value counts."""
    name, value = _name(match), match["secret"]
    if name.promise is Promise.NONE or not values.looks_random(value, hashes=name.promise in _SURE):
        return None
    if name.promise is Promise.WEAK and not re.fullmatch(rb"[A-Za-z0-9][A-Za-z0-9_-]{23,}", value):
        return None
    return Found(name.kind, *match.span("secret"))


def _listed(match: re.Match[bytes]) -> Found | None:
    """`'x-api-key', 'VALUE'`: names are listed like this too."""
    name = _name(match)
    sure = name.promise in _SURE and values.looks_random(match["secret"], hashes=True)
    return Found(name.kind, *match.span("secret")) if sure else None


def _tag(match: re.Match[bytes]) -> Found | None:
    name, value = _name(match), match["secret"].rstrip()
    if name.promise is Promise.PASSWORD:
        secret = values.plausible_password(value)
    elif name.promise is Promise.STRONG:
        secret = values.plausible(value)
    else:
        secret = name.promise is Promise.WEAK and values.looks_random(value, hashes=True)
    start = match.start("secret")
    return Found(name.kind, start, start + len(value)) if secret else None


def _session(match: re.Match[bytes]) -> Found | None:
    """Numbers, names and UUIDs of sessions stay: only what was drawn at random opens one."""
    parts, value = names.words(match["name"].decode("ascii")), match["secret"]
    kind = next((word for word in parts if word in _SESSION), "")
    if parts[-2:] in _SESSION_ENDS or parts[-1:] in _SESSION_ENDS:
        kind = "session"
    elif parts[-1:] != (kind,):
        return None
    mixed = len(value) >= 32 and all(
        re.search(letters, value) for letters in (rb"[A-Z]", rb"[a-z]", rb"[0-9]")
    )
    joined = re.sub(rb"[+/_-]", b"", value) if mixed else value
    if value.count(b"-") == 4 or not values.looks_random(joined, hashes=True):
        return None
    return Found(kind, *match.span("secret"))


def _login(match: re.Match[bytes]) -> Found | None:
    found = values.plausible_password(match["secret"])
    return Found("password", *match.span("secret")) if found else None


_A = fake(80, 40)
_H = fake(81, 40, "0123456789abcdef")

WORDINGS = (
    Rule(
        "mysql-login",
        "password",
        "MySQL manual: -pPASSWORD, nothing between; 2026-12-01",
        (b"mysql",),
        re.compile(
            rb"\bmysql[a-z_-]{0,20}['\"]?(?=[ ,])[^\r\n;|&\x00]{0,200}?[ ]['\"]?-p"
            rb"['\"]?(?P<secret>[^\s\"',;|&\x00-][^\s\"';|&\x00]{3,4095})"
        ),
        (
            Sample(b"mysql -u root -p" + _A + b" db", (_A,)),
            Sample(b"mysqldump -h h.example -p'pa55wd' db > x", (b"pa55wd",)),
            Sample(b"['mysql', '-p" + _A + b"']", (_A,)),
        ),
        (b"mysql -u root -p db", b"mysql -h h -P 3306 -p$PASS", b"mysql_config --libs; tar -pxzf x.tar"),
        judge=_login,
    ),
    Rule(
        "auth-option",
        "password",
        "httpie, ansible and others: --auth USER:PASSWORD; 2026-12-01",
        (b"auth",),
        re.compile(
            rb"(?<![\w-])--auth(?:[ =]|['\"],[ ]?)['\"]?[A-Za-z0-9_.@-]{1,100}:(?P<secret>[^\s\"',;|&\x00]{4,4096})"
        ),
        (Sample(b"http --auth bob:pa55wd h.example", (b"pa55wd",)), Sample(b"x --auth=bob:" + _A, (_A,))),
        (b"--auth https://h.example/x --auth bob:$PASS --auth user", b"--auth-type basic:on1"),
        judge=_login,
    ),
    Rule(
        "tag",
        "secret",
        "XML 1.0 3.1; settings.xml of Maven and the like; 2026-12-01",
        (b"</",),
        re.compile(
            rb"<(?:[A-Za-z0-9_]{1,40}:)?" + _NAME + rb"(?:[ ][^<>\r\n\x00]{0,200})?>[ \t]{0,20}"
            rb"(?:<!\[CDATA\[)?(?P<secret>[^\s<>\x00][^<>\r\n\x00]{0,4095}?)[ \t]{0,20}(?:\]\]>)?</"
        ),
        (
            Sample(b"<password>hunter22</password>", (b"hunter22",)),
            Sample(b"<s><ApiKey>" + _A + b"</ApiKey><token id='1'>" + _H + b"</token></s>", (_A, _H)),
        ),
        (
            b"<password>${env.PASS}</password> <tokens>4096</tokens>",
            b"<key>decoder.layers</key><token>hello</token>",
            b"<tool_call>get_token</tool_call><eos_token></eos_token>",
        ),
        judge=_tag,
    ),
    Rule(
        "spoken",
        "secret",
        "log lines and configuration files that put a blank between name and value; 2026-12-01",
        _LITERALS,
        re.compile(
            rb"(?<![A-Za-z0-9_.$/%-])" + _NAME + rb"['\"`]?[ \t]{1,8}(?:(?:is|was|=>)[ ])?['\"`]?"
            rb"(?P<secret>[A-Za-z0-9][^\s\"'`<>,;()\[\]\\\x00]{15,4096}+)"
        ),
        (
            Sample(b"PASSPHRASE " + _A, (_A,)),
            Sample(b"got refresh_token " + _A + b", ok", (_A,)),
            Sample(b"the API_KEY is " + _H, (_H,)),
        ),
        (
            b"key 4f1c90d27ae85b63019d7e42c8a5f3b6d1204e97 token 123456789012345678901234",
            b"access token authentication_not_configured, tokenizer Qwen2ForSequenceClassification12",
            b"password for 7c1f0b9e44d2a86530e7bb1295cfa0d83e61274f",
            b"the password authenticates at registry.example.com:5000/x",
        ),
        judge=_spoken,
    ),
    Rule(
        "listed",
        "secret",
        "headers and environments printed as pairs: ('x-api-key', 'VALUE'); 2026-12-01",
        _LITERALS,
        re.compile(
            rb"['\"]" + _NAME + rb"['\"],[ \t]{0,8}[bru]?['\"](?P<secret>[A-Za-z0-9][^\s\"'\\\x00]{15,4096}+)"
        ),
        (
            Sample(b"[(b'x-goog-api-key', b'" + _A + b"')]", (_A,)),
            Sample(b"'api-key', '" + _H + b"'", (_H,)),
        ),
        (b"['api_key', 'aws_secret_access_key_id', 'client_secret']", b"('key', '" + _H + b"')"),
        judge=_listed,
    ),
    Rule(
        "session-value",
        "session",
        "web sessions, OWASP CSRF tokens, keyed digests and salts; 2026-12-01",
        (b"sess", b"srf", b"hmac", b"salt"),
        re.compile(
            rb"(?<![A-Za-z0-9_.$-])" + _NAME + rb"['\"]?[ \t]{0,4}(?:=(?!=)|:|[ \t]=>)[ \t]{0,4}[bru]?['\"]?"
            rb"(?P<secret>[A-Za-z0-9][A-Za-z0-9+/_.~%-]{15,4096}+={0,2})"
        ),
        (
            Sample(b"session_id=" + _A, (_A,)),
            Sample(b"csrf=" + _A + b" HMAC=" + _H, (_A, _H)),
            Sample(b'"salt": "' + _A + b'"', (_A,)),
        ),
        (
            b"session_id=12 session_id=123456789012345678 salt_bridge=3 .salt(x)",
            b"session_id: 123e4567-e89b-12d3-a456-426614174000 session=tf.compat.v1.Session",
            b"hmac=hashlib.new(name) salt: iteration_number_of_this csrf=CsrfViewMiddlewareClass",
            b"saltstack=" + _A,
        ),
        judge=_session,
    ),
)

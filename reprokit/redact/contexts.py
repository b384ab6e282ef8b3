"""Rules for values that only their surroundings give away: headers, URLs, logins, key blocks on one line."""

from __future__ import annotations

import base64
import re

from reprokit.redact import values
from reprokit.redact.rule import Found, Rule, Sample, fake


def _wandb(match: re.Match[bytes]) -> Found | None:
    value = match["secret"]
    return Found("wandb-key", *match.span("secret")) if values.looks_random(value, hashes=True) else None


def _basic(match: re.Match[bytes]) -> Found | None:
    return Found("docker-auth", *match.span("secret")) if values.is_basic(match["secret"]) else None


def _header(match: re.Match[bytes]) -> Found | None:
    """After a bare `Bearer` a plain word is prose; after the header's name everything but a reference counts."""
    value = match["secret"]
    if values.is_placeholder(value):
        return None
    if not match["header"] and not values.looks_random(value, hashes=True):
        return None
    if match["header"] and not match["scheme"] and (not values.plausible(value) or values.is_code(value)):
        return None
    return Found("auth-header", *match.span("secret"))


def _url(match: re.Match[bytes]) -> Found | None:
    value = match["secret"]
    if values.is_placeholder(value) or re.fullmatch(
        rb"[0-9]{1,5}(?:[?#].*)?|(?i:pass(?:word|wd)?|pwd|token|x-oauth-basic|x-access-token)", value
    ):
        return None
    return Found("url-password", *match.span("secret"))


def _url_user(match: re.Match[bytes]) -> Found | None:
    found = values.looks_random(match["secret"], hashes=True)
    return Found("url-password", *match.span("secret")) if found else None


def _login(match: re.Match[bytes]) -> Found | None:
    value = match["secret"]
    kind = "password"
    if values.is_placeholder(value) or value.startswith(b"-"):
        return None
    return Found(kind, *match.span("secret"))


def _netrc(match: re.Match[bytes]) -> Found | None:
    value = match["secret"]
    if match["login"] or values.looks_random(value, hashes=True):
        return None if values.is_placeholder(value) else Found("password", *match.span("secret"))
    return None


def _key_text(match: re.Match[bytes]) -> Found | None:
    body = re.sub(rb"\\{1,2}[nr]|[^A-Za-z0-9+/=]", b"", match["secret"])
    return Found("private-key", *match.span("secret")) if len(body) >= 16 else None


_A = fake(50, 24)
_W = fake(51, 40, "0123456789abcdef")
_KEY = b" ".join((b"RSA", b"PRIVATE", b"KEY"))
_BASIC = base64.b64encode(b"user:" + _A)

CONTEXTS = (
    Rule(
        "wandb-login",
        "wandb-key",
        "docs.wandb.ai: wandb login, wandb.login(key=), 40 hex digits; -wdk of Megatron-Bridge's launcher; 2026-11-30",
        (b"wandb", b"-wdk"),
        re.compile(
            rb"(?:wandb[ ]login(?:[ ]--?[a-z-]+(?:=\S+)?){0,4}[ ]"
            rb"|wandb\.login\([^)\r\n]{0,80}?key[ ]?=[ ]?"
            rb"|(?<!\S)['\"]?-wdk(?:[ =]{1,4}|['\"],[ ]?)"
            rb"|wandb: [^\r\n]{0,120}hit enter[^:\r\n]{0,40}:[ ]?|wandb: (?:api[ ])?key:?[ ])['\"]?"
            rb"(?P<secret>[A-Za-z0-9_-]{16,120})",
            re.IGNORECASE,
        ),
        (
            Sample(b"wandb login " + _W, (_W,)),
            Sample(b"wandb login --relogin --host=https://w.example local-" + _W, (b"local-" + _W,)),
            Sample(b'wandb.login(key="' + _W + b'")', (_W,)),
            Sample(b"setup_experiment.py -wdk " + _W + b" -g b200", (_W,)),
            Sample(b"wandb: key " + _W + b" loaded", (_W,)),
            Sample(b"['a.py', '-wdk', '" + _W + b"']", (_W,)),
        ),
        (
            b"wandb: run at commit 7c1f0b9e44d2a86530e7bb1295cfa0d83e61274f",
            b"wandb login required",
            b"see wandb.login(timeout=30)",
        ),
        judge=_wandb,
    ),
    Rule(
        "authorization",
        "auth-header",
        "RFC 9110 11.6.2, RFC 6750, RFC 7617",
        (b"auth", b"bearer"),
        re.compile(
            rb"(?i:(?P<header>\bauthorization\\{0,3}[\"']?[ ]{0,4}[:=][ ]{0,4}\\{0,3}[\"']?)"
            rb"(?P<scheme>(?:bearer|basic|token|digest|negotiate|apikey)[ ]{1,4})?"
            rb"|\bbearer(?:[ ]{1,4}|[ ]?[:=][ ]{0,4}[\"']?))"
            rb"(?!(?i:bearer|basic|token|digest|negotiate|apikey)\b)"
            rb"(?P<secret>[^\s\"'`\\,;<>\x00]{4,8192})"
        ),
        (
            Sample(b"> Authorization: Bearer " + _A, (_A,)),
            Sample(b'{"authorization": "Basic ' + _BASIC + b'"}', (_BASIC,)),
            Sample(b"curl -H 'Authorization: token " + _A + b"' url", (_A,)),
            Sample(b"sending bearer " + _A, (_A,)),
            Sample(b"Bearer: " + _A, (_A,)),
        ),
        (
            b"Authorization: Bearer $TOKEN",
            b"uses bearer authentication",
            b'WWW-Authenticate: Bearer realm="registry"',
            b"Authorization: <redacted>",
        ),
        judge=_header,
    ),
    Rule(
        "cookie",
        "cookie",
        "RFC 6265 4.1, 4.2",
        (b"cookie",),
        re.compile(
            rb"(?i:(?<![A-Za-z0-9_.])(?:set-)?cookie:)[ ]{0,4}(?P<secret>[^\s\x00\x01=;]{1,200}=[^\r\n\x00'\"]{4,8192})"
        ),
        (Sample(b"< Set-Cookie: sid=" + _A + b"; path=/", (b"sid=" + _A + b"; path=/",)),),
        (b"cookie: none", b"magic cookie: 17"),
    ),
    Rule(
        "url-password",
        "url-password",
        "RFC 3986 3.2.1 (user information)",
        (b"://",),
        re.compile(
            rb"(?i:[a-z][a-z0-9+.-]{1,30}://)[^\s:/?#@\"'<>\x00]{0,200}:(?P<secret>[^\s/\"'<>\x00]{1,4096})@(?=[A-Za-z0-9\[$])"
        ),
        (
            Sample(b"git clone https://alice:pa55@git.example/x.git", (b"pa55",)),
            Sample(b"redis://:p@ss@10.0.0.7:6379/0", (b"p@ss",)),
        ),
        (
            b"tcp://10.0.0.7:29500 user@host",
            b"https://git:$TOKEN@host/x",
            b"https://user:****@host/",
            b"http://h:80?m=a@b",
            b"ssh://git@github.com:22/x",
        ),
        judge=_url,
    ),
    Rule(
        "url-user",
        "url-password",
        "RFC 3986 3.2.1: a token in the place of the user",
        (b"://",),
        re.compile(
            rb"(?i:[a-z][a-z0-9+.-]{1,30}://)(?P<secret>[^\s:/?#@\"'<>\x00]{16,4096})@(?=[A-Za-z0-9\[])"
        ),
        (Sample(b"pip install git+https://" + _A + b"@git.example/x.git", (_A,)),),
        (b"ssh://a-long-user-name-here@host/x", b"docker://$oauthtoken@nvcr.io#nvidia/nemo"),
        judge=_url_user,
    ),
    Rule(
        "docker-auth",
        "docker-auth",
        "docs.docker.com, config.json: auths.REGISTRY.auth is base64 of user:password; 2026-11-30",
        (b"auth",),
        re.compile(
            rb"\\{0,3}\"auth\\{0,3}\"\s{0,8}:\s{0,8}\\{0,3}\"(?P<secret>[A-Za-z0-9+/=]{8,4096})(?=\\{0,3}\")"
        ),
        (Sample(b'"nvcr.io": {"auth": "' + _BASIC + b'"}', (_BASIC,)),),
        (b'{"auth": "required"}', b'"auth": "aaaaaaaaaaaa"'),
        judge=_basic,
    ),
    Rule(
        "docker-login",
        "password",
        "docs.docker.com, docker login -p, --password; podman, apptainer and helm likewise; 2026-11-30",
        (b"login",),
        re.compile(
            rb"(?:registry|docker|podman|nerdctl|skopeo|apptainer|helm)\b[^\r\n;|&]{0,40}\blogin\b[^\r\n;|&]{0,200}?"
            rb"[ ]-p[ =]?['\"]?(?P<secret>[^\s\"'\x00]{1,4096})"
        ),
        (Sample(b"docker login -u '$oauthtoken' -p " + _A + b" nvcr.io", (_A,)),),
        (b"docker login -u user --password-stdin nvcr.io", b"docker login -p $NGC_API_KEY"),
        judge=_login,
    ),
    Rule(
        "program-login",
        "password",
        "man pages of curl (-u user:password) and sshpass (-p); 2026-11-30",
        (b"curl", b"sshpass"),
        re.compile(
            rb"(?:\bcurl\b[^\r\n;|]{0,400}?[ ](?:-u|--user)[ =]['\"]?[^\s:\"'\x00]{1,200}:|\bsshpass[ ]-p[ ]?['\"]?)"
            rb"(?P<secret>[^\s\"'\x00]{1,4096})"
        ),
        (
            Sample(b"curl -s -u alice:pa55 https://git.example/x", (b"pa55",)),
            Sample(b"sshpass -p pa55 ssh node-a", (b"pa55",)),
        ),
        (b"curl -u alice https://h:80/x", b"curl -u alice:$PASS https://h", b"sshpass -e ssh node-a"),
        judge=_login,
    ),
    Rule(
        "netrc",
        "password",
        "GNU inetutils .netrc: machine, login, password on one line or each on its own",
        (b"pass",),
        re.compile(
            rb"(?:(?P<login>\blogin[ \t]{1,8}\S{1,200}[ \t]{1,8}password)|^\s{0,8}password)[ \t]{1,8}"
            rb"(?P<secret>\S{1,4096})(?=\s|$)"
        ),
        (
            Sample(b"machine api.wandb.ai login user password " + _W, (_W,)),
            Sample(b"  password " + _W, (_W,)),
        ),
        (b"password required", b"  password authentication failed"),
        judge=_netrc,
    ),
    Rule(
        "private-key-line",
        "private-key",
        "RFC 7468 text of a private key on one line, as in JSON and in printed variables",
        (b"key",),
        re.compile(
            rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            rb"(?P<secret>(?:[A-Za-z0-9+/=\\ \t:,.()]|-(?!----)){16,32768}+)(?=-----END|[\"'\r\n\x00]|$)"
        ),
        (
            Sample(
                b'"-----BEGIN %s-----\\n%s\\n-----END %s-----"' % (_KEY, fake(52, 64), _KEY),
                (b"\\n" + fake(52, 64) + b"\\n",),
            ),
        ),
        (b"-----BEGIN %s-----" % _KEY, b"-----BEGIN PUBLIC KEY-----\\nAAAA"),
        judge=_key_text,
    ),
)

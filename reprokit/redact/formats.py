"""Rules for values that tell what they are by their own prefix, wherever they stand."""

from __future__ import annotations

import re

from reprokit.redact.rule import Rule, Sample, WrapRule, fake

# A format may start after anything but a letter or digit, or after an escape: \n, %3D, \u003d.
_BEFORE = rb"(?:(?<![A-Za-z0-9])|(?<=\\[abfnrtv])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9A-Fa-f]{4}))"
_AFTER = rb"(?![A-Za-z0-9])"


def _format(
    name: str,
    kind: str,
    source: str,
    prefixes: str,
    rest: str,
    positive: tuple[bytes, ...],
    negative: tuple[bytes, ...],
    literals: str = "",
) -> Rule:
    """One rule; `prefixes` and `literals` are separated by blanks, `rest` is a regex for what follows them."""
    heads = tuple(prefix.encode() for prefix in prefixes.split())
    head = b"|".join(re.escape(prefix) for prefix in heads)
    return Rule(
        name=name,
        kind=kind,
        source=source,
        literals=tuple((literals or prefixes).lower().encode().split()),
        pattern=re.compile(_BEFORE + rb"(?P<secret>(?:" + head + rb")" + rest.encode() + rb")" + _AFTER),
        positive=tuple(Sample(b"x = '" + sample + b"', y", (sample,)) for sample in positive),
        negative=negative,
    )


FORMATS = (
    _format(
        "hugging-face",
        "hf-token",
        "huggingface.co/docs/hub/security-tokens, secret scanners' rules; 2026-11-30",
        "hf_ api_org_",
        r"(?:oauth_)?[A-Za-z0-9]{30,255}",
        (b"hf_" + fake(1, 34), b"hf_oauth_" + fake(2, 40), b"api_org_" + fake(3, 34)),
        (b"hf_transfer hf_hub_download hf_checkpoint_conversion", b"HF_TOKEN is not set: hf_xxx", b"xhf_A"),
    ),
    _format(
        "wandb-v1",
        "wandb-key",
        "key form of wandb 0.23 and later: wandb_v1_ and 77 characters; 2026-11-30",
        "wandb_v1_",
        r"[A-Za-z0-9_]{30,120}",
        (b"wandb_v1_" + fake(4, 22) + b"_" + fake(5, 54),),
        (b"wandb_v1_xxxxx wandb_v1_migration_test",),
        literals="wandb",
    ),
    _format(
        "ngc",
        "ngc-key",
        "NVIDIA build and NGC personal keys: nvapi- and 64 characters; 2026-11-30",
        "nvapi-",
        r"[A-Za-z0-9_-]{20,120}",
        (b"nvapi-" + fake(6, 60), b"nvapi-" + fake(7, 30) + b"-_" + fake(8, 32)),
        (b"nvapi-key nvapi-get-driver-version",),
    ),
    _format(
        "github",
        "github-token",
        "docs.github.com, about authentication to GitHub, token formats; 2026-11-30",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"[A-Za-z0-9]{36,255}(?:[._-][A-Za-z0-9_-]{8,2000}){0,3}",
        (
            b"ghp_" + fake(9, 36),
            b"gho_" + fake(10, 36),
            b"ghu_" + fake(11, 36),
            b"ghs_" + fake(12, 36),
            b"ghr_" + fake(13, 76),
        ),
        (b"ghp_short ghs_not_a_token",),
    ),
    _format(
        "github-fine-grained",
        "github-token",
        "docs.github.com: github_pat_, 22, _, 59 characters; 2026-11-30",
        "github_pat_",
        r"[A-Za-z0-9_]{22,255}",
        (b"github_pat_" + fake(14, 22) + b"_" + fake(15, 59),),
        (b"github_pat_rotation",),
    ),
    _format(
        "gitlab",
        "gitlab-token",
        "docs.gitlab.com, token overview, token prefixes (routable form too); 2026-11-30",
        "glpat- gldt- glrt- glcbt- glptt- glsoat-",
        r"[A-Za-z0-9_-]{20,320}(?:\.[A-Za-z0-9]{2}\.?[a-z0-9]{7,9})?",
        (
            b"glpat-" + fake(16, 20),
            b"glrt-" + fake(17, 27) + b".01." + fake(18, 9, "abcdef0123456789"),
            b"gldt-" + fake(19, 20),
        ),
        (b"glpat-short",),
    ),
    _format(
        "aws-key-id",
        "aws-key-id",
        "docs.aws.amazon.com IAM, unique identifiers (AKIA, ASIA, ABIA, ACCA); 2026-11-30",
        "AKIA ASIA ABIA ACCA",
        r"[A-Z2-7]{16}",
        (b"AKIA" + fake(20, 16, "QWERTYUIOPASDFGH234567"), b"ASIA" + fake(21, 16, "ZXCVBNMLKJ765432")),
        (b"AKIA in lower case: akiaqwertyuiopasdfgh, ASIA-PACIFIC", b"EURASIAQWERTYUIOPASDFGH"),
    ),
    _format(
        "slack",
        "slack-token",
        "api.slack.com/concepts/token-types (xoxb, xoxp, xapp, ...); 2026-11-30",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxp- xoxr- xoxs- xoxe. xapp-",
        r"[A-Za-z0-9%.-]{10,400}",
        (b"xoxb-" + fake(22, 11, "0123456789") + b"-" + fake(23, 24), b"xapp-1-" + fake(24, 40)),
        (b"xoxb-token xapp-name",),
        literals="xox xapp-",
    ),
    _format(
        "slack-webhook",
        "slack-webhook",
        "api.slack.com/messaging/webhooks; 2026-11-30",
        "hooks.slack.com/",
        r"(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,120}",
        (b"hooks.slack.com/services/T" + fake(25, 9) + b"/B" + fake(26, 9) + b"/" + fake(27, 24),),
        (b"https://hooks.slack.com/services/",),
        literals="hooks.slack",
    ),
    _format(
        "anthropic",
        "anthropic-key",
        "platform.claude.com/docs API keys: sk-ant- and kind; 2026-11-30",
        "sk-ant-",
        r"[A-Za-z0-9_-]{20,255}",
        (b"sk-ant-api03-" + fake(28, 40) + b"-_" + fake(29, 52),),
        (b"sk-ant-key",),
        literals="sk-",
    ),
    _format(
        "openai",
        "openai-key",
        "secret scanners' rules: sk-, sk-proj-, sk-svcacct-, sk-admin-, OpenRouter sk-or-; 2026-11-30",
        "sk-",
        r"(?:(?:proj|svcacct|admin|None|or-v1)-[A-Za-z0-9_-]{20,255}|[A-Za-z0-9]{32,128})",
        (
            b"sk-" + fake(30, 48),
            b"sk-proj-" + fake(31, 40) + b"_" + fake(32, 60),
            b"sk-svcacct-" + fake(33, 50),
        ),
        (b"task-0123456789abcdef0123456789abcdef", b"sk-learn sk-proj-name"),
    ),
    _format(
        "google-api",
        "google-key",
        "cloud.google.com/docs/authentication/api-keys: AIza and 35 characters; 2026-11-30",
        "AIza",
        r"[A-Za-z0-9_-]{35}",
        (b"AIza" + fake(34, 35),),
        (b"AIza short",),
    ),
    _format(
        "google-oauth",
        "google-token",
        "Google OAuth access token and client secret prefixes; 2026-11-30",
        "ya29. GOCSPX-",
        r"[A-Za-z0-9_-]{20,2000}",
        (b"ya29." + fake(35, 80), b"GOCSPX-" + fake(36, 28)),
        (b"ya29.x GOCSPX-",),
    ),
    _format(
        "docker-hub",
        "docker-token",
        "docs.docker.com, access tokens: dckr_pat_, dckr_oat_; 2026-11-30",
        "dckr_pat_ dckr_oat_",
        r"[A-Za-z0-9_-]{20,120}",
        (b"dckr_pat_" + fake(37, 27),),
        (b"dckr_pat_short",),
        literals="dckr_",
    ),
    _format(
        "jwt",
        "jwt",
        "RFC 7519 compact form: base64url of a JSON header, dot, payload, dot, signature (JWE: five parts)",
        "eyJ",
        r"[A-Za-z0-9_-]{8,4000}+\.[A-Za-z0-9_-]{4,8000}+(?:\.[A-Za-z0-9_-]*){1,3}",
        (b"eyJ" + fake(38, 20) + b".eyJ" + fake(39, 60) + b"." + fake(40, 43),),
        (b"eyJustAWord eyJ.x", b"eyJhbGciOiJIUzI1NiJ9 alone"),
    ),
)

WRAPS = (
    WrapRule("hugging-face", "hf-token", b"hf_", 34),
    WrapRule("github", "github-token", b"ghp_", 36),
    WrapRule("github", "github-token", b"ghs_", 36),
)
"""Formats that are healed when a terminal or a mailer cut them in two at a line's end."""

"""Stand-ins for hosts, users, home paths, accounts, addresses: what a kit keeps and a public text must not show.

The same value gets the same stand-in in every text that passes through one `StandIns`, so ranks and nodes stay
tellable apart: `host-1`, `user-2`, `/path-1/src/optimizer.py`. Line ends, sizes, rank tags, the grammar of host
lists and what follows a known path stay. Everyday words and names under three characters are never replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from reprokit.redact import addresses, hostlists
from reprokit.redact.any_of import any_of
from reprokit.redact.common_words import FILE_ENDS, is_distinctive, stands_alone, stays
from reprokit.redact.places import PLACES

KINDS = frozenset(("host", "user", "path", "account", "registry", "ip", "email"))
_ALIASES = {
    "hosts": "host", "hostname": "host", "hostnames": "host", "node": "host", "users": "user", "username": "user",
    "paths": "path", "home": "path", "home_path": "path", "work": "path", "kit": "path", "ips": "ip",
    "private_ip": "ip", "emails": "email", "accounts": "account", "slurm_account": "account",
    "registries": "registry",
}  # fmt: skip
# What may stand before the first slash of a path, looked at from behind that slash.
_ROOT = r"/(?:(?<![\w.~/-]/)|(?<=:///)|(?<=-[A-Za-z]/)|(?<=\\[nrt]/))"
_PATH_END = r"(?![A-Za-z0-9_-])(?!\.[A-Za-z0-9])"
_HOME = re.compile(
    rf"{_ROOT}(?:(?:[\w.@+-]+/){{0,12}}?(?:home|Users|users)/[A-Za-z_][\w.-]*|root(?=[/\s\"':,)]|$))"
)
_EMAIL = re.compile(
    r"(?<![\w.+-])[A-Za-z0-9_.+-]{2,64}@(?!self\b)(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}(?![\w-]|:[/~0-9])"
)
_LOGIN = re.compile(r"(?<![\w./@+-])[A-Za-z_][\w.-]{0,63}@(?!sha[0-9])[A-Za-z0-9][\w.-]*(?=:)")
_NAME_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_DOMAIN = r"(?P<domain>(?:\.[A-Za-z][A-Za-z0-9-]*)*)"
_PUBLIC_HOSTS = ("github.com", "gitlab.com", "ssh.github.com", "bitbucket.org", "hf.co")
_NUMBERED = re.compile(r"/?(?P<kind>[a-z]+(?:-[a-z]+)*)-(?P<number>[0-9]{1,6})")
_MOST_PASSES = 8


class StandIns:
    """Replaces identities in texts. `known`: kind -> values, numbered in the order given, from 1 per kind.

    Kinds are free words (`host`, `user`, `path`, `account`, `registry`, `ip`, ...); a value that starts with `/` is
    a path. Values that texts give away themselves (places.py, addresses, home paths) are added as they are met, so
    run `apply` over all texts of a hand-over with one object, the one with the most names first.
    """

    def __init__(self, known: Mapping[str, Iterable[str]]) -> None:
        self._stand_ins: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._free: set[str] = set()  # replaced anywhere, not only in places that tell
        self._paths: re.Pattern[str] | None = None
        self._names: re.Pattern[str] | None = None
        self._refused: list[str] = []
        values = [
            (_ALIASES.get(kind, kind), value.strip()) for kind, group in known.items() for value in group
        ]
        self._known_kinds = KINDS | {kind for kind, _ in values}
        self._reserved = {value for _, value in values if self._looks_numbered(value)}
        for kind, value in values:
            if value and self._register(kind, value, free=True) is None and value not in self._refused:
                self._refused.append(value)

    @property
    def mapping(self) -> dict[str, str]:
        """Value -> stand-in, in order of registration. Private: it undoes what `apply` does."""
        return dict(self._stand_ins)

    @property
    def refused(self) -> tuple[str, ...]:
        """Given values that stay: too short, everyday words, or stand-ins by their own form."""
        return tuple(self._refused)

    def apply(self, text: str) -> str:
        """`text` with every identity replaced. Doing it again changes nothing more."""
        for _ in range(_MOST_PASSES):
            known = len(self._free)
            lines = [self._line(line) for line in text.split("\n")]
            if len(self._free) == known:
                return "\n".join(lines)
            text = "\n".join(lines)  # a name met further down may stand further up as well
        return text

    def remaining(self, text: str) -> tuple[int, ...]:
        """Lines of `text` (1 = first) that `apply` would still change: for refusing on the way out."""
        pairs = zip(text.split("\n"), self.apply(text).split("\n"), strict=True)
        return tuple(number for number, (before, after) in enumerate(pairs, 1) if before != after)

    def _line(self, line: str) -> str:
        for _ in range(_MOST_PASSES):
            before = line
            for place in PLACES:
                if place.literal in line:
                    line = place.pattern.sub(partial(self._at_place, place.kind), line)
            for pattern, swap in self._steps(line):
                line = pattern.sub(swap, line)
            if line == before:
                break
        return line

    def _steps(self, line: str) -> Iterable[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]:
        """What to look for in a line, in this order; what cannot be on it is left out."""
        paths, names = self._compiled()
        if "/" in line:
            yield paths, lambda match: self._stand_ins[match[0]]
            yield _HOME, self._home
        if "@" in line:
            yield _EMAIL, lambda match: self._email(match[0])
            yield _LOGIN, lambda match: self._login(match[0])
        if "." in line:
            yield addresses.IPV4, partial(self._address, addresses.is_host_address4)
        if addresses.MAYBE_IPV6.search(line):
            yield addresses.IPV6, partial(self._address, addresses.is_host_address6)
        if "[" in line:
            yield hostlists.PATTERN, lambda match: self._list(match[0])
        yield names, self._name

    def _compiled(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        if self._paths is None or self._names is None:
            paths = any_of(value[1:] for value in self._free if value.startswith("/"))
            names = any_of(value for value in self._free if not value.startswith("/"))
            self._paths = re.compile(_ROOT + paths + _PATH_END)
            self._names = re.compile(rf"{_NAME_START}(?P<known>{names})(?![A-Za-z0-9]){_DOMAIN}")
        return self._paths, self._names

    def _register(self, kind: str, value: str, *, free: bool = False) -> str | None:
        """The stand-in of `value`, new or known; None if it stays. A host's first label stands for its full name."""
        if value.startswith("/"):
            kind, value = "path", value.rstrip("/")
        if value not in self._stand_ins:
            if self._looks_numbered(value) or stays(value):
                return None
            short = value.partition(".")[0] if kind == "host" else value
            stand_in = self._stand_ins.get(short) or self._next(kind)
            if short != value and is_distinctive(short) and not stays(short):
                self._add(kind, short, stand_in, free)
            self._add(kind, value, stand_in, free)
        elif free and value not in self._free:
            self._add(self._kinds[value], value, self._stand_ins[value], free)
        return self._stand_ins[value]

    def _add(self, kind: str, value: str, stand_in: str, free: bool) -> None:
        self._stand_ins.setdefault(value, stand_in)
        self._kinds.setdefault(value, kind)
        if free:
            self._free.add(value)
            self._paths = self._names = None

    def _next(self, kind: str) -> str:
        while True:
            self._numbers[kind] = self._numbers.get(kind, 0) + 1
            stand_in = f"{'/' if kind == 'path' else ''}{kind}-{self._numbers[kind]}"
            if stand_in not in self._reserved:
                return stand_in

    def _looks_numbered(self, value: str) -> bool:
        """Whether a value is a stand-in by its form: it stays, and its number is given to nothing else."""
        match = _NUMBERED.fullmatch(value)
        return match is not None and match["kind"] in self._known_kinds

    def _named(self, kind: str, value: str, *, free: bool = False) -> str:
        return self._register(kind, value, free=free) or value

    def _home(self, match: re.Match[str]) -> str:
        home = match[0]
        ended = not match.string.startswith("/", match.end())
        if "-packages/" in home or (ended and home.rpartition(".")[2] in FILE_ENDS):
            return home
        kept = home.rstrip(".") if ended else home  # a full stop after it
        return self._named("path", kept) + home[len(kept) :]

    def _email(self, text: str) -> str:
        return (
            text if text.endswith(_PUBLIC_HOSTS) and text.startswith("git@") else self._named("email", text)
        )

    def _login(self, text: str) -> str:
        user, _, host = text.partition("@")
        if user == "git" and host.endswith(_PUBLIC_HOSTS):
            return text
        kind = "ip" if host.replace(".", "").isdigit() else "host"
        return f"{self._named('user', user)}@{self._named(kind, host)}"

    def _address(self, test: Callable[[str, int, int], bool], match: re.Match[str]) -> str:
        return self._named("ip", match[0]) if test(match.string, *match.span()) else match[0]

    def _list(self, text: str) -> str:
        """A host list that names a known host; anything else, `layers[1]`, stays."""
        names = hostlists.expand(text)
        if not any(name in self._free for name in names):
            return text
        return hostlists.compress([self._named("host", name, free=True) for name in names])

    def _at_place(self, kind: str, match: re.Match[str]) -> str:
        pieces = re.findall(r"[^,\[]+(?:\[[^\]]*\][^,\[]*)*|,", match["value"])
        return match["before"] + "".join(self._placed(kind, piece) for piece in pieces)

    def _placed(self, kind: str, piece: str) -> str:
        names = hostlists.expand(piece)
        if names:
            return hostlists.compress([self._named(kind, name, free=is_distinctive(name)) for name in names])
        return self._named(kind, piece, free=is_distinctive(piece))

    def _name(self, match: re.Match[str]) -> str:
        value, domain = match["known"], match["domain"]
        kind, stand_in = self._kinds[value], self._stand_ins[value]
        if not stands_alone(match.string, *match.span("known"), kind):
            return match[0]
        if kind == "host" and domain and domain.rpartition(".")[2].lower() not in FILE_ENDS:
            return stand_in  # the full name of the same host
        return stand_in + domain

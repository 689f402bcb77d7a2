"""robots.txt by RFC 9309: read once, then asked per URL. Pure: it fetches nothing and keeps nothing.

A robots.txt comes from a stranger, so reading it costs time linear in its size, and asking is a few look-ups for rules
without a star and one linear scan for each rule with one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

PRODUCT = "holdfast"
ROBOTS_PATH = "/robots.txt"
ROBOTS_BYTES_MAX = 500 * 1024
CRAWL_DELAY_S_MAX = 60.0
RULE_SHOWN_MAX = 200

_TOKEN = re.compile(r"[a-zA-Z_-]+")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True, slots=True)
class Robots:
    """The rules for our product token. `plain` rules match as prefixes; `starred` ones have `*` or end in `$`."""

    plain: dict[str, bool] = field(default_factory=dict)  # pattern -> allowed?
    lengths: tuple[int, ...] = ()  # of the plain patterns, longest first
    starred: tuple[tuple[str, bool], ...] = ()  # longest first, and allowed before disallowed
    crawl_delay_ms: int | None = None

    @property
    def weight(self) -> int:
        """How much memory it takes, in rules."""
        return 1 + len(self.plain) + len(self.starred)

    def barring(self, path: str) -> str:
        """The rule that forbids this path with its query, as `Disallow: /private/`; empty where it is allowed.

        The longest matching pattern decides, and of two equally long ones the one that allows.
        """
        if not (self.plain or self.starred) or path == ROBOTS_PATH:
            return ""
        normal = _normal(path)
        pattern, allowed = self._by_prefix(normal)
        for text, verdict in self.starred:
            if len(text) < len(pattern):
                break
            if (len(text) > len(pattern) or (verdict and not allowed)) and _matches(text, normal):
                pattern, allowed = text, verdict
                break
        return "" if allowed else f"Disallow: {pattern}"[:RULE_SHOWN_MAX]

    def _by_prefix(self, path: str) -> tuple[str, bool]:
        for length in self.lengths:
            if length <= len(path) and (allowed := self.plain.get(path[:length])) is not None:
                return path[:length], allowed
        return "", True


ALL_ALLOWED = Robots()


def read_robots(body: bytes, product: str = PRODUCT) -> Robots:
    """The rules of all groups that name our product, else of those for `*`; what cannot be read is passed over."""
    ours: list[tuple[str, str]] = []
    everybody: list[tuple[str, str]] = []
    agents: set[str] = set()
    in_rules = named = False
    for key, value in _lines(body):
        if key == "user-agent":
            agents = {_agent(value)} if in_rules else agents | {_agent(value)}
            in_rules = False
            named = named or product in agents
        elif key in ("allow", "disallow", "crawl-delay"):
            in_rules = True
            if product in agents:
                ours.append((key, value))
            if "*" in agents:
                everybody.append((key, value))
    return _compiled(ours if named else everybody)


def _lines(body: bytes) -> Iterator[tuple[str, str]]:
    """Key and value per line, of the part that counts; a line that the limit cuts is none."""
    part = body[: ROBOTS_BYTES_MAX + 1]
    if len(part) > ROBOTS_BYTES_MAX:
        part = part[: max(part.rfind(b"\n"), part.rfind(b"\r")) + 1]
    # Not by the codec `utf-8-sig`: that is a module to be loaded, in the middle of a crawl, from a disk that may fail.
    for line in re.split(r"[\r\n]+", part.decode("utf-8", "replace").removeprefix("\ufeff")):
        key, colon, value = line.partition("#")[0].partition(":")
        if colon:
            yield key.strip().lower(), value.strip()


def _agent(value: str) -> str:
    """`Holdfast/2.0` names `holdfast`."""
    if value.startswith("*"):
        return "*"
    token = _TOKEN.match(value)
    return token[0].lower() if token else ""


def _compiled(rules: list[tuple[str, str]]) -> Robots:
    plain: dict[str, bool] = {}
    starred: dict[str, bool] = {}
    delays: list[int] = []
    for key, value in rules:
        if key == "crawl-delay":
            delays += _delay(value)
        elif value.startswith(("/", "*")):  # an empty rule forbids nothing, and no path begins otherwise
            pattern = _normal(value)
            kind = starred if "*" in pattern or pattern.endswith("$") else plain
            kind[pattern] = kind.get(pattern, False) or key == "allow"
    return Robots(
        plain,
        tuple(sorted({len(pattern) for pattern in plain}, reverse=True)),
        tuple(sorted(starred.items(), key=lambda rule: (-len(rule[0]), not rule[1], rule[0]))),
        max(delays, default=None),
    )


def _delay(value: str) -> list[int]:
    try:
        seconds = float(value)
    except ValueError:
        return []
    return [round(min(seconds, CRAWL_DELAY_S_MAX) * 1000)] if seconds >= 0 else []


def _matches(pattern: str, path: str) -> bool:
    """Each part between stars at its first place after the one before: that is linear, and as good as any other."""
    anchored = pattern.endswith("$")
    first, *rest = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    if not rest:
        return not anchored or path == first
    at = len(first)
    last = rest.pop()
    for part in rest:
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return path.endswith(last) and len(path) - len(last) >= at if anchored else path.find(last, at) >= 0


def _normal(text: str) -> str:
    """One spelling of what percent-encoding can spell in several ways."""
    if not text.isascii() or " " in text:
        text = quote(text, safe=_PRINTABLE, errors="replace")
    return _ESCAPE.sub(_one_escape, text) if "%" in text else text


def _one_escape(found: re.Match[str]) -> str:
    char = chr(int(found[1], 16))
    return char if char in _UNRESERVED else f"%{found[1].upper()}"

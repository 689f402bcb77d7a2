"""robots.txt by RFC 9309: read once, then asked per URL. Pure: it fetches nothing and keeps nothing.

It is read as leniently as the large crawlers read it, where the author's wish is plain (docs/decisions/0042). A
robots.txt comes from a stranger, so reading it costs time linear in its size; what asking costs, robots_rules.py says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from holdfast.policy.robots_rules import NO_RULES, STARRED_MAX, RobotsRules, rules_of

PRODUCT = "holdfast"
ROBOTS_PATH = "/robots.txt"
ROBOTS_BYTES_MAX = 500 * 1024
LINE_MAX = 2_083 * 8 - 1  # as Google's parser keeps of it
CRAWL_DELAY_S_MAX = 60.0

_TOKEN = re.compile(r"[a-zA-Z_-]+")
# A line that matters, up to its remark. Misspellings that are often seen count, and so does what begins with a key.
_LINE = re.compile(
    r"^[^\S\n]*+(?:(user[-_ ]?agent)|(diss?all?ow|disallaw|diasllow)|(allow)|crawl[- ]?delay)([^\n#]*+)",
    re.IGNORECASE | re.MULTILINE | re.ASCII,
)
_TOO_LONG = re.compile(rf"^[^\n#]{{{LINE_MAX + 1},}}+", re.MULTILINE)
_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_ALONE = _UNRESERVED + ":/?#[]@!&()+,;=" + "%*"  # what a rule has as it is; `$` is its end, or is escaped
_ODD = re.compile(f"[^{re.escape(_ALONE.replace('%*', ''))}]")
_UNESCAPED = re.compile(f"[^{re.escape(_ALONE)}]")
_ESCAPED = {chr(octet): f"%{octet:02X}" for octet in range(256) if chr(octet) not in _ALONE}
_TO_ESCAPE = str.maketrans(_ESCAPED)
_HEX = "0123456789abcdefABCDEF"
_AFTER_PERCENT = {
    high + low: char if (char := chr(int(high + low, 16))) in _UNRESERVED else f"%{high}{low}".upper()
    for high in _HEX
    for low in _HEX
}


class Robots(msgspec.Struct, frozen=True):
    """The rules for our product token. `cut` says what of the file does not count; empty: all of it does."""

    rules: RobotsRules = NO_RULES
    crawl_delay_ms: int | None = None
    cut: str = ""

    @property
    def weight(self) -> int:
        """How much memory it takes, in rules."""
        return 1 + self.rules.weight

    def barring(self, path: str) -> str:
        """The rule that forbids this path with its query, as `Disallow: /private/`; empty where it is allowed."""
        if self.rules.forbidding == () or path == ROBOTS_PATH:
            return ""
        return self.rules.barring(_normal(path, "replace").replace("*", "%2A"))


ALL_ALLOWED = Robots()


def read_robots(body: bytes, product: str = PRODUCT) -> Robots:
    """The rules of all groups that name our product, else of those for `*`; what cannot be read is passed over."""
    ours: list[tuple[str, str]] = []
    everybody: list[tuple[str, str]] = []
    to_us = to_all = in_rules = named = False
    text, cut = _text(body)
    for key, value in _said(text):
        if key == "user-agent":
            if in_rules:
                to_us = to_all = in_rules = False
            agent = _agent(value)
            to_us, to_all = to_us or agent == product, to_all or agent == "*"
            named = named or to_us
        else:
            in_rules = True
            if to_us:
                ours.append((key, value))
            if to_all:
                everybody.append((key, value))
    return _compiled(ours if named else everybody, cut)


def _said(text: str) -> Iterator[tuple[str, str]]:
    """Key and value of each line that matters."""
    for agent, disallow, allow, rest in _LINE.findall(text):
        key = (disallow and "disallow") or (allow and "allow") or (agent and "user-agent")
        _, colon, value = rest.partition(":")
        if not colon:  # a space may stand in its place, if it is the only one
            words = rest.split()
            if len(words) != (1 if rest[:1].isspace() else 2):
                continue
            value = words[-1]
        yield key or "crawl-delay", value.strip()


def _text(body: bytes) -> tuple[str, str]:
    """The part that counts, its lines ended by newlines, and what does not count; a line that a limit cuts is none."""
    part, said = body[: ROBOTS_BYTES_MAX + 1], []
    if len(part) > ROBOTS_BYTES_MAX:
        part = part[: max(part.rfind(b"\n"), part.rfind(b"\r")) + 1]
        said.append(f"only its first {ROBOTS_BYTES_MAX // 1024} KiB count")
    # Not by a codec that is a module to be loaded, in the middle of a crawl, from a disk that may fail: no `utf-8-sig`.
    if part.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = part.decode("utf-16", "replace")
    else:
        text = part.decode("utf-8", "surrogateescape")
    text, long = _TOO_LONG.subn(
        _shortened, text.replace("\0", "").replace("\udca0", " ").replace("\r", "\n").lstrip("\ufeff")
    )
    if long:
        said.append(f"{long} lines of more than {LINE_MAX:,} characters are cut there")
    return text, "; ".join(said)


def _shortened(found: re.Match[str]) -> str:
    """A Disallow that is cut forbids more than was said, so it counts; anything else might allow more."""
    return found[0][:LINE_MAX] if found[0].lstrip()[:1] in "dD" else ""


def _agent(value: str) -> str:
    """`Holdfast/2.0` names `holdfast`. `*` names everybody, also with a remark behind it; `*Fetch*` does not."""
    rest = value.lstrip("*")
    if rest != value and (not rest or rest[0].isspace() or not _TOKEN.search(rest)):
        return "*"
    token = _TOKEN.match(rest)
    return token[0].lower() if token else ""


def _compiled(rules: list[tuple[str, str]], cut: str) -> Robots:
    patterns: dict[str, bool] = {}
    delays: list[int] = []
    for key, value in rules:
        if key == "crawl-delay":
            delays += _delay(value)
        elif value.startswith(("/", "*")):  # an empty rule forbids nothing, and no path begins otherwise
            anchored = value.endswith("$")
            pattern = _normal(value[:-1] if anchored else value) + "$" * anchored
            patterns[pattern] = patterns.get(pattern, False) or key == "allow"
    ordered = rules_of(patterns)
    if ordered.is_unchecked:
        cut = "; ".join(filter(None, (cut, f"more than {STARRED_MAX:,} rules with a star, so all of it is forbidden")))
    return Robots(ordered, max(delays, default=None), cut)


def _delay(value: str) -> list[int]:
    try:
        seconds = float(value)
    except ValueError:
        return []
    return [round(min(seconds, CRAWL_DELAY_S_MAX) * 1000)] if seconds >= 0 else []


def _normal(text: str, errors: str = "surrogateescape") -> str:
    """One spelling of what percent-encoding can spell in several ways, also where the author left it out."""
    if not _ODD.search(text):
        return text
    if "%" in text:
        first, *rest = text.split("%")
        text = first + "".join([_AFTER_PERCENT.get(part[:2], "%" + part[:2]) + part[2:] for part in rest])
    if not text.isascii():
        text = text.encode("utf-8", errors).decode("latin-1")  # a character per octet
    return text.translate(_TO_ESCAPE) if _UNESCAPED.search(text) else text

"""The rules of one robots.txt, put in order once and then asked per URL, in bounded time whatever the file says.

A rule without a star is found by bisection. Of the rules with a star only those are tried whose three letters, the
rarest in the file, the path has, too. A path that needs more work than `WORK_MAX` even so counts as forbidden: a
stranger wrote the file, perhaps in order to stop the crawl, and leaving a page alone does no site wrong.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import msgspec

RULE_SHOWN_MAX = 200
QUICK_WORK = 30_000  # up to here, trying every rule costs less than looking at the path's letters
STARRED_MAX = 5_000  # rules with a star in one file
FEW_GRAMS = 40  # looking each up in the path costs less than cutting the path up
WORK_MAX = 800_000  # characters compared at worst: half a millisecond
PIECE_WORK = 300  # what one more piece of a rule costs, in characters
GRAMS_FROM = 100  # letters at the end of a piece, of which its three are chosen

FEW_PREFIXES = 50  # are sooner tried one after the other

TOO_MUCH_WORK = "Disallow: (not checked: too many rules with a star may concern this URL)"
TOO_MANY = f"Disallow: (not checked: robots.txt has more than {STARRED_MAX:,} rules with a star)"

_STARS = re.compile(r"\*+")


class Starred(NamedTuple):
    """A rule with a star: its pieces come one after the other, the first one at the start of the path."""

    length: int  # as written
    allowed: bool
    text: str
    first: str
    middle: tuple[str, ...]
    last: str
    anchored: bool
    work: int  # characters that are compared at worst, per character of a path

    def matches(self, path: str) -> bool:
        """Each piece at its first place after the one before: that is as good as any other place."""
        if not path.startswith(self.first):
            return False
        at = len(self.first)
        for piece in self.middle:
            found = path.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        if self.anchored:
            return path.endswith(self.last) and len(path) - len(self.last) >= at
        return path.find(self.last, at) >= 0


class RobotsRules(msgspec.Struct, frozen=True):
    """Of all rules that match, the longest one decides, and of two equally long ones the one that allows."""

    exact: dict[str, bool] = msgspec.field(default_factory=dict)  # rules that end in `$`, without it -> allowed?
    prefixes: tuple[str, ...] = ()  # rules without a star, sorted
    verdicts: tuple[bool, ...] = ()  # of the prefixes: allowed?
    parents: tuple[int, ...] = ()  # of each prefix the longest other one that it begins with; -1: none
    starred: tuple[Starred, ...] = ()  # longest first, and allowed before disallowed
    work: int = 0  # of the starred ones together
    by_gram: dict[str, list[int]] = msgspec.field(default_factory=dict)  # three letters of a starred rule -> its places
    weight: int = 0  # how much memory it takes, in rules
    forbidding: tuple[str, ...] | None = None  # all that may forbid a path, where these are a few prefixes
    is_unchecked: bool = False  # more rules with a star than are kept: everything counts as forbidden

    def barring(self, path: str) -> str:
        """The rule that forbids a path, spelled as the rules are, as `Disallow: /private/`; empty: it is allowed."""
        if self.is_unchecked:
            return TOO_MANY
        if self.forbidding is not None and not path.startswith(self.forbidding):
            return ""
        length, allowed, text = self._without_star(path)
        if self.starred and self.starred[0].length >= length:
            budget = WORK_MAX
            for rule in self._likely(path):
                if rule.length < length or (rule.length == length and (allowed or not rule.allowed)):
                    break
                budget -= rule.work * len(path) + PIECE_WORK * (2 + len(rule.middle))
                if budget < 0:
                    return TOO_MUCH_WORK
                if rule.matches(path):
                    allowed, text = rule.allowed, rule.text
                    break
        return "" if allowed else f"Disallow: {text}"[:RULE_SHOWN_MAX]

    def _without_star(self, path: str) -> tuple[int, bool, str]:
        """The longest of the rules without a star that match: its length, whether it allows, its text."""
        if self.exact and (allowed := self.exact.get(path)) is not None:
            return len(path) + 1, allowed, path + "$"
        at = bisect_right(self.prefixes, path) - 1
        while at >= 0 and not path.startswith(self.prefixes[at]):
            at = self.parents[at]
        return (0, True, "") if at < 0 else (len(self.prefixes[at]), self.verdicts[at], self.prefixes[at])

    def _likely(self, path: str) -> Iterable[Starred]:
        """The rules with a star that may match, in their order."""
        if len(path) * self.work <= QUICK_WORK:
            return self.starred
        if len(self.by_gram) <= FEW_GRAMS:
            lists = [places for gram, places in self.by_gram.items() if gram in path]
        else:
            grams = {path[at : at + 3] for at in range(len(path) - 2)}
            lists = [self.by_gram[gram] for gram in self.by_gram.keys() & {*grams, ""}]
        return map(self.starred.__getitem__, sorted(chain.from_iterable(lists)))


NO_RULES = RobotsRules(forbidding=())


def rules_of(patterns: dict[str, bool]) -> RobotsRules:
    """Put in order what was read: pattern -> whether it allows."""
    exact: dict[str, bool] = {}
    plain: dict[str, bool] = {}
    starred: list[Starred] = []
    for pattern, allowed in patterns.items():
        if "*" in pattern:
            starred.append(_starred(pattern, allowed))
        elif pattern.endswith("$"):
            exact[pattern[:-1]] = allowed
        else:
            plain[pattern] = allowed
        if len(starred) > STARRED_MAX:
            return RobotsRules(weight=1, is_unchecked=True)
    prefixes = sorted(plain)
    starred.sort(key=lambda rule: (-rule.length, not rule.allowed, rule.text))
    return RobotsRules(
        exact,
        tuple(prefixes),
        tuple(map(plain.__getitem__, prefixes)),
        _parents(prefixes),
        tuple(starred),
        sum(rule.work + 1 for rule in starred),
        _by_gram(starred),
        len(exact) + len(plain) + sum(2 + len(rule.middle) for rule in starred),
        forbidding=None if exact or starred else _few(prefix for prefix, allowed in plain.items() if not allowed),
    )


def _few(prefixes: Iterable[str]) -> tuple[str, ...] | None:
    found = tuple(prefixes)
    return found if len(found) <= FEW_PREFIXES else None


def _starred(pattern: str, allowed: bool) -> Starred:
    anchored = pattern.endswith("$")
    first, *middle, last = _STARS.split(pattern[:-1] if anchored else pattern)
    work = _work(last) + sum(map(_work, middle))
    return Starred(len(pattern), allowed, pattern, first, tuple(middle), last, anchored, work)


def _work(piece: str) -> int:
    """What finding a piece costs per character: where its beginning does not come again in it, little is read twice."""
    return len(piece) if len(piece) < 5 or piece.find(piece[:4], 1) >= 0 else 5


def _parents(prefixes: list[str]) -> tuple[int, ...]:
    """In sorted order, what begins with a prefix follows it: those that are still open lie on a stack."""
    parents, opened = [], [-1]
    for at, prefix in enumerate(prefixes):
        while opened[-1] >= 0 and not prefix.startswith(prefixes[opened[-1]]):
            opened.pop()
        parents.append(opened[-1])
        opened.append(at)
    return tuple(parents)


def _by_gram(starred: list[Starred]) -> dict[str, list[int]]:
    """Each rule under those three letters of its pieces that the fewest rules have; under none where it has no three.

    Rules of one site are alike: under three letters of a fixed place hundreds would come together, as `.html` has them.
    """
    grams = [_grams(rule) for rule in starred]
    counts = Counter(chain.from_iterable(grams))
    places: dict[str, list[int]] = {}
    for at, each in enumerate(grams):
        places.setdefault(min(each, key=lambda gram: (counts[gram], gram), default=""), []).append(at)
    return places


def _grams(rule: Starred) -> set[str]:
    return {
        piece[at : at + 3]
        for piece in (rule.first, *rule.middle, rule.last)
        for at in range(max(0, len(piece) - GRAMS_FROM), len(piece) - 2)
    }

"""Scope: which links belong to a site, and which of those a job leaves out by rule. Decides only; fetches nothing.

The rule. With scope `host` a link belongs to the site if its host is a seed's host or the host of the page it stands
on. A page is only in the ledger because its host was admitted, so a seed that is redirected to another host takes its
scope along: scope follows the seed's final host. `domain` admits such a host or any subdomain of one, a leading `www.`
dropped. `prefix` admits such a host where the path begins with a seed's directory. `any` admits every http(s) URL.
What belongs to the site may still be left out: as a trap (policy/traps.py), by an exclude pattern (which wins over
includes), by matching no include pattern, or for its depth. A host is compared with its port.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from holdfast.errors import BadParams
from holdfast.model.keys import Address, seed_address
from holdfast.policy.patterns import Pattern, of_use, read_pattern
from holdfast.policy.traps import FACETS, LIMIT, REPEATS, TOO_LONG, trap

SCOPES = ("host", "domain", "prefix", "any")
_OF_A_SITE = frozenset({"scope", "seeds", "include", "exclude", "max_depth"})
RULES = "_rules"  # where a recipe of one's own keeps them among its params; no author's parameter can have that name
NO_RULES: dict[str, Any] = {"include": [], "exclude": [], "max_depth": None}
Judge = Callable[[str, int, str], str]  # (URL, depth, the page it stands on) -> the rule that leaves it out, or ""


class Ruling(msgspec.Struct, frozen=True):
    """`in`, `external` (another site: a record, no target), `excluded` (ours, left out by the named rule) or `limit`
    (ours, beyond the named cap)."""

    kind: str
    rule: str = ""


IN = Ruling("in")
EXTERNAL = Ruling("external")
BY_EXCLUDE = Ruling("excluded", "exclude")
BY_INCLUDE = Ruling("excluded", "include")
BY_DEPTH = Ruling("excluded", "depth")
LEFT_OUT = ("excluded", LIMIT)  # kinds that are dispositions, too
_BY_CAP = {rule: Ruling(LIMIT, rule) for rule in (REPEATS, TOO_LONG, FACETS)}


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """The scope of one job, made once from its checked params."""

    kind: str
    hosts: frozenset[str]
    prefixes: tuple[str, ...]
    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()
    max_depth: int | None = None

    @classmethod
    def of(cls, params: dict[str, Any]) -> Scope:
        """BadParams names a pattern or scope that cannot be used."""
        if params["scope"] not in SCOPES:
            raise BadParams(f"no scope is called {params['scope']!r}; there are {', '.join(SCOPES)}")
        seeds = [seed_address(url) for url in params["seeds"]]
        include, exclude = (tuple(map(read_pattern, params[name])) for name in ("include", "exclude"))
        return cls(
            kind=params["scope"],
            hosts=frozenset(seed.host for seed in seeds),
            prefixes=tuple(dict.fromkeys(_directory(seed) for seed in seeds)),
            include=include,
            exclude=exclude,
            max_depth=params["max_depth"],
        )

    def checked(self) -> Scope:
        """The scope, for a job that is asked for; BadParams names a pattern that would be of no use."""
        for pattern in (*self.include, *self.exclude):
            of_use(pattern)
        return self

    def judge(self, address: Address, *, page_host: str, depth: int) -> Ruling:
        """What becomes of a link to `address`, found on a page of `page_host`, if it would be a target of `depth`."""
        if not self._belongs(address, page_host):
            return EXTERNAL
        cap = trap(address)
        if cap:
            return _BY_CAP[cap]
        if self.exclude and _any(self.exclude, address.path):
            return BY_EXCLUDE
        if self.include and not _any(self.include, address.path) and not self._untried(address.path):
            return BY_INCLUDE
        if self.max_depth is not None and depth > self.max_depth:
            return BY_DEPTH
        return IN

    def _untried(self, path: str) -> bool:
        """Whether an include may fit that was not tried: a page too many is better than one that is lost."""
        return any(pattern.leaves_untried(path) for pattern in self.include)

    def _belongs(self, address: Address, page_host: str) -> bool:
        if self.kind == "any":
            return True
        if self.kind == "domain":
            return _within(address.host, page_host) or any(_within(address.host, host) for host in self.hosts)
        if address.host != page_host and address.host not in self.hosts:
            return False
        return self.kind == "host" or address.path.startswith(self.prefixes)


def _any(patterns: Iterable[Pattern], path: str) -> bool:
    return any(pattern.matches(path) for pattern in patterns)


def _within(host: str, of: str) -> bool:
    domain = of.removeprefix("www.")
    return host in (of, domain) or host.endswith("." + domain)


def _directory(seed: Address) -> str:
    return seed.path.partition("?")[0].rpartition("/")[0] + "/"


def by_rules(rules: dict[str, Any]) -> Scope:
    """The scope of a recipe that decides in its steps what belongs to it, under the rules that a person gave it."""
    return Scope.of({"seeds": [], "scope": "any", **NO_RULES, **rules})


def patterns_of(params: dict[str, Any]) -> tuple[Pattern, ...]:
    """The include and exclude patterns of a job, of whichever recipe."""
    rules = params.get(RULES, params if params.keys() >= _OF_A_SITE else NO_RULES)
    return tuple(map(read_pattern, (*rules.get("include", ()), *rules.get("exclude", ()))))


def has_scope(params: dict[str, Any]) -> bool:
    """Whether there is something in them that found URLs are judged by."""
    return "scope" in params or RULES in params


def judge_of(params: dict[str, Any]) -> Judge:
    """The rule that leaves a found URL out under these params; "" where it belongs to the site, or is beyond a cap."""
    if not has_scope(params):
        raise BadParams("these params have no scope: there is nothing to judge found URLs by")
    scope = Scope.of(params) if "scope" in params else by_rules(params[RULES])

    def judge(url: str, depth: int, page: str) -> str:
        ruling = scope.judge(seed_address(url), page_host=seed_address(page).host, depth=depth)
        return {"in": "", LIMIT: "", "external": "scope"}.get(ruling.kind, ruling.rule)

    return judge

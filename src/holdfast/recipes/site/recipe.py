"""The `site` recipe: pages of a site, found from seeds by following links. Its phase is `crawling`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams
from holdfast.model.job import ONE_PHASE, Phases
from holdfast.model.keys import seed_address
from holdfast.model.outcome import Outcome
from holdfast.model.target import Claimed, Found
from holdfast.policy.robots import ROBOTS_PATH
from holdfast.policy.scope import Scope
from holdfast.policy.sitemaps import names_a_sitemap
from holdfast.recipe import Context, Fetch
from holdfast.recipes.site.following import Site
from holdfast.recipes.site.links import LinkBook
from holdfast.recipes.site.sitemap import MODES, ROBOTS, SITEMAP, TYPES, work_list
from holdfast.recipes.site.step import work

DEFAULTS: dict[str, Any] = {
    "seeds": [],
    "scope": "host",
    "include": [],
    "exclude": [],
    "max_depth": None,
    "sitemap": "off",
}
NAME_LENGTH_MAX = 80  # of a job; one of the same name gets a number behind it
SITES_KEPT = 8  # jobs that one worker has in hand at once; more only cost the time to set them up again


class SiteRecipe:
    """Fulfils `recipe.AnyRecipe`. One object serves any number of jobs."""

    name = "site"
    seeks = True
    names_targets = False
    compares = True

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sites: dict[int, Site] = {}

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        for name in params:
            if name not in DEFAULTS:
                raise BadParams(f"a site has no parameter {name!r}{_guess(name)}", hint=" ".join(DEFAULTS))
        checked = DEFAULTS | params
        seeds = [seed_address(text).url for text in _texts("seeds", checked["seeds"])]
        if not seeds:
            raise BadParams("a site needs a URL to begin with", hint="holdfast crawl https://docs.example.dev")
        checked["seeds"] = list(dict.fromkeys(seeds))
        checked["include"] = _texts("include", checked["include"])
        checked["exclude"] = _texts("exclude", checked["exclude"])
        checked["max_depth"] = _depth(checked["max_depth"])
        if checked["sitemap"] not in MODES:
            raise BadParams(f"sitemap must be one of {', '.join(MODES)}; not {checked['sitemap']!r}")
        Scope.of(checked).checked()
        return checked

    def identity(self, params: dict[str, Any]) -> str:
        return "site:" + " ".join(sorted(params["seeds"]))

    def default_name(self, params: dict[str, Any]) -> str:
        """`docs.x.dev`, with a port `127.0.0.1-8123`; of a host such as `[::]` nothing is left to name a job by."""
        host = seed_address(params["seeds"][0]).host
        return re.sub(r"[^a-z0-9.-]+", "-", host).strip("-.")[:NAME_LENGTH_MAX] or self.name

    def chunking(self, params: dict[str, Any]) -> str:
        hosts = {seed_address(url).host for url in params["seeds"]}
        return "key" if params["scope"] in ("host", "prefix") and len(hosts) == 1 else "host"

    def phases(self, params: dict[str, Any]) -> Phases:
        return ONE_PHASE

    def in_levels(self, params: dict[str, Any]) -> bool:
        """With a depth limit, level by level: else a page reached by a long way first would be judged too deep."""
        return params.get("max_depth") is not None

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        """Seeds, then the robots.txt of each of their hosts, where sitemaps are wanted. The start URL decides the way:
        one that is called a sitemap is read as a list."""
        mode = context.params.get("sitemap", "off")
        seeds = [(seed_address(url), "page") for url in context.params["seeds"]]
        seeds = [(seed, SITEMAP if names_a_sitemap(seed.path) else kind) for seed, kind in seeds]
        hosts = {seed.origin: seed for seed, kind in seeds if kind == "page" and mode != "off"}
        robots = [(seed_address(origin + ROBOTS_PATH), ROBOTS) for origin in hosts]
        begin = [pair for pair in seeds if mode != "only" or pair[1] == SITEMAP] + robots
        for address, kind in begin[start:]:
            yield msgspec.structs.replace(context.found(address, depth=0), type=kind)

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        if here.type in TYPES:
            return await work_list(here, fetch, self._site(context), self._clock)
        return await work(here, fetch, self._site(context), self._clock)

    def _site(self, context: Context) -> Site:
        """The job's scope and link book, made once. A job's params are one object, so its identity is enough."""
        kept = self._sites.get(id(context.params))
        if kept is not None and kept.fits(context):
            return kept
        if len(self._sites) >= SITES_KEPT:
            self._sites.clear()
        scope = Scope.of(context.params)
        site = self._sites[id(context.params)] = Site(
            scope,
            context,
            LinkBook(scope, context),
            follows=context.params.get("sitemap") != "only",
        )
        return site


def _texts(name: str, value: Any) -> list[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise BadParams(f"{name} must be a list of texts, not {value!r}")
    return list(value)


def _depth(value: Any) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise BadParams(f"max_depth must be a whole number from 0 on, or nothing; not {value!r}")


def _guess(name: str) -> str:
    near = get_close_matches(name, DEFAULTS, n=1)
    return f"; did you mean {near[0]}?" if near else ""

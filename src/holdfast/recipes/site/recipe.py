"""The `site` recipe: pages of a site, found from seeds by following links. A report adds phases (made.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import msgspec

from holdfast.clock import Clock
from holdfast.errors import BadParams
from holdfast.model.job import FETCHING, ONE_PHASE, Phases
from holdfast.model.keys import seed_address
from holdfast.model.outcome import Outcome
from holdfast.model.target import Claimed, Found
from holdfast.policy.rewriting import file_itself
from holdfast.policy.robots import ROBOTS_PATH
from holdfast.policy.scope import Scope
from holdfast.policy.sitemaps import names_a_sitemap
from holdfast.recipe import Context, Fetch
from holdfast.recipes.site.archives import checked_archives, name_of, plan_archived
from holdfast.recipes.site.following import Site
from holdfast.recipes.site.links import LinkBook
from holdfast.recipes.site.made import INSTALL, WITH_REPORT, Extractor, Maker, missing_packages, plan_made
from holdfast.recipes.site.options import OWN_PARAMS
from holdfast.recipes.site.sitemap import MODES, ROBOTS, SITEMAP, TYPES, work_list
from holdfast.recipes.site.step import work

DEFAULTS: dict[str, Any] = {
    "seeds": [],
    "scope": "host",
    "include": [],
    "exclude": [],
    "max_depth": None,
    "sitemap": "off",
    "report": False,
    "from_warc": [],
}
NAMES = tuple(dict.fromkeys((*DEFAULTS, *OWN_PARAMS)))
NAME_LENGTH_MAX = 80  # of a job; one of the same name gets a number behind it
SITES_KEPT = 8  # jobs that one worker has in hand at once; more only cost the time to set them up again


class SiteRecipe:
    """Fulfils `recipe.AnyRecipe`. One object serves any number of jobs."""

    name = "site"
    seeks = True
    names_targets = False
    compares = True

    def __init__(self, clock: Clock, extractor: Extractor | None = None) -> None:
        self._clock = clock
        self._maker = Maker(clock, extractor)
        self._sites: dict[int, Site] = {}

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        for name in params:
            if name not in NAMES:
                raise BadParams(f"a site has no parameter {name!r}{_guess(name)}", hint=" ".join(NAMES))
        checked = DEFAULTS | params
        seeds = [seed_address(text).url for text in _texts("seeds", checked["seeds"])]
        checked["from_warc"] = checked_archives(checked, _texts("from_warc", checked["from_warc"]))
        if not seeds and not checked["from_warc"]:
            raise BadParams("a site needs a URL to begin with", hint="holdfast crawl https://docs.example.dev")
        checked["seeds"] = list(dict.fromkeys(seeds))
        checked["include"] = _texts("include", checked["include"])
        checked["exclude"] = _texts("exclude", checked["exclude"])
        checked["max_depth"] = _depth(checked["max_depth"])
        if checked["sitemap"] not in MODES:
            raise BadParams(f"sitemap must be one of {', '.join(MODES)}; not {checked['sitemap']!r}")
        Scope.of(checked).checked()
        if not checked["from_warc"]:  # params of all other jobs stay as they were
            del checked["from_warc"]
        return _with_report(checked)

    def identity(self, params: dict[str, Any]) -> str:
        read_from = "".join(f" warc:{path}" for path in sorted(params.get("from_warc", ())))
        return "site:" + " ".join(sorted(params["seeds"])) + read_from

    def default_name(self, params: dict[str, Any]) -> str:
        """`docs.x.dev`, with a port `127.0.0.1-8123`; of a host such as `[::]` nothing is left to name a job by."""
        host = seed_address(params["seeds"][0]).host if params["seeds"] else name_of(params)
        return re.sub(r"[^a-z0-9.-]+", "-", host).strip("-.")[:NAME_LENGTH_MAX] or self.name

    def chunking(self, params: dict[str, Any]) -> str:
        if params.get("from_warc"):
            return "key"  # no host is asked, so none must stay in one hand
        hosts = {seed_address(url).host for url in params["seeds"]}
        return "key" if params["scope"] in ("host", "prefix") and len(hosts) == 1 else "host"

    def chunks(self, params: dict[str, Any]) -> tuple[str, ...]:
        return ()

    def first_urls(self, params: dict[str, Any]) -> tuple[str, ...]:
        return () if params.get("from_warc") else tuple(params["seeds"])

    def planned_total(self, params: dict[str, Any]) -> int | None:
        return None

    def phases(self, params: dict[str, Any]) -> Phases:
        return WITH_REPORT if params.get("report") else ONE_PHASE

    def in_levels(self, params: dict[str, Any]) -> bool:
        """With a depth limit, level by level: else a page reached by a long way first would be judged too deep."""
        return params.get("max_depth") is not None

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        """Seeds, then the robots.txt of each of their hosts, where sitemaps are wanted. The start URL decides the way:
        one that is called a sitemap is read as a list, the view of a file on a code host as that file. Without seeds,
        every page of an archive. Later phases are made of what is stored."""
        if context.phase != FETCHING:
            yield from plan_made(context, start)
            return
        if not context.params["seeds"]:
            yield from plan_archived(context, start)
            return
        mode = context.params.get("sitemap", "off")
        seeds = [(file_itself(seed_address(url)), "page") for url in context.params["seeds"]]
        seeds = [(seed, SITEMAP if names_a_sitemap(seed.path) else kind) for seed, kind in seeds]
        hosts = {seed.origin: seed for seed, kind in seeds if kind == "page" and mode != "off"}
        robots = [(seed_address(origin + ROBOTS_PATH), ROBOTS) for origin in hosts]
        begin = [pair for pair in seeds if mode != "only" or pair[1] == SITEMAP] + robots
        for address, kind in begin[start:]:
            yield msgspec.structs.replace(context.found(address, depth=0), type=kind)

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        if here.type in WITH_REPORT.made:
            return await self._maker.work(here, context)
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
            follows=context.params.get("sitemap") != "only" and bool(context.params["seeds"]),
        )
        return site


def _with_report(params: dict[str, Any]) -> dict[str, Any]:
    """Only a job with a report says so: params of all others stay as they were."""
    wanted = params.pop("report")
    if not isinstance(wanted, bool):
        raise BadParams(f"report must be true or false, not {wanted!r}")
    if wanted and (missing := missing_packages()):
        raise BadParams(
            f"a report needs packages that are not installed: {', '.join(missing)}",
            hint=INSTALL,
        )
    return {**params, "report": True} if wanted else params


def _texts(name: str, value: Any) -> list[str]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise BadParams(f"{name} must be a list of texts, not {value!r}")
    return list(value)


def _depth(value: Any) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise BadParams(f"max_depth must be a whole number from 0 on, or nothing; not {value!r}")


def _guess(name: str) -> str:
    near = get_close_matches(name, NAMES, n=1)
    return f"; did you mean {near[0]}?" if near else ""

"""Sitemaps, worked: what robots.txt names, what an index names, and the pages they list (SIT-02).

Each file is a target like any other: fetched once, settled with everything it lists in one transaction, so that a kill
loses nothing of it. A list counts as a page that links to what it lists: found pages are one deeper. Whatever of a list
is not taken is counted, and its row says so (FRO-15). One that ends too early is asked for again, and taken in part
when no attempt is left.
"""

from __future__ import annotations

import asyncio
from functools import partial

import msgspec

from holdfast.clock import Clock
from holdfast.model.codes import code_of_status
from holdfast.model.exchange import Response
from holdfast.model.keys import canonical
from holdfast.model.outcome import IN_PART, Done, Failed, Outcome, Skipped
from holdfast.model.target import Claimed, Found
from holdfast.policy.listings import MAY_BE_WHOLE, URLS_MAX, SitemapRefused
from holdfast.policy.retry import read_retry_after
from holdfast.policy.robots import ROBOTS_PATH
from holdfast.policy.sitemaps import Sitemap, read_sitemap, read_sitemap_lines
from holdfast.recipe import Fetch
from holdfast.recipes.site.following import Site
from holdfast.recipes.site.links import LinkBook, Sorted
from holdfast.recipes.site.step import REDIRECTS, kept_body

ROBOTS, SITEMAP, PROBE = "robots", "sitemap", "probe"  # types of targets; a probe is a sitemap that nobody named
TYPES = frozenset({ROBOTS, SITEMAP, PROBE})
PROBED_PATH = "/sitemap.xml"
IN_A_THREAD_FROM_BYTES = 65_536  # reading a larger one would hold up everything else that is in hand
LEVELS_MAX = 2  # an index may name indexes, and no further
MODES = ("auto", "only", "off")


async def work_list(here: Claimed, fetch: Fetch, site: Site, clock: Clock) -> Outcome:
    """One robots.txt or sitemap: one request, as for a page."""
    response = await fetch(here.url)
    if response.status in REDIRECTS:
        return _redirected(here, response, site)
    if response.status != 200:
        return _refused(here, response, site, clock.wall_ms())
    read = partial(_read, here, response, site, response.answered_at or clock.wall_ms())
    return read() if len(response.body) < IN_A_THREAD_FROM_BYTES else await asyncio.to_thread(read)


def _read(here: Claimed, response: Response, site: Site, now_ms: int) -> Outcome:
    """May run in a thread: what is shared with the steps of pages is only read."""
    if here.type == ROBOTS:
        return _robots(here, response, site)
    try:
        listed = read_sitemap(response.body)
    except SitemapRefused as refusal:
        return Failed(refusal.code, str(refusal), response.status)
    if listed is None:
        said = "no sitemap: neither a list of URLs, nor an index of such lists, nor a feed"
        return _none(here, said, response) if here.type == PROBE else Failed("answer_unreadable", said, response.status)
    return _listed(here, response, listed, site, now_ms)


def _robots(here: Claimed, response: Response, site: Site) -> Outcome:
    """The sitemaps that it names, of the site itself; where it names none, the place where one usually is."""
    listed = read_sitemap_lines(response.body)
    links, elsewhere = _sitemaps(here, listed, site, level=0)
    left_out = _left_out(listed, links, elsewhere)
    return Skipped(
        IN_PART if left_out else "no_record",
        f"names {_counted(links, 'sitemap')}{left_out}",
        found=links.found or _guess(here, site),
        status_code=response.status,
    )


def _guess(here: Claimed, site: Site) -> tuple[Found, ...]:
    """`/sitemap.xml`: a mere try, unless sitemaps are all that was asked for."""
    address = canonical(PROBED_PATH, here.url)
    assert address is not None, f"a claimed target has the unusable URL {here.url!r}"
    kind = PROBE if site.follows else SITEMAP
    return (_typed(site.context.found(address, depth=here.depth), kind, level=0),)


def _listed(here: Claimed, response: Response, listed: Sitemap, site: Site, now_ms: int) -> Outcome:
    if listed.cut.startswith(MAY_BE_WHOLE) and here.attempts < site.context.max_attempts:
        return Failed("body_incomplete", f"a list of URLs, not read to its end: {listed.cut}", response.status)
    if listed.is_index and here.hops >= LEVELS_MAX:
        said = f"an index {LEVELS_MAX} levels below an index; {len(listed.urls)} sitemaps that it names are not read"
        return Failed("answer_unreadable", said, response.status)
    if listed.is_index:
        links, elsewhere = _sitemaps(here, listed, site, level=here.hops + 1)
    else:
        links = _pages(here, listed, site)
        elsewhere = len(links.external)
    left_out = _left_out(listed, links, elsewhere)
    noun = "sitemap" if listed.is_index else "page"
    return Done(
        IN_PART if left_out else SITEMAP,
        body=kept_body(here, response, response.media, now_ms),
        found=links.found,
        external=links.external,
        status_code=response.status,
        because=f"lists {_counted(links, noun)}{left_out}" if left_out else "",
    )


def _pages(here: Claimed, listed: Sitemap, site: Site) -> Sorted:
    """By a link book of its own: that of the pages is not for threads, and has no use of links that stand here."""
    own = canonical(here.url)
    assert own is not None, f"a claimed target has the unusable URL {here.url!r}"
    book = LinkBook(site.scope, site.context)
    return book.sort(listed.urls, page=own, base=own, own_key=here.key, depth=here.depth + 1, links_max=URLS_MAX)


def _sitemaps(here: Claimed, listed: Sitemap, site: Site, *, level: int) -> tuple[Sorted, int]:
    """Those of the site, each once, and how many are of others. Include and exclude patterns are for pages, not for the
    lists of them."""
    named = [canonical(url, here.url) for url in listed.urls]
    addresses = {address.url: address for address in named if address is not None}
    ours = [
        address
        for address in addresses.values()
        if site.scope.judge(address, page_host=here.host, depth=here.depth).kind != "external"
    ]
    made = (_typed(site.context.found(address, depth=here.depth), SITEMAP, level=level) for address in ours)
    found = tuple(each for each in made if each.key != here.key)
    return Sorted(found, (), 0, named.count(None)), len(addresses) - len(ours)


def _counted(links: Sorted, noun: str) -> str:
    n = len(links.found)
    return f"{n or 'no'} {noun if n < 2 else noun + 's'} of this site"


def _left_out(listed: Sitemap, links: Sorted, elsewhere: int) -> str:
    """What a list has and we did not take, counted; "" where that is nothing."""
    unreadable = listed.unreadable + links.unusable
    counted = [
        (listed.beyond, f"{listed.beyond} behind the first {len(listed.urls)}"),
        (elsewhere, f"{elsewhere} of other sites"),
        (unreadable, f"{unreadable} that can be read as no URL"),
    ]
    left_out = ", ".join(said for n, said in counted if n)
    cut = f"; not read to its end: {listed.cut}" if listed.cut else ""
    return f"; left out: {left_out}{cut}" if left_out else cut


def _redirected(here: Claimed, response: Response, site: Site) -> Outcome:
    """Where a list has moved, also to another host: its seed was a person's word."""
    there = canonical(response.header("location") or "about:blank", here.url)
    if there is None:
        return Failed("bad_url", "redirects to no http or https URL", response.status)
    if there.url == here.url or here.hops >= LEVELS_MAX:
        return _refused(here, response, site, 0)
    # A robots.txt that was moved elsewhere is one only at the root of a host; else it is the site's home page.
    moved = here.type != ROBOTS or there.path == ROBOTS_PATH
    found = _typed(site.context.found(there, depth=here.depth), here.type, level=here.hops + 1)
    return Skipped(
        "duplicate",
        f"redirects to {there.url}",
        found=(found,) if moved else _guess(here, site),
        status_code=response.status,
    )


def _refused(here: Claimed, response: Response, site: Site, now_ms: int) -> Outcome:
    """A robots.txt that is missing names nothing; a probe that finds nothing has not failed."""
    status = response.status
    if status in REDIRECTS:
        return Failed("too_many_redirects", "a list of URLs that moves on and on", status)
    missing = 400 <= status < 500 and status != 429
    if here.type == ROBOTS and missing:
        return Skipped("no_record", f"HTTP {status}", found=_guess(here, site), status_code=status)
    if here.type == PROBE and missing:
        return _none(here, f"HTTP {status}", response)
    wait_s = read_retry_after(response.header("retry-after"), now_ms)
    return Failed(code_of_status(status) or "bad_response", f"HTTP {status}", status, wait_s)


def _none(here: Claimed, said: str, response: Response) -> Outcome:
    return Skipped("no_record", said, status_code=response.status)


def _typed(found: Found, kind: str, *, level: int) -> Found:
    return msgspec.structs.replace(found, type=kind, hops=level)

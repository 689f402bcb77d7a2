"""Where a page leads: its links, what it refreshes to (decision 0038), what it asks to be left alone (0039)."""

from __future__ import annotations

import msgspec

from holdfast.model.keys import Address, address_of, canonical
from holdfast.model.outcome import DEAD_END, NOFOLLOW, REFRESHES
from holdfast.model.target import Claimed, External, Found
from holdfast.policy.directives import Directives
from holdfast.policy.scope import Scope
from holdfast.recipe import Context
from holdfast.recipes.site.links import LinkBook, Sorted, resolve
from holdfast.recipes.site.page import SitePage
from holdfast.recipes.site.page_types import placed
from holdfast.recipes.site.queries import in_charset
from holdfast.recipes.site.refresh import Refresh

REDIRECTS_MAX = 10  # a chain of redirects and refreshes together
NO_LINKS = Sorted((), ())


class Site(msgspec.Struct, frozen=True):
    """What a step needs to know of its job."""

    scope: Scope
    context: Context
    links: LinkBook
    follows: bool = True  # links of pages; False where only what sitemaps list is wanted

    def found(self, address: Address, *, depth: int, hops: int = 0) -> Found:
        """A page of the site, with its kind and its place in the order."""
        return placed(self.context, address, depth, in_levels=self.scope.max_depth is not None, hops=hops)

    def fits(self, context: Context) -> bool:
        """Whether this was made for that job: the params are kept alive here, so one object is one job's."""
        mine = self.context
        return mine.params is context.params and (mine.salt, mine.chunking, mine.nofollow, mine.max_attempts) == (
            context.salt, context.chunking, context.nofollow, context.max_attempts,
        )  # fmt: skip


class Ways(msgspec.Struct, frozen=True, gc=False):
    """What a page leads to. `rule` and `because` are empty unless there is something to be told of it."""

    links: Sorted = NO_LINKS
    canonical: str | None = None
    refresh: str | None = None
    left: int = 0  # links not followed because of nofollow
    rule: str = ""
    because: str = ""


def follow(here: Claimed, page: SitePage, codec: str, asked: Directives, site: Site) -> Ways:
    """`asked` is what the page asks for and the job obeys."""
    if not (page.hrefs or page.canonical or page.refresh or page.marked):
        return Ways()
    own = address_of(here.url, here.host)
    base = (canonical(page.base, own.url) if page.base else None) or own
    hrefs = tuple(in_charset(page.hrefs, codec)) if site.follows else ()
    links = site.links.sort(hrefs, page=own, base=base, own_key=here.key, depth=here.depth + 1)
    meant = canonical(page.canonical, base.url) if page.canonical else None
    ways = Ways(links, meant.url if meant else None)
    if asked.nofollow:
        ways = _left(ways)
    elif page.marked and site.follows:
        because = f"{len(page.marked)} of its links have rel=nofollow and were not followed"
        ways = msgspec.structs.replace(ways, left=len(page.marked), rule=NOFOLLOW, because=because)
    if page.refresh and page.refresh.url and site.follows:
        (url,) = in_charset((page.refresh.url,), codec)
        there = resolve(url, base)
        if there is not None and there.url != own.url:
            ways = _refreshed(here, ways, there, page.refresh, site)
    return ways


def _left(ways: Ways) -> Ways:
    """Without the links of the site itself; those that lead elsewhere are noted as ever, and nothing fetches them."""
    left = len(ways.links.found) + ways.links.beyond
    if not left:
        return ways
    because = f"it asks for its links not to be followed (nofollow): {left} of this site were left"
    links = Sorted((), ways.links.external)
    return msgspec.structs.replace(ways, links=links, left=left, rule=NOFOLLOW, because=because)


def _refreshed(here: Claimed, ways: Ways, there: Address, refresh: Refresh, site: Site) -> Ways:
    """A refresh is a redirect that keeps its page: the other URL is a target of the same depth, one hop further."""
    because = f"refreshes to {there.url}"
    links = ways.links
    if here.hops >= REDIRECTS_MAX:
        because = f"{because} (hop {here.hops + 1} of a chain, not followed)"
        links = Sorted(links.found, links.external, links.beyond + 1)
    else:
        item = _target(here, there, refresh, site)
        if isinstance(item, External):
            because = f"{because} (out of scope)"
            others = [each for each in links.external if each.key != item.key]
            links = Sorted(links.found, (item, *others), links.beyond)
        else:
            pages = [each for each in links.found if each.key != item.key]
            links = Sorted((item, *pages), links.external, links.beyond)
    told = f"{because}; {ways.because}" if ways.because else because
    return msgspec.structs.replace(ways, links=links, refresh=there.url, because=told)


def _target(here: Claimed, there: Address, refresh: Refresh, site: Site) -> Found | External:
    ruling = site.scope.judge(there, page_host=here.host, depth=here.depth)
    # As with a redirect: where a seed leads at once, a person asked to go, so no rule applies and the scope goes along.
    if ruling.kind == "in" or (here.depth == 0 and refresh.is_quick):
        return site.found(there, depth=here.depth, hops=here.hops + 1)
    if ruling.kind == "external":
        return site.context.external(there)
    return site.context.found(there, depth=here.depth, disposition=ruling.kind, rule=ruling.rule)


def as_a_seed(ways: Ways, site: Site, not_parsed: str) -> Ways:
    """The ways of a seed's HTML, marked where it leads to no other page of the site and nobody asked for just one."""
    if not site.follows or site.scope.max_depth == 0 or any(each.depth for each in ways.links.found):
        return ways
    because = not_parsed or ways.because or _nowhere(ways.links, site.scope)
    rule = REFRESHES if ways.refresh else DEAD_END
    return msgspec.structs.replace(ways, rule=rule, because=because) if because else ways


def _nowhere(links: Sorted, scope: Scope) -> str:
    if not links.external:
        return "no link to another page stands in its HTML; in a browser, scripts may make them"
    if scope.kind == "prefix":  # a person drew that line
        return ""
    return f"all {len(links.external)} links of its HTML lead out of the scope {scope.kind}"

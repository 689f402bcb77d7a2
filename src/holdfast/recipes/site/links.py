"""The links of a page, sorted: targets of the site, targets left out by rule, external links. Nothing is stored here.

Thirty links stand on a page and most of them stand on every page, so what became of a link is remembered in a book of
bounded size. The book is a cache of pure results: losing it costs time and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from holdfast.model.keys import PLAIN_PATH, PLAIN_SEGMENT, URL_LENGTH_MAX, Address, canonical
from holdfast.model.target import External, Found
from holdfast.policy.rewriting import followed_as
from holdfast.policy.scope import LEFT_OUT, Scope
from holdfast.recipe import Context
from holdfast.recipes.site.page_types import moved, placed

LINKS_PER_PAGE_MAX = 10_000
BOOK_ENTRIES_MAX = 40_000
BOOK_HREF_MAX = 300  # longer ones are rare and would let a hostile site fill the memory

# What such an href leads to depends on nothing but the page's directory: no query or fragment of the page's own URL
# (`?b=2`, `https:?b=2`), nothing that a URL parser first strips or removes (white space).
_BY_DIRECTORY = re.compile(r"https?://[^\s\\]+|/[^\s\\]*|[.\w%~-][^\s\\:]*", re.ASCII)
_PLAIN = re.compile(rf"(?=[^?])(?:{PLAIN_SEGMENT})?+{PLAIN_PATH}")
_STRIPPED = "".join(map(chr, range(0x21)))


Link = Found | External


class Sorted(msgspec.Struct, frozen=True, gc=False):
    """The distinct links of a page in page order, the page itself not among them; `beyond` the cap are counted only,
    like those that lead nowhere (`unusable`)."""

    found: tuple[Found, ...]
    external: tuple[External, ...]
    beyond: int = 0
    unusable: int = 0

    @property
    def count(self) -> int:
        return len(self.found) + len(self.external)


class LinkBook:
    """Sorts the links of one job's pages."""

    def __init__(self, scope: Scope, context: Context) -> None:
        self._scope, self._context = scope, context
        self._in_levels = scope.max_depth is not None
        # Two generations, by place and href: an href means the same on all pages of a site, or of a directory.
        self._recent: dict[str, dict[str, Link]] = {}
        self._older: dict[str, dict[str, Link]] = {}
        self._entries = 0

    def sort(
        self,
        hrefs: Sequence[str],
        *,
        page: Address,
        base: Address,
        own_key: bytes,
        depth: int,
        links_max: int = LINKS_PER_PAGE_MAX,
    ) -> Sorted:
        """Sort hrefs that stand on `page` and are relative to `base`; found targets get `depth`."""
        where = page.host if self._scope.max_depth is None else f"{page.host} {depth}"  # only then depth judges links
        site_wide = f"{where} {base.origin}"
        directory = f"{site_wide}{_directory(base)}"
        wide, near = self._shelf(site_wide), self._shelf(directory)
        on_wide, on_near = wide.get, near.get
        found: list[Found] = []
        external: list[External] = []
        seen, unusable, in_levels = {own_key}, 0, self._in_levels
        for index, href in enumerate(hrefs):
            link = on_wide(href) or on_near(href)
            if link is None:
                is_wide = href[:1] == "/" or "://" in href[:8]
                place, shelf = (site_wide, wide) if is_wide else (directory, near)
                link = self._look_up(place, shelf, href, page, base, depth)
                if link is None:
                    unusable += 1
                    continue
            key = link.key
            if key in seen:
                continue
            if index >= links_max and len(seen) > links_max:
                return Sorted(tuple(found), tuple(external), len(hrefs) - index, unusable)
            seen.add(key)
            if isinstance(link, External):
                external.append(link)
            elif link.depth == depth:
                found.append(link)
            else:
                link = moved(link, depth, in_levels=in_levels)
                if href in wide:
                    wide[href] = link
                elif href in near:
                    near[href] = link
                found.append(link)
        return Sorted(tuple(found), tuple(external), 0, unusable)

    def _shelf(self, place: str) -> dict[str, Link]:
        if self._entries >= BOOK_ENTRIES_MAX // 2:
            self._older, self._recent, self._entries = self._recent, {}, 0
        return self._recent.setdefault(place, {})

    def _look_up(
        self, place: str, shelf: dict[str, Link], href: str, page: Address, base: Address, depth: int
    ) -> Link | None:
        link = self._older.get(place, {}).get(href)
        if link is None:
            link = self._resolve(href, page, base, depth)
            if link is None or len(href) > BOOK_HREF_MAX or not _BY_DIRECTORY.fullmatch(href):
                return link
        if self._entries < BOOK_ENTRIES_MAX // 2:  # one page may bring more than there is room for
            shelf[href] = link
            self._entries += 1
        return link

    def _resolve(self, href: str, page: Address, base: Address, depth: int) -> Link | None:
        address = resolve(href, base)
        if address is None:
            return None
        ruling = self._scope.judge(address, page_host=page.host, depth=depth)
        if ruling.kind == "external":
            return self._context.external(address)
        if ruling.kind in LEFT_OUT:
            return self._context.found(address, depth=depth, disposition=ruling.kind, rule=ruling.rule)
        return placed(self._context, followed_as(address), depth, in_levels=self._in_levels)


def resolve(href: str, base: Address) -> Address | None:
    """The address that an href on a page with this base leads to; None where it leads nowhere else or to no page."""
    if len(href) <= BOOK_HREF_MAX and _PLAIN.fullmatch(href):
        path = href if href[0] == "/" else _directory(base) + href
        if len(path) <= URL_LENGTH_MAX - len(base.origin):
            return Address(base.origin + path, base.origin, base.host, path)
    href = href.strip(_STRIPPED)
    if not href or href[0] == "#" or len(href) > URL_LENGTH_MAX:
        return None
    return canonical(href, base.url)


def _directory(address: Address) -> str:
    return address.path.partition("?")[0].rpartition("/")[0] + "/"

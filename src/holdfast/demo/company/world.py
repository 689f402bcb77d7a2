"""The company as a world: 140 pages and their traps by one seed, and the oracle of what a careful crawl holds.

The oracle is of a crawl that begins at `/`, reads the sitemaps, obeys robots.txt and goes no deeper than asked
(5 where nobody says): the calendar has no end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.demo.company import oddities
from holdfast.demo.company.facts import CompanyFacts, draw_facts
from holdfast.demo.company.oracle import sort_site, told
from holdfast.demo.company.pages import ordinary
from holdfast.demo.company.sheet import CompanySheet, Planted
from holdfast.demo.world import BASE_MARK, WorldPage

PAGES = 140
DELAY_MS = 100
DEPTH = 5
PUBLISHED = datetime(2031, 4, 1, tzinfo=UTC)
UNLISTED = re.compile(r"^/notes$|^/team/alumni$|^/news$|/specs|^/archive/")  # the sitemaps leave them out
PRIVATE = "/private/"
CRAWL_DELAYS = 10  # of the usual wait: 1 s where that is 100 ms
SITEMAPS = ("/sitemap-pages.xml", "/sitemap-archive.xml.gz")
XML = b'<?xml version="1.0" encoding="UTF-8"?>\n'
NAMESPACE = b'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


class Company(msgspec.Struct, frozen=True):
    """Made by `write_company`. `library` has every answer but those of the traps."""

    seed: int
    edition: int
    delay_ms: int
    facts: CompanyFacts
    library: Mapping[str, WorldPage]
    planted: Mapping[str, tuple[Planted, ...]] = msgspec.field(default_factory=dict)
    listed: tuple[str, ...] = ()  # by the sitemaps
    name: str = "company"

    def page(self, path: str, query: str) -> WorldPage | None:
        where = f"{path}?{query}" if query else path
        found = self.library.get(where) or oddities.endless(self.facts, path, query)
        if found is None and path.startswith("/products/"):
            return oddities.soft_404(self.facts)
        return found

    def advanced(self, editions: int) -> Company:
        return write_company(self.seed, edition=self.edition + editions, delay_ms=self.delay_ms)

    def oracle(self, base: str, depth: int | None = None) -> dict[str, Any]:
        depth_max = DEPTH if depth is None else depth
        sorting = sort_site(self._at, self.listed, private=PRIVATE, depth_max=depth_max)
        months = {where: (month,) for where, _, _ in sorting.pages if (month := oddities.month_of(where)) is not None}
        return told(self.facts, base, sorting, {**self.planted, **months}, ("/robots.txt", "/sitemap.xml", *SITEMAPS))

    def _at(self, where: str) -> WorldPage | None:
        path, _, query = where.partition("?")
        return self.page(path, query)


def make(seed: int, pages: int | None, delay_ms: int | None) -> Company:
    if pages not in (None, PAGES):
        raise ValueError(f"the company has {PAGES} pages, not {pages}")
    return write_company(seed, delay_ms=DELAY_MS if delay_ms is None else delay_ms)


def write_company(seed: int, *, edition: int = 1, delay_ms: int = DELAY_MS) -> Company:
    """Write all pages as of an edition; each later one has a blog post more and moves the others down the list."""
    facts = draw_facts(seed)
    sheets = [*ordinary(facts, edition), *oddities.odd_sheets(facts)]
    library = {sheet.url: _dated(sheet, edition) for sheet in sheets}
    assert len(library) == len(sheets), "two sheets of one URL"
    planted = {sheet.url: tuple(sheet.planted) for sheet in sheets}
    listed = tuple(sorted(url for url in library if not UNLISTED.search(url)))
    library |= oddities.odd_answers(facts, library, delay_ms)
    planted["/about"] = planted["/about-us/"]
    planted["/pricing?utm_source=newsletter"] = planted["/pricing"]
    library |= _lists(listed, edition, delay_ms)
    return Company(seed, edition, delay_ms, facts, library, planted, listed)


def _dated(sheet: CompanySheet, edition: int) -> WorldPage:
    """With an ETag of its bytes; the blog's pages also say when they last changed."""
    page = sheet.page()
    headers = (*page.headers, ("etag", f'"{sha256(page.body).hexdigest()[:16]}"'))
    if sheet.url == "/blog/":
        headers = (*headers, ("last-modified", format_datetime(_day(edition), usegmt=True)))
    return replace(page, headers=headers)


def _day(edition: int) -> datetime:
    """A week from one edition to the next."""
    return PUBLISHED + timedelta(days=7 * (edition - 1))


def _lists(listed: tuple[str, ...], edition: int, delay_ms: int) -> dict[str, WorldPage]:
    """robots.txt, the index of sitemaps and its two parts, the second of them gzipped."""
    robots = (
        f"User-agent: *\nDisallow: {PRIVATE}\nCrawl-delay: {CRAWL_DELAYS * delay_ms / 1000:g}\n\n"
        f"Sitemap: {BASE_MARK.decode()}/sitemap.xml\n"
    )
    half = len(listed) // 2
    day = f"{_day(edition):%Y-%m-%d}".encode()
    rows = [
        b"<sitemap><loc>%s%s</loc><lastmod>%s</lastmod></sitemap>" % (BASE_MARK, part.encode(), day)
        for part in SITEMAPS
    ]
    index = XML + b"<sitemapindex " + NAMESPACE + b">\n" + b"\n".join(rows) + b"\n</sitemapindex>\n"
    return {
        "/robots.txt": WorldPage(200, (("content-type", "text/plain"),), robots.encode(), rooted=True),
        "/sitemap.xml": WorldPage(200, (("content-type", "application/xml"),), index, rooted=True),
        SITEMAPS[0]: WorldPage(200, (("content-type", "application/xml"),), _urls(listed[:half], day), rooted=True),
        SITEMAPS[1]: WorldPage(
            200, (("content-type", "application/gzip"),), _urls(listed[half:], day), rooted=True, packed=True
        ),
    }


def _urls(urls: tuple[str, ...], day: bytes) -> bytes:
    rows = (
        b"<url><loc>%s%s</loc><lastmod>%s</lastmod></url>" % (BASE_MARK, url.replace("&", "&amp;").encode(), day)
        for url in urls
    )
    return XML + b"<urlset " + NAMESPACE + b">\n" + b"\n".join(rows) + b"\n</urlset>\n"

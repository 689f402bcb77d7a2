"""What a careful crawl of the company holds: it begins at `/`, reads the sitemaps, obeys robots.txt, keeps to a depth.

Made from what the world noted while it wrote its pages. It reads no HTML and asks no crawler.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from holdfast.demo.company.facts import CompanyFacts
from holdfast.demo.company.oddities import SCRIPTED, drawn_text, followed_as, is_piled
from holdfast.demo.company.sheet import Planted
from holdfast.demo.world import MISSING, REDIRECTS, WorldPage, body_at

PageAt = Callable[[str], WorldPage | None]


@dataclass(slots=True)
class Sorting:
    """Every URL of the site that a crawl comes by, under what becomes of it."""

    pages: list[tuple[str, int, WorldPage]] = field(default_factory=list)
    binaries: list[str] = field(default_factory=list)
    redirects: list[tuple[str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    soft_404: list[str] = field(default_factory=list)
    out_of_scope: list[str] = field(default_factory=list)
    robots: list[str] = field(default_factory=list)
    limit: list[str] = field(default_factory=list)
    too_deep: list[str] = field(default_factory=list)
    external: set[str] = field(default_factory=set)


def sort_site(page_at: PageAt, listed: Sequence[str], *, private: str, depth_max: int) -> Sorting:
    """Level by level: what a sitemap lists has depth 1, as if a page of depth 0 linked to it."""
    sorting = Sorting()
    depths = {"/": 0} | (dict.fromkeys(listed, 1) if depth_max else {})
    depths["/"] = 0
    ahead = deque(sorted(depths.items(), key=lambda item: item[1]))
    while ahead:
        where, depth = ahead.popleft()
        page = page_at(where) or MISSING
        sorting.external.update(page.external)
        _settle(sorting, where, depth, page)
        is_moved = page.status in REDIRECTS
        there = depth if is_moved else depth + 1
        new = [link for link in map(followed_as, page.links) if link not in depths]
        for link in dict.fromkeys(new):
            if link.startswith(private):
                depths[link] = there
                sorting.robots.append(link)
            elif is_piled(link):
                depths[link] = there
                sorting.limit.append(link)
            elif there > depth_max:
                if link not in sorting.too_deep:
                    sorting.too_deep.append(link)
            else:
                depths[link] = there
                ahead.appendleft((link, there)) if is_moved else ahead.append((link, there))
    sorting.too_deep = [url for url in sorting.too_deep if url not in depths]
    return sorting


def _settle(sorting: Sorting, where: str, depth: int, page: WorldPage) -> None:
    if page.status in REDIRECTS:
        if page.external:
            sorting.out_of_scope.append(where)
        else:
            sorting.redirects.append((where, page.links[0]))
    elif page.status == 404:
        sorting.missing.append(where)
    elif page.title == "Page not found":
        sorting.soft_404.append(where)
    elif page.is_html:
        sorting.pages.append((where, depth, page))
    else:
        sorting.binaries.append(where)


def told(
    facts: CompanyFacts, base: str, sorting: Sorting, planted: Mapping[str, Sequence[Planted]], lists: Sequence[str]
) -> dict[str, Any]:
    """The oracle as JSON; URLs are absolute under `base`."""
    rows = [_row(base, *each) for each in sorting.pages]
    seen = {where for where, _, _ in sorting.pages}
    entities = [one.row(base + url) for url in sorted(seen & planted.keys()) for one in planted[url]]
    return {
        "seed": facts.seed,
        "company": facts.org,
        "seeds": [f"{base}/"],
        "pages": sorted(rows, key=lambda row: str(row["url"])),
        "redirects": [{"from": base + a, "to": base + b} for a, b in sorted(sorting.redirects)],
        "missing": _under(base, sorting.missing),
        "binaries": _under(base, sorting.binaries),
        "lists": _under(base, lists),
        "robots_files": _under(base, [url for url in lists if url == "/robots.txt"]),
        "healing": _under(base, [where for where, _, page in sorting.pages if page.fails_first]),
        "soft_404": _under(base, sorting.soft_404),
        "out_of_scope": _under(base, sorting.out_of_scope),
        "robots": _under(base, sorting.robots),
        "limit": _under(base, sorting.limit),
        "too_deep": _under(base, sorting.too_deep),
        "external": sorted(sorting.external),
        "duplicates": sorted(_copies(rows)),
        "entities": entities,
        "drawn": {base + SCRIPTED: {"text": drawn_text(facts), "links": [f"{base}{SCRIPTED}/history"]}},
    }


def _under(base: str, urls: Sequence[str]) -> list[str]:
    return sorted(base + url for url in urls)


def _row(base: str, where: str, depth: int, page: WorldPage) -> dict[str, Any]:
    body = body_at(page, base)
    return {
        "url": base + where,
        "status": page.status,
        "title": page.title,
        "sha256": sha256(body).hexdigest(),
        "bytes": len(body),
        "depth": depth,
    }


def _copies(rows: Sequence[Mapping[str, Any]]) -> Iterator[list[str]]:
    """Groups of URLs with the same bytes."""
    groups: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        groups[row["sha256"]].append(row["url"])
    return (sorted(urls) for urls in groups.values() if len(urls) > 1)

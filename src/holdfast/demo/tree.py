"""The tree world of the selftest: page i links to 3i+1, 3i+2 and 3i+3, and every page takes its time.

Any lost page takes its whole branch with it, so a crawler that forgets its place cannot look finished.
"""

from functools import lru_cache
from hashlib import shake_256
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.demo.world import WorldPage, html_page, site_oracle

PAGES = 3_000
DELAY_MS = 20
PAGES_CACHED_MAX = 16_384  # of 1.5 KB each
LEAVES_PER_PAGE = 80  # makes some 1.5 KB
BRANCHES = 3

ROOT = "/p/0"
ROBOTS = WorldPage(200, (("content-type", "text/plain; charset=utf-8"),), b"User-agent: *\nAllow: /\n")
LEAVES = ("broad", "curly", "dewy", "fern", "glossy", "ivy", "lobed", "mossy", "oval", "silver", "spiky", "waxy")


class Tree(msgspec.Struct, frozen=True):
    """`pages` pages from `/p/0` on; what page i says depends on the seed and i alone, also in later editions."""

    seed: int = 7
    pages: int = PAGES
    delay_ms: int = DELAY_MS
    edition: int = 1
    name: str = "tree"

    def page(self, path: str, query: str) -> WorldPage | None:
        if path == "/robots.txt":
            return ROBOTS
        number = path.removeprefix("/p/")
        # One spelling per page: /p/007 and /p/7?x are not pages.
        if query or path == number or not number.isdecimal() or str(int(number)) != number:
            return None
        return _page(self.seed, self.pages, int(number)) if int(number) < self.pages else None

    def oracle(self, base: str, depth: int | None = None) -> dict[str, Any]:
        return site_oracle(self.seed, base, ROOT, lambda where: self.page(where, ""), depth)

    def advanced(self, editions: int) -> "Tree":
        return replace(self, edition=self.edition + editions)


def make(seed: int, pages: int | None, delay_ms: int | None) -> Tree:
    return Tree(seed=seed, pages=PAGES if pages is None else pages, delay_ms=DELAY_MS if delay_ms is None else delay_ms)


@lru_cache(maxsize=PAGES_CACHED_MAX)
def _page(seed: int, pages: int, number: int) -> WorldPage:
    title = f"Branch {number}"
    links = [f"/p/{twig}" for twig in range(BRANCHES * number + 1, BRANCHES * number + BRANCHES + 1) if twig < pages]
    twigs = "".join(f'<li><a href="{link}">Branch {link[3:]}</a></li>\n' for link in links)
    body = (
        f"<!doctype html>\n<html lang=en>\n<head><title>{title}</title></head>\n<body>\n<h1>{title}</h1>\n"
        f"<ul>\n{twigs}</ul>\n<p>{_leaves(seed, number)}</p>\n</body>\n</html>\n"
    )
    return html_page(body, title=title, links=links)


def _leaves(seed: int, number: int) -> str:
    drawn = shake_256(f"{seed}/{number}".encode()).digest(LEAVES_PER_PAGE)
    leaves = " ".join(f"{LEAVES[byte % len(LEAVES)]} leaf {byte}," for byte in drawn)
    return f"{leaves} and branch {number} sways."

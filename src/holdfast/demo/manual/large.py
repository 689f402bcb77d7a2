"""The manual in a size of one's choice: generated pages with 80 links each, for tests of memory and rate.

Page i says which pages lie below it and names others at random, so that most links are known already, as on real sites.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.demo.tidepool import Dice, paragraph
from holdfast.demo.world import WorldPage, html_page, site_oracle

LINKS = 80
BRANCHES = 3
PAGES_CACHED_MAX = 1024
ROBOTS = WorldPage(200, (("content-type", "text/plain; charset=utf-8"),), b"User-agent: *\nAllow: /\n")


class LargeManual(msgspec.Struct, frozen=True):
    """`pages` pages: `/` is the first, then `/page/1` and so on. Nothing is kept but what was just asked for."""

    seed: int
    pages: int
    delay_ms: int = 0
    edition: int = 1
    name: str = "manual"

    def page(self, path: str, query: str) -> WorldPage | None:
        if path == "/robots.txt":
            return ROBOTS
        number = "0" if path == "/" else path.removeprefix("/page/")
        if query or not number.isdecimal() or url_of(int(number)) != path or int(number) >= self.pages:
            return None
        return _page(self.seed, self.pages, int(number))

    def oracle(self, base: str, depth: int | None = None) -> dict[str, Any]:
        return site_oracle(self.seed, base, "/", lambda where: self.page(where, ""), depth)

    def advanced(self, editions: int) -> LargeManual:
        return replace(self, edition=self.edition + editions)


def url_of(number: int) -> str:
    return f"/page/{number}" if number else "/"


@lru_cache(maxsize=PAGES_CACHED_MAX)
def _page(seed: int, pages: int, number: int) -> WorldPage:
    dice = Dice(seed, "large", number)
    below = [n for n in range(BRANCHES * number + 1, BRANCHES * number + BRANCHES + 1) if n < pages]
    others = [dice.number(0, pages - 1) for _ in range(LINKS - len(below))]
    links = [url_of(n) for n in (*below, *others)]
    anchors = "\n".join(f'<li><a href="{link}">Section {link.rpartition("/")[2]}</a></li>' for link in links)
    title = f"Section {number}"
    body = (
        f'<!doctype html>\n<html lang="en">\n<head><title>{title}</title></head>\n<body>\n<h1>{title}</h1>\n'
        f"<p>{paragraph(dice)}</p>\n<ul>\n{anchors}\n</ul>\n</body>\n</html>\n"
    )
    return html_page(body, title=title, links=links)

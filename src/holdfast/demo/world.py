"""What a world is: pages fixed by one seed, and the oracle that says what a correct crawl of them holds.

The oracle walks the links a world noted while writing its pages. It never reads HTML and never asks Holdfast.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

HTML = "text/html; charset=utf-8"
BASE_MARK = b"@base@"


@dataclass(frozen=True, slots=True)
class WorldPage:
    """One answer of a world. `title`, `links` and `external` are what the world knows of it; they are never sent.

    `links` are path-and-query of the same site, without fragments, each once; a redirect links to where it leads.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    title: str = ""
    links: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    rooted: bool = False  # the origin writes its own scheme://host over BASE_MARK

    @property
    def is_html(self) -> bool:
        return ("content-type", HTML) in self.headers


class World(Protocol):
    """A site with a seed. `page` gives None where it has nothing, which the origin answers with 404."""

    @property
    def name(self) -> str: ...

    @property
    def seed(self) -> int: ...

    @property
    def edition(self) -> int: ...

    @property
    def delay_ms(self) -> int: ...

    def page(self, path: str, query: str) -> WorldPage | None: ...

    def oracle(self, base: str) -> dict[str, Any]: ...

    def advanced(self, editions: int) -> "World":
        """The same world some editions later; this one stays as it is."""
        ...


def html_page(
    body: str, *, title: str, links: Iterable[str], external: Iterable[str] = (), status: int = 200
) -> WorldPage:
    return WorldPage(
        status=status,
        headers=(("content-type", HTML),),
        body=body.encode(),
        title=title,
        links=tuple(dict.fromkeys(links)),
        external=tuple(dict.fromkeys(external)),
    )


def redirect_page(location: str) -> WorldPage:
    return WorldPage(301, (("content-type", HTML), ("location", location)), b"<p>Moved.</p>\n", links=(location,))


MISSING = html_page("<title>Not found</title><p>No such page.</p>\n", title="Not found", links=(), status=404)


def site_oracle(seed: int, base: str, root: str, page_at: Callable[[str], WorldPage | None]) -> dict[str, Any]:
    """Everything reachable from `root` by the worlds' own link lists, breadth first; URLs are absolute under `base`."""
    pages: list[dict[str, Any]] = []
    redirects: list[dict[str, str]] = []
    missing: list[str] = []
    binaries: list[str] = []
    external: set[str] = set()
    for where, depth, page in _walk(root, page_at):
        url = base + where
        external.update(page.external)
        if page.status == 404:
            missing.append(url)
        elif page.status == 301:
            redirects.append({"from": url, "to": base + page.links[0]})
        elif not page.is_html:
            binaries.append(url)
        else:
            pages.append(_row(url, where, depth, page))
    return {
        "seed": seed,
        "seeds": [base + root],
        "pages": sorted(pages, key=lambda row: str(row["url"])),
        "redirects": sorted(redirects, key=lambda row: row["from"]),
        "missing": sorted(missing),
        "external": sorted(external),
        "binaries": sorted(binaries),
    }


def _walk(root: str, page_at: Callable[[str], WorldPage | None]) -> Iterable[tuple[str, int, WorldPage]]:
    seen = {root}
    ahead = deque([(root, 0)])
    while ahead:
        where, depth = ahead.popleft()
        page = page_at(where) or MISSING
        yield where, depth, page
        for link in page.links:
            if link not in seen:
                seen.add(link)
                ahead.append((link, depth + 1))


def _row(url: str, where: str, depth: int, page: WorldPage) -> dict[str, Any]:
    return {
        "url": url,
        "status": page.status,
        "title": page.title,
        "sha256": sha256(page.body).hexdigest(),
        "bytes": len(page.body),
        "depth": depth,
        "links_in_scope": len(set(page.links) - {where}),
    }

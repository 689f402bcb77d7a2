"""What a world is: pages fixed by one seed, and the oracle that says what a correct crawl of them holds.

The oracle walks the links a world noted while writing its pages. It never reads HTML and never asks Holdfast.
A world whose answers depend on more than the path (a form, a session, the time) gives them by `answer`.
"""

import gzip
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from typing import Any, Protocol, runtime_checkable

import msgspec

HTML = "text/html; charset=utf-8"
BASE_MARK, HOST_MARK = b"@base@", b"@host@"
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class WorldPage(msgspec.Struct, frozen=True):
    """One answer of a world. `title`, `links` and `external` are what the world knows of it; they are never sent.

    `links` are path-and-query of the same site, without fragments, each once; a redirect links to where it leads.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    title: str = ""
    links: tuple[str, ...] = ()
    external: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()  # links of this site that robots.txt forbids
    rooted: bool = False  # the origin writes its own scheme://host over BASE_MARK
    wait_ms: int = 0  # before the first byte, in any weather
    fails_first: int = 0  # so many asks get 500 before this answer is given
    packed: bool = False  # sent as a gzip file
    facts: Mapping[str, Any] | None = None  # what Markdown of it must have, for the oracle

    @property
    def is_html(self) -> bool:
        return ("content-type", HTML) in self.headers


class WorldRequest(msgspec.Struct, frozen=True):
    """One request, for worlds that need more of it than the path. `now_ms` is the world's own clock."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)  # names in lower case
    body: bytes = b""
    base: str = ""  # scheme://host that was asked
    now_ms: int = 0
    nth: int = 1  # how often this path and query was asked for, this time included


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

    def oracle(self, base: str, depth: int | None = None) -> dict[str, Any]:
        """With a depth: what a crawl holds that goes no deeper."""
        ...

    def advanced(self, editions: int) -> "World":
        """The same world some editions later; this one stays as it is."""
        ...


@runtime_checkable
class AnsweringWorld(Protocol):
    """A world that is handed whole requests, of any method, instead of paths."""

    def answer(self, request: WorldRequest) -> WorldPage | None: ...


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


def body_at(page: WorldPage, base: str) -> bytes:
    """The bytes as they are sent under scheme://host `base`."""
    body = page.body
    if page.rooted:
        host = base.partition("://")[2]
        body = body.replace(BASE_MARK, base.encode("latin-1")).replace(HOST_MARK, host.encode("latin-1"))
    # Stored, not deflated: zlib builds differ in how they compress.
    return gzip.compress(body, 0, mtime=0) if page.packed else body


def redirect_page(location: str) -> WorldPage:
    return WorldPage(301, (("content-type", HTML), ("location", location)), b"<p>Moved.</p>\n", links=(location,))


MISSING = html_page("<title>Not found</title><p>No such page.</p>\n", title="Not found", links=(), status=404)


def site_oracle(
    seed: int, base: str, root: str, page_at: Callable[[str], WorldPage | None], depth_max: int | None = None
) -> dict[str, Any]:
    """Everything reachable from `root` by the worlds' own link lists, breadth first; URLs are absolute under `base`."""
    pages: list[dict[str, Any]] = []
    redirects: list[dict[str, str]] = []
    missing: list[str] = []
    binaries: list[str] = []
    external: set[str] = set()
    barred: set[str] = set()
    for where, depth, page in walk(root, page_at, depth_max):
        url = base + where
        external.update(page.external)
        barred.update(base + link for link in page.barred)
        if page.status == 404:
            missing.append(url)
        elif page.status in REDIRECTS:
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
        "robots": sorted(barred),
    }


def walk(
    root: str, page_at: Callable[[str], WorldPage | None], depth_max: int | None = None
) -> Iterable[tuple[str, int, WorldPage]]:
    """(where, depth, page), each once, level by level; where a redirect leads has the depth of the redirect."""
    seen = {root}
    ahead = deque([(root, 0)])
    while ahead:
        where, depth = ahead.popleft()
        page = page_at(where) or MISSING
        yield where, depth, page
        if page.status in REDIRECTS:
            new = [link for link in page.links if link not in seen]
            seen.update(new)
            ahead.extendleft((link, depth) for link in reversed(new))
            continue
        for link in page.links:
            if link not in seen and (depth_max is None or depth < depth_max):
                seen.add(link)
                ahead.append((link, depth + 1))


def _row(url: str, where: str, depth: int, page: WorldPage) -> dict[str, Any]:
    body = body_at(page, url.removesuffix(where))
    return {
        "url": url,
        "status": page.status,
        "title": page.title,
        "sha256": sha256(body).hexdigest(),
        "bytes": len(body),
        "depth": depth,
        "links_in_scope": len(set(page.links) - {where}),
        **({"facts": page.facts} if page.facts is not None else {}),
    }

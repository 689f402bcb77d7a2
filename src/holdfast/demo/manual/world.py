"""The handbook as a world: 600 HTML pages fixed by one seed.

Calm on purpose: one redirect, one dead link, three binaries, a text file behind its view, and a search without end that
robots.txt keeps crawlers out of. Every URL in a page is relative to the site, so the bytes do not depend on the address
it is served from.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from datetime import datetime
from email.utils import format_datetime
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.demo.faults import chance
from holdfast.demo.manual.large import LargeManual
from holdfast.demo.manual.layout import DEEP_TRAIL, ManualPlace, lay_out
from holdfast.demo.manual.writing import write_page
from holdfast.demo.tidepool import SECTIONS, Dice, paragraph
from holdfast.demo.world import BASE_MARK, WorldPage, html_page, redirect_page, site_oracle

PAGES = 600
PAGES_LARGE_MAX = 1_000_000
REVISED_SHARE = 0.05  # of the pages, by each new edition
OLD_GUIDE = "/old-guide"
LOST = "/guide/lost-at-sea"
BOARD_PNG = "/files/tidepool-board.png"
POOL_PNG = "/files/pool-map.png"
EXAMPLES_ZIP = "/files/tidepool-examples.zip"
README_VIEW = "/tidepool/firmware/blob/main/README.md"
README_RAW = README_VIEW.replace("/blob/", "/raw/")
SEARCH = "/search"

Extras = dict[str, dict[str, str]]


class Manual(msgspec.Struct, frozen=True):
    """Made by `write_manual`. `library` holds every answer by path-and-query, some 5 MB."""

    seed: int
    edition: int
    delay_ms: int
    library: Mapping[str, WorldPage]
    name: str = "manual"

    def page(self, path: str, query: str) -> WorldPage | None:
        return _results(query) if path == SEARCH else self.library.get(f"{path}?{query}" if query else path)

    def oracle(self, base: str, depth: int | None = None) -> dict[str, Any]:
        return site_oracle(self.seed, base, "/", self.library.get, depth)

    def advanced(self, editions: int) -> "Manual":
        return write_manual(self.seed, edition=self.edition + editions, delay_ms=self.delay_ms)


def make(seed: int, pages: int | None, delay_ms: int | None) -> Manual | LargeManual:
    if pages in (None, PAGES):
        return write_manual(seed, delay_ms=delay_ms or 0)
    if not PAGES < pages <= PAGES_LARGE_MAX:
        raise ValueError(f"the manual has {PAGES} pages, or up to {PAGES_LARGE_MAX} that are generated; not {pages}")
    return LargeManual(seed, pages, delay_ms or 0)


def write_manual(seed: int, *, edition: int = 1, delay_ms: int = 0) -> Manual:
    """Write all pages as of an edition. Each edition rewrites about one page in twenty, adds one and removes one."""
    places = lay_out(seed, edition)
    extras = _extras(places)
    written = {
        url: write_page(place, places, extras.get(url, {}), seed, revision_of(seed, url, edition))
        for url, place in places.items()
    }
    library = {url: _dated(page, revision_of(seed, url, edition)) for url, page in written.items()}
    library["/llms-full.txt"] = _file("text/plain; charset=utf-8", _llms_full(seed, library))
    library |= _side_files(seed, places, edition)
    library[OLD_GUIDE] = redirect_page(places["/guide/"].parts[0])
    return Manual(seed, edition, delay_ms, library)


def _dated(page: WorldPage, revision: int) -> WorldPage:
    """With an ETag of its bytes and the day of its last revision."""
    changed = format_datetime(datetime.fromisoformat(f"{day_of(revision)}T00:00:00+00:00"), usegmt=True)
    etag = f'"{sha256(page.body).hexdigest()[:16]}"'
    return replace(page, headers=(*page.headers, ("etag", etag), ("last-modified", changed)))


def day_of(edition: int) -> str:
    """The calendar is the world's own, one month an edition."""
    months = edition - 1
    return f"{2030 + months // 12}-{months % 12 + 1:02d}-01"


def revision_of(seed: int, url: str, edition: int) -> int:
    """The last edition, up to this one, in which the page was rewritten; 1 when it never was."""
    revised = (later for later in range(edition, 1, -1) if chance(seed, "revised", url, later) < REVISED_SHARE)
    return next(revised, 1)


def _extras(places: Mapping[str, ManualPlace]) -> Extras:
    """The odd links, each on one page. The old guide is mentioned deeper than where it leads: depths stay clear."""
    guide = [places[url] for url in places["/guide/"].parts]
    sensors = [places[url] for url in places["/sensors/"].parts]
    return {
        guide[1].parts[0]: {OLD_GUIDE: "The old guide"},
        guide[2].parts[0]: {LOST: "A page lost at sea"},
        guide[3].parts[0]: {README_VIEW: "The firmware's own words"},
        guide[4].parts[0]: {f"{SEARCH}?q=tide": "Search the handbook"},
        sensors[0].url: {BOARD_PNG: "The board, as a picture"},
        sensors[1].url: {POOL_PNG: "A pool, mapped"},
        "/cookbook/": {EXAMPLES_ZIP: "All examples in one file"},
    }


def _side_files(seed: int, places: Mapping[str, ManualPlace], edition: int) -> dict[str, WorldPage]:
    return {
        "/robots.txt": _file("text/plain; charset=utf-8", f"User-agent: *\nDisallow: {SEARCH}\n".encode()),
        README_RAW: _file("text/markdown; charset=utf-8", _readme(seed).encode()),
        README_VIEW: html_page(
            f'<title>README.md</title><link rel="canonical" href="{README_VIEW}"><pre>{_readme(seed)}</pre>\n',
            title="README.md",
            links=(),
        ),
        "/llms.txt": _file("text/plain; charset=utf-8", _llms_txt(seed, places).encode()),
        "/sitemap.xml": _file("application/xml", _sitemap(seed, places, edition), rooted=True),
        BOARD_PNG: _file("image/png", _png(Dice(seed, BOARD_PNG))),
        POOL_PNG: _file("image/png", _png(Dice(seed, POOL_PNG))),
        EXAMPLES_ZIP: _file("application/zip", _zip(Dice(seed, EXAMPLES_ZIP))),
    }


def _readme(seed: int) -> str:
    return f"# Firmware\n\n{paragraph(Dice(seed, 'readme'))}\n\n```bash\nmake flash PORT=/dev/ttyUSB0\n```\n"


def _llms_full(seed: int, library: Mapping[str, WorldPage]) -> bytes:
    """Every page's headings and samples in one text, some 500 KB."""
    parts = [f"# Tidepool handbook\n\n> {paragraph(Dice(seed, 'llms'))}\n"]
    for url, page in library.items():
        facts = page.facts or {}
        headings = "\n\n".join(f"{'#' * level} {text}" for level, text in facts.get("headings", ()))
        samples = "".join(f"\n```{language}\n{code}\n```\n" for language, code in facts.get("code", ()))
        parts.append(f"<!-- {url} -->\n{headings}\n{samples}")
    return "\n".join(parts).encode()


def _results(query: str) -> WorldPage | None:
    """A search that always finds more to search for."""
    said = query.removeprefix("q=")
    if said == query or len(said) > 2_000:
        return None
    links = [f"{SEARCH}?q={said}+{word}" for word in ("crab", "kelp", "tide")]
    anchors = "".join(f'<li><a href="{link}">{link[10:]}</a></li>' for link in links)
    return html_page(f"<title>Search</title><h1>Nothing yet</h1><ul>{anchors}</ul>\n", title="Search", links=links)


def _file(kind: str, body: bytes, *, rooted: bool = False) -> WorldPage:
    return WorldPage(200, (("content-type", kind),), body, rooted=rooted)


def _llms_txt(seed: int, places: Mapping[str, ManualPlace]) -> str:
    """Sections and chapters as Markdown links; the deep trail stays a secret of `/early`."""
    lines = ["# Tidepool handbook", "", f"> {paragraph(Dice(seed, 'llms'))}"]
    for name, text in SECTIONS.items():
        lines += ["", f"## {text}", ""]
        lines += [f"- [{places[url].title}]({url})" for url in places[f"/{name}/"].parts]
    return "\n".join(lines) + "\n"


def _sitemap(seed: int, places: Mapping[str, ManualPlace], edition: int) -> bytes:
    """All pages but the deep trail below `/early`."""
    hidden = {url for url, _ in DEEP_TRAIL[1:]}
    rows = [b'<?xml version="1.0" encoding="UTF-8"?>', b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">']
    for url in places.keys() - hidden:
        day = day_of(revision_of(seed, url, edition))
        rows.append(b"<url><loc>%s%s</loc><lastmod>%s</lastmod></url>" % (BASE_MARK, url.encode(), day.encode()))
    return b"\n".join([*rows[:2], *sorted(rows[2:]), b"</urlset>"]) + b"\n"


def _png(dice: Dice, side: int = 32) -> bytes:
    """A square of grey drops. Stored, not deflated: zlib builds differ in how they compress."""
    rows = b"".join(b"\0" + bytes(dice.number(0, 255) for _ in range(side)) for _ in range(side))

    def part(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", header) + part(b"IDAT", zlib.compress(rows, 0)) + part(b"IEND", b"")


def _zip(dice: Dice) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for number in range(1, 9):
            entry = zipfile.ZipInfo(f"tidepool/example-{number}.txt", (2030, 1, 1, 0, 0, 0))
            entry.create_system = 3  # the same bytes on every system
            archive.writestr(entry, paragraph(dice) + "\n")
    return packed.getvalue()

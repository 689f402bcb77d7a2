"""The `manual` world: the handbook of an invented sensor kit, 600 HTML pages fixed by one seed.

Calm on purpose: one redirect, one dead link, three binaries, nothing endless. Every URL in a page is relative to the
site, so the bytes do not depend on the address it is served from.
"""

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.demo.faults import chance
from holdfast.demo.manual_html import write_page
from holdfast.demo.manual_layout import DEEP_TRAIL, ManualPlace, lay_out
from holdfast.demo.tidepool import SECTIONS, Dice, paragraph
from holdfast.demo.world import BASE_MARK, WorldPage, redirect_page, site_oracle

PAGES = 600
REVISED_SHARE = 0.05  # of the pages, by each new edition
OLD_GUIDE = "/old-guide"
LOST = "/guide/lost-at-sea"
BOARD_PNG = "/files/tidepool-board.png"
POOL_PNG = "/files/pool-map.png"
EXAMPLES_ZIP = "/files/tidepool-examples.zip"

Extras = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Manual:
    """Made by `write_manual`. `library` holds every answer by path-and-query, some 5 MB."""

    seed: int
    edition: int
    delay_ms: int
    library: Mapping[str, WorldPage]
    name: str = "manual"

    def page(self, path: str, query: str) -> WorldPage | None:
        return self.library.get(f"{path}?{query}" if query else path)

    def oracle(self, base: str) -> dict[str, Any]:
        return site_oracle(self.seed, base, "/", self.library.get)

    def advanced(self, editions: int) -> "Manual":
        return write_manual(self.seed, edition=self.edition + editions, delay_ms=self.delay_ms)


def write_manual(seed: int, *, edition: int = 1, delay_ms: int = 0) -> Manual:
    """Write all pages as of an edition. Each edition rewrites about one page in twenty and keeps all links."""
    places = lay_out(seed)
    extras = _extras(places)
    library = {
        url: write_page(place, places, extras.get(url, {}), seed, revision_of(seed, url, edition))
        for url, place in places.items()
    }
    library |= _side_files(seed, places, edition)
    library[OLD_GUIDE] = redirect_page(places["/guide/"].parts[0])
    return Manual(seed, edition, delay_ms, library)


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
        sensors[0].url: {BOARD_PNG: "The board, as a picture"},
        sensors[1].url: {POOL_PNG: "A pool, mapped"},
        "/cookbook/": {EXAMPLES_ZIP: "All examples in one file"},
    }


def _side_files(seed: int, places: Mapping[str, ManualPlace], edition: int) -> dict[str, WorldPage]:
    return {
        "/robots.txt": _file("text/plain; charset=utf-8", b"User-agent: *\nAllow: /\n"),
        "/llms.txt": _file("text/plain; charset=utf-8", _llms_txt(seed, places).encode()),
        "/sitemap.xml": _file("application/xml", _sitemap(seed, places, edition), rooted=True),
        BOARD_PNG: _file("image/png", _png(Dice(seed, BOARD_PNG))),
        POOL_PNG: _file("image/png", _png(Dice(seed, POOL_PNG))),
        EXAMPLES_ZIP: _file("application/zip", _zip(Dice(seed, EXAMPLES_ZIP))),
    }


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
    """All pages but the deep trail below `/early`; the calendar is the world's own, one month an edition."""
    hidden = {url for url, _ in DEEP_TRAIL[1:]}
    rows = [b'<?xml version="1.0" encoding="UTF-8"?>', b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">']
    for url in places.keys() - hidden:
        months = revision_of(seed, url, edition) - 1
        day = f"{2030 + months // 12}-{months % 12 + 1:02d}-01"
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

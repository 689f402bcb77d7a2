"""Lists of URLs as sites publish them: sitemaps (XML, its index, plain text, feeds, each also gzipped) and llms.txt.

They come from strangers. Reading takes time linear in the size and bounded memory, and what a packed one unpacks into
is limited before it is made. Whatever of a list is not taken is counted.
"""

from __future__ import annotations

import re
from itertools import islice

import msgspec

from holdfast.model.keys import URL_LENGTH_MAX
from holdfast.policy.listings import Gathered, Plain, decoded, plain
from holdfast.policy.markup import read_markup

LLMS_LINKS_MAX = 50_000
LINES_JUDGED = 10

_LINE = re.compile(rb"[^\r\n]++")
_URL = re.compile(rb"https?://\S+", re.IGNORECASE)
_NAMED = re.compile(r"(?:^|/)sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$", re.IGNORECASE)
_NAMED_IN_ROBOTS = re.compile(rb"(?:^(?:\xef\xbb\xbf)?|[\r\n])[ \t]*+sitemap[ \t]*+:[ \t]*+([^\r\n#]*+)", re.IGNORECASE)
_MARKDOWN = re.compile(r"\[[^\[\]\n]{0,500}+\]\(\s{0,9}<?([^\s<>()]{1,8192}+)")
_HEADING = re.compile(r"^#[ \t]+(.{1,500})", re.MULTILINE)


class Sitemap(msgspec.Struct, frozen=True):
    """`urls` as written, in order, each once, at most URLS_MAX; an index names further sitemaps instead of pages."""

    urls: tuple[str, ...]
    is_index: bool = False
    beyond: int = 0  # were listed behind the last that is taken
    unreadable: int = 0  # entries that are not URLs
    cut: str = ""  # why not the whole list could be read


def names_a_sitemap(path: str) -> bool:
    """Whether a URL's path says that a sitemap is there: `/sitemap.xml`, `/sitemap-news.xml.gz`."""
    return _NAMED.search(path.partition("?")[0]) is not None


def names_llms_txt(path: str) -> bool:
    return path.partition("?")[0].rpartition("/")[2] == "llms.txt"


def read_sitemap(body: bytes) -> Sitemap | None:
    """What a sitemap lists; None where it is none. SitemapRefused where it is too large, or a bomb."""
    text, at, cut = plain(body)
    gathered = Gathered(cut)
    is_index = read_markup(text, at, gathered)
    if is_index is None and not _read_lines(text, at, gathered):
        return None
    return _made(gathered, is_index=bool(is_index))


def read_sitemap_lines(robots: bytes) -> Sitemap:
    """The sitemaps that a robots.txt names, wherever in it and whatever its rules."""
    if robots.startswith((b"\xff\xfe", b"\xfe\xff")):
        robots = robots.decode("utf-16", "replace").encode()
    gathered = Gathered()
    for line in _NAMED_IN_ROBOTS.finditer(robots):
        if not gathered.looks_on():
            break
        gathered.add(decoded(line[1]))
    return _made(gathered, is_index=True)


def _made(gathered: Gathered, *, is_index: bool) -> Sitemap:
    return Sitemap(tuple(gathered.urls), is_index, gathered.beyond, gathered.unreadable, gathered.cut)


def _read_lines(text: Plain, at: int, gathered: Gathered) -> bool:
    """A plain list: one URL per line and nothing else, judged by its first lines. False where it is none."""
    judged = 0
    for found in _LINE.finditer(text, at):
        start, end = found.span()
        if end == len(text) and gathered.cut:
            break  # perhaps half a URL
        line = bytes(text[start : min(end, start + 4 * URL_LENGTH_MAX)]).strip()
        if not line:
            continue
        is_url = _URL.fullmatch(line) is not None
        judged += 1
        if not is_url and judged <= LINES_JUDGED:
            return False
        gathered.add(decoded(line) if is_url else "")
        if not gathered.looks_on():
            break
    return judged > 0


def read_llms_txt(text: str) -> tuple[str | None, tuple[str, ...]]:
    """The title and the links of an llms.txt, which is Markdown."""
    heading = _HEADING.search(text)
    links = (match[1] for match in _MARKDOWN.finditer(text))
    return heading[1].strip() if heading else None, tuple(dict.fromkeys(islice(links, LLMS_LINKS_MAX)))

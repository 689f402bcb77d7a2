"""Lists of URLs as sites publish them: sitemaps (XML, its index, plain text, each also gzipped) and llms.txt.

They come from strangers. No XML parser is asked, so there is nothing to expand; reading takes time linear in the size,
and what a packed one unpacks into is limited before it is made.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from itertools import islice

from holdfast.model.references import unescaped

SITEMAP_BYTES_MAX = 50_000_000
RATIO_MAX = 100
RATIO_FROM_BYTES = 1_000_000
URLS_MAX = 50_000
LLMS_LINKS_MAX = 50_000
STEP_BYTES = 65_536
ROOT_WITHIN = 4_096
LINES_JUDGED = 10

_GZIP_MAGIC = b"\x1f\x8b"
_WINDOW_GZIP = 31
_ROOT = re.compile(r"<((?:[A-Za-z][\w.-]{0,30}:)?)(urlset|sitemapindex)[\s>/]")
_LINE = re.compile(r"https?://\S+", re.IGNORECASE)
_NAMED = re.compile(r"(?:^|/)sitemap[^/]*\.(?:xml|txt)(?:\.gz)?$", re.IGNORECASE)
_MARKDOWN = re.compile(r"\[[^\[\]\n]{0,500}+\]\(\s{0,9}<?([^\s<>()]{1,8192}+)")
_HEADING = re.compile(r"^#[ \t]+(.{1,500})", re.MULTILINE)


class SitemapRefused(ValueError):
    """`code` is a failure code; the message says what is wrong with the file."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Sitemap:
    """`urls` as written, in order, at most URLS_MAX; an index names further sitemaps instead of pages."""

    urls: tuple[str, ...]
    is_index: bool = False
    beyond: bool = False  # there were more


def names_a_sitemap(path: str) -> bool:
    """Whether a URL's path says that a sitemap is there: `/sitemap.xml`, `/sitemap-news.xml.gz`."""
    return _NAMED.search(path.partition("?")[0]) is not None


def names_llms_txt(path: str) -> bool:
    return path.partition("?")[0].rpartition("/")[2] == "llms.txt"


def read_sitemap(body: bytes) -> Sitemap | None:
    """What a sitemap lists; None where it is none. SitemapRefused where it is too large, or a bomb."""
    if body.startswith(_GZIP_MAGIC):
        body = _unpacked(body)
    if len(body) > SITEMAP_BYTES_MAX:
        raise SitemapRefused("body_too_large", f"the sitemap is larger than {SITEMAP_BYTES_MAX} bytes")
    text = _text(body)
    root = _ROOT.search(text, 0, ROOT_WITHIN)
    if root is None:
        return _of_lines(text)
    prefix = re.escape(root[1])  # `<image:loc>` of another namespace is no page
    location = re.compile(rf"<{prefix}loc\s*+>\s*+(?:<!\[CDATA\[([^\]<]*+)\]\]>|([^<]*+))")
    found = (match[1] or match[2] or "" for match in location.finditer(text, root.end()))
    urls = tuple(unescaped(url).strip() for url in islice(found, URLS_MAX))
    return Sitemap(urls, root[2] == "sitemapindex", beyond=next(found, None) is not None)


def read_llms_txt(text: str) -> tuple[str | None, tuple[str, ...]]:
    """The title and the links of an llms.txt, which is Markdown."""
    heading = _HEADING.search(text)
    links = (match[1] for match in _MARKDOWN.finditer(text))
    return heading[1].strip() if heading else None, tuple(dict.fromkeys(islice(links, LLMS_LINKS_MAX)))


def _of_lines(text: str) -> Sitemap | None:
    """A plain list: one URL per line and nothing else, judged by its first lines."""
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    if not lines or not all(_LINE.fullmatch(line) for line in lines[:LINES_JUDGED]):
        return None
    urls = [line for line in lines if _LINE.fullmatch(line)]
    return Sitemap(tuple(urls[:URLS_MAX]), beyond=len(urls) > URLS_MAX)


def _text(body: bytes) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    return body.decode("utf-8", "replace").removeprefix("\ufeff")


def _unpacked(packed: bytes) -> bytes:
    """A gzip member undone step by step, within the size and the ratio that a sitemap may have."""
    stream, pieces, size = zlib.decompressobj(_WINDOW_GZIP), list[bytes](), 0
    rest = packed
    while not stream.eof:
        try:
            piece = stream.decompress(rest, STEP_BYTES)
        except zlib.error as error:
            raise SitemapRefused("answer_unreadable", f"the sitemap is not valid gzip: {error}") from None
        rest = stream.unconsumed_tail
        size += len(piece)
        if size > SITEMAP_BYTES_MAX:
            raise SitemapRefused("body_too_large", f"the sitemap is larger than {SITEMAP_BYTES_MAX} bytes")
        if size >= RATIO_FROM_BYTES and size > RATIO_MAX * len(packed):
            raise SitemapRefused("bomb", f"{len(packed)} bytes of a sitemap unpacked into more than {size}")
        if not piece and not rest and not stream.eof:
            raise SitemapRefused("body_incomplete", "the gzipped sitemap ends too early")
        pieces.append(piece)
    return b"".join(pieces)

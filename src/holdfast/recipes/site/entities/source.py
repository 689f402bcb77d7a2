"""A stored page as the rules read it: its visible text and what its markup says. Nothing is fetched or resolved.

The text comes from one function, `page_text`; the markup is parsed only where it is light enough for a tree.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from holdfast.recipe.weight import too_heavy
from holdfast.recipes.site.charset import decode
from holdfast.recipes.site.entities.mention import MARKUP, Place
from holdfast.recipes.site.page import HTML_BYTES_MAX
from holdfast.recipes.site.page_types import page_type
from holdfast.recipes.site.text import visible_text

TEXT_LENGTH_MAX = 400_000
PASSAGE_LENGTH_MAX = 240
REACH = 2 * PASSAGE_LENGTH_MAX
DATA_OBJECTS_MAX = 500
DATA_DEPTH_MAX = 12
LINKS_MAX = 2_000
HEADINGS_MAX = 60
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+(?=[A-ZÀ-Þ0-9\"'“(])")
_SPACES = re.compile(r"\s+")


class Link(msgspec.Struct, frozen=True, gc=False):
    href: str
    text: str


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One page. `data` are its JSON-LD objects, nested ones too; `not_parsed` says why the markup was not read."""

    url: str
    text: str
    html: str = ""
    title: str = ""
    description: str = ""
    site_name: str = ""
    generator: str = ""
    author: str = ""
    lang: str = ""
    headings: tuple[tuple[int, str], ...] = ()
    links: tuple[Link, ...] = ()
    addresses: tuple[str, ...] = ()
    times: tuple[tuple[str, str], ...] = ()  # (datetime, text)
    scripts: tuple[str, ...] = ()
    data: tuple[dict[str, Any], ...] = ()
    not_parsed: str = ""

    @property
    def type(self) -> str:
        return page_type(self.url, self.title)

    def around(self, start: int, end: int) -> Place:
        """The sentence or line that holds these characters of the text, cut where it is long."""
        # No further than it could reach: a line may be the whole page, and every word of it may be asked about.
        first, last = max(0, start - REACH), min(len(self.text), end + REACH)
        line = self.text.rfind("\n", first, start) + 1 or first
        close = self.text.find("\n", end, last)
        stop = last if close < 0 else close
        if stop - line > PASSAGE_LENGTH_MAX:
            marks = [line + mark.end() for mark in _SENTENCE_END.finditer(self.text[line:stop])]
            line = max((mark for mark in marks if mark <= start), default=line)
            stop = min((mark for mark in marks if mark >= end), default=stop)
        if stop - line > PASSAGE_LENGTH_MAX:
            half = (PASSAGE_LENGTH_MAX - min(end - start, PASSAGE_LENGTH_MAX)) // 2
            line, stop = max(line, start - half), min(stop, max(end + half, start + PASSAGE_LENGTH_MAX - half))
        piece = self.text[line:stop]
        return Place(piece.strip(), line + len(piece) - len(piece.lstrip()))

    def locate(self, *spellings: str) -> Place:
        """Where the first of these spellings stands: in the text if it does, else in the markup."""
        for spelling in spellings:
            at = self.text.find(spelling) if spelling else -1
            if at >= 0:
                return self.around(at, at + len(spelling))
        for spelling in spellings:
            at = self.html.find(spelling) if spelling else -1
            if at >= 0:
                return Place(self._in_markup(at, at + len(spelling)), MARKUP)
        return Place(self.html[:0], MARKUP)

    def _in_markup(self, start: int, end: int) -> str:
        """The tag around these characters, or the field of structured data that they stand in."""
        opened = self.html.rfind("<", 0, start)
        if opened > self.html.rfind(">", 0, start):
            closed = self.html.find(">", end) + 1 or len(self.html)
        else:
            opened = max(self.html.rfind(mark, 0, start) for mark in "{,[>\n") + 1
            closed = min((place for mark in "},]<\n" if (place := self.html.find(mark, end)) >= 0), default=end)
        if closed - opened > PASSAGE_LENGTH_MAX:
            opened, closed = max(opened, start - 60), min(closed, max(end, start + 120))
        return self.html[opened:closed].strip()


def page_text(body: bytes, content_type: str) -> str:
    """The visible text of a page: the one place to change when texts are derived otherwise."""
    return (visible_text(body, content_type) or "")[:TEXT_LENGTH_MAX]


def read_source(url: str, body: bytes, content_type: str) -> Source:
    """Any bytes give a source; what cannot be read is empty, and says so."""
    text = page_text(body, content_type)
    if len(body) > HTML_BYTES_MAX:
        return Source(url=url, text=text, not_parsed=f"HTML over {HTML_BYTES_MAX // 1_000_000} MB")
    html = decode(body, content_type)
    if refused := too_heavy(html):
        return Source(url=url, text=text, html=html, not_parsed=refused)
    return _parsed(url, text, html)


def _parsed(url: str, text: str, html: str) -> Source:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)

    def meta(*names: str) -> str:
        for name in names:
            node = tree.css_first(f'meta[name="{name}" i], meta[property="{name}" i]')
            if node is not None and (value := clean(node.attributes.get("content") or "")):
                return value[:500]
        return ""

    def shown(node: Any) -> str:
        return clean(node.text(deep=True, separator=" "))

    root, title = tree.css_first("html"), tree.css_first("head title") or tree.css_first("title")
    headings = [(int(str(node.tag)[1]), shown(node)[:200]) for node in tree.css("h1, h2, h3, h4")[:HEADINGS_MAX]]
    links = [Link(node.attributes.get("href") or "", shown(node)[:200]) for node in tree.css("a[href]")[:LINKS_MAX]]
    scripts = [node.attributes.get("src") or "" for node in tree.css("script[src]")[:200]]
    sheets = [node.attributes.get("href") or "" for node in tree.css("link[href]")[:200]]
    return Source(
        url=url,
        text=text,
        html=html,
        title="" if title is None else shown(title)[:300],
        description=meta("description", "og:description"),
        site_name=meta("og:site_name", "application-name"),
        generator=meta("generator"),
        author=meta("author"),
        lang=((root.attributes.get("lang") or "") if root is not None else "")[:20],
        headings=tuple((level, heading) for level, heading in headings if heading),
        links=tuple(links),
        addresses=tuple(node.text(deep=True, separator="\n")[:400] for node in tree.css("address")[:20]),
        times=tuple((node.attributes.get("datetime") or "", shown(node)) for node in tree.css("time")[:200]),
        scripts=(*scripts, *sheets),
        data=tuple(_objects([node.text() for node in tree.css('script[type="application/ld+json" i]')[:50]])),
    )


def _objects(blocks: list[str]) -> list[dict[str, Any]]:
    """Every object of the page's JSON-LD with a type, nested ones too; a block that is no JSON is passed over."""
    found: list[dict[str, Any]] = []

    def walk(value: Any, depth: int) -> None:
        if depth > DATA_DEPTH_MAX or len(found) >= DATA_OBJECTS_MAX:
            return
        if isinstance(value, dict):
            if "@type" in value:
                found.append(value)
            for inner in value.values():
                walk(inner, depth + 1)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, depth + 1)

    for block in blocks:
        try:
            walk(msgspec.json.decode(block), 0)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
    return found


def clean(text: str) -> str:
    return _SPACES.sub(" ", text).strip()

"""What one HTML text says: its title, its base, its links in page order, and where it sends readers. Resolves nothing.

Links are the `href` of `a` and `area`, the `src` of `frame` and `iframe`, and of `link` those that name a page: `next`,
`prev`, and `alternate` with a language or the type of HTML (decision 0038).
"""

from __future__ import annotations

import msgspec

from holdfast.model.references import unescaped
from holdfast.policy.directives import NAMES
from holdfast.recipes.site.markup import Tag, is_closed, scan
from holdfast.recipes.site.refresh import Refresh, read_refresh
from holdfast.recipes.site.sniffing import HTML_MEDIA

HTML_BYTES_MAX = 10_000_000
TITLE_LENGTH_MAX = 500
_TITLE_TEXT_MAX = 10_000
_SVG_LOOK_BACK = 2_000
_PAGES = frozenset({"next", "prev", "alternate"})
NOFOLLOW = "nofollow"


class SitePage(msgspec.Struct, frozen=True, gc=False):
    """`hrefs` are as written, each once; `canonical`, `base` and `refresh` are the first ones, as written.

    `robots` is what its robots tags say. `marked` are the hrefs of links that all have `rel=nofollow`, where asked for.
    """

    title: str | None
    canonical: str | None
    base: str | None
    hrefs: tuple[str, ...]
    refresh: Refresh | None = None
    robots: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()


def read_page(text: str, *, sees_marks: bool = False, is_xml: bool = False) -> SitePage:
    """One pass over the text. Any text gives a page. `sees_marks`: links with `rel=nofollow` are kept apart."""
    title = canonical = base = refresh = None
    robots: list[str] = []
    hrefs: dict[str, None] = {}
    marked: dict[str, None] = {}
    text = text.replace("\0", "\ufffd")
    for tag in scan(text, hrefs, each=sees_marks, is_xml=is_xml):
        name = tag.name
        if name == "a" or name == "area":
            (marked if sees_marks and NOFOLLOW in _rel(tag) else hrefs)[tag.get("href") or ""] = None
        elif name == "link":
            rel = _rel(tag)
            if "canonical" in rel:
                canonical = canonical or tag.get("href")
            if not _PAGES.isdisjoint(rel):
                hrefs[_page_of(tag, rel)] = None
        elif name == "frame" or name == "iframe":
            hrefs[tag.get("src") or ""] = None
        elif name == "base":
            base = base or tag.get("href")
        elif name == "meta":
            refresh = _earlier(refresh, tag)
            robots += _asked(tag)
        elif title is None and not _in_drawing(text, tag.at):
            title = " ".join(unescaped(tag.text[:_TITLE_TEXT_MAX]).split())[:TITLE_LENGTH_MAX]
    hrefs.pop("", None)
    left = tuple(href for href in marked if href and href not in hrefs) if marked else ()
    return SitePage(title, canonical, base, tuple(hrefs), refresh, tuple(robots), left)


def _page_of(tag: Tag, rel: list[str]) -> str:
    """The href of a `link` that names a page to follow; empty of a feed, a style sheet or another medium."""
    if rel == ["alternate"]:
        media = (tag.get("type") or "").strip().lower()
        is_page = media in HTML_MEDIA or (not media and tag.get("hreflang"))
        return tag.get("href") or "" if is_page else ""
    return "" if "stylesheet" in rel or "alternate" in rel else tag.get("href") or ""


def _earlier(before: Refresh | None, tag: Tag) -> Refresh | None:
    """The first refresh that names a URL counts."""
    if (before and before.url) or (tag.get("http-equiv") or "").lower() != "refresh":
        return before
    return read_refresh(tag.get("content") or "") or before


def _asked(tag: Tag) -> list[str]:
    return [tag.get("content") or ""] if (tag.get("name") or "").strip().lower() in NAMES else []


def _rel(tag: Tag) -> list[str]:
    return (tag.get("rel") or "").lower().split()


def _in_drawing(text: str, at: int) -> bool:
    """Whether a title is that of an `<svg>`: icons have titles too."""
    before = text[max(0, at - _SVG_LOOK_BACK) : at].lower()
    opened = before.rfind("<svg")
    return opened > before.rfind("</svg") and not is_closed(before[opened : before.find(">", opened) + 1])

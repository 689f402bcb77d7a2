"""What one HTML text says: its title, its canonical link, its base and its hrefs in page order. Resolves nothing."""

from __future__ import annotations

import msgspec

from holdfast.model.references import unescaped
from holdfast.recipes.site.markup import Tag, scan

HTML_BYTES_MAX = 10_000_000
HTML_MEDIA = frozenset({"text/html", "application/xhtml+xml"})
TITLE_LENGTH_MAX = 500
_TITLE_TEXT_MAX = 10_000
_SVG_LOOK_BACK = 2_000
_HTML_STARTS = (b"<!doctype html", b"<html")


class Page(msgspec.Struct, frozen=True, gc=False):
    """`hrefs` are as written, each once; `canonical` and `base` are the first ones, as written."""

    title: str | None
    canonical: str | None
    base: str | None
    hrefs: tuple[str, ...]


def is_html(media: str, body: bytes) -> bool:
    """Whether to read links from it: by its declared type, or by how it begins where none was declared."""
    if media:
        return media in HTML_MEDIA
    return body[:1024].lstrip()[:14].lower().startswith(_HTML_STARTS)


def read_page(text: str) -> Page:
    """One pass over the text. Any text gives a page."""
    title = canonical = base = None
    hrefs: dict[str, None] = {}
    text = text.replace("\0", "\ufffd")
    for tag in scan(text, hrefs):
        if tag.name in ("a", "area"):
            hrefs[tag.get("href") or ""] = None
        elif tag.name == "link":
            canonical = canonical or _canonical(tag)
        elif tag.name == "base":
            base = base or tag.get("href")
        elif title is None and not _in_drawing(text, tag.at):
            title = " ".join(unescaped(tag.text[:_TITLE_TEXT_MAX]).split())[:TITLE_LENGTH_MAX]
    hrefs.pop("", None)
    return Page(title, canonical, base, tuple(hrefs))


def _canonical(tag: Tag) -> str | None:
    return tag.get("href") if "canonical" in (tag.get("rel") or "").lower().split() else None


def _in_drawing(text: str, at: int) -> bool:
    """Whether a title is that of an `<svg>`: icons have titles too."""
    before = text[max(0, at - _SVG_LOOK_BACK) : at].lower()
    return before.rfind("<svg") > before.rfind("</svg")

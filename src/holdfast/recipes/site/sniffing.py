"""Whether a body is HTML: by its declared type, and by how it begins where none is declared (WHATWG MIME Sniffing).

Two rules go beyond that standard, for nothing is lost by them: a byte order mark may stand before the first tag, and
an XML document whose root is `html` of XHTML is a page. `text/plain` is never looked into.
"""

from __future__ import annotations

import codecs
import re

from holdfast.recipes.site.charset import decode

HTML_MEDIA = frozenset({"text/html", "application/xhtml+xml"})
XML_MEDIA = frozenset({"text/xml", "application/xml"})
UNKNOWN_MEDIA = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
XHTML = "application/xhtml+xml"
_LOOKED_AT = 1_445  # bytes, as browsers do
_PROLOGUE_MAX = 65_536  # of XML: a licence may stand before the root
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_BEGINS = re.compile(
    r"[\t\n\f\r ]*+<(?:!--|(?:!doctype\ html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)"
    r"(?=[\t\n\f\r />]))",
    re.IGNORECASE,
)
_XML_BEGINS = re.compile(r"[\t\n\f\r ]*+<\?xml[\t\n\f\r ?]")
_ROOT = re.compile(
    r"\s*+(?:<\?(?:[^?]|\?(?!>))*+\?>\s*+|<!--(?:[^-]|-(?!->))*+-->\s*+"
    r"|<!DOCTYPE(?:[^>\[\"']|\"[^\"]*+\"|'[^']*+'|\[(?:[^\]\"']|\"[^\"]*+\"|'[^']*+')*+\])*+>\s*+)*+"
    r"<html(?=\s)(?:(?!xmlns\s*+=)[^>\"']|\"[^\"]*+\"|'[^']*+')*+xmlns\s*+=\s*+[\"']http://www\.w3\.org/1999/xhtml[\"']"
)


def is_html(media: str, body: bytes, *, no_sniffing: bool = False) -> bool:
    """Whether to read links from it. `no_sniffing`: the answer forbids to look for scripts (`nosniff`), so for HTML."""
    if media in HTML_MEDIA:
        return True
    if media in UNKNOWN_MEDIA:
        return not no_sniffing and _begins_like_html(body)
    return is_xml(media) and _is_xhtml(body)


def is_xml(media: str) -> bool:
    """Whether tags of this type mean what XML says: there, `<script/>` is a whole element."""
    return media in XML_MEDIA or media.endswith("+xml")


def _begins_like_html(body: bytes) -> bool:
    start = body[: 2 * _LOOKED_AT]
    codec = next((name for mark, name in _MARKS if start.startswith(mark)), "latin-1")
    text = start.decode(codec, "replace")[:_LOOKED_AT].removeprefix("\ufeff")
    return _BEGINS.match(text) is not None or (_XML_BEGINS.match(text) is not None and _is_xhtml(body))


def _is_xhtml(body: bytes) -> bool:
    return _ROOT.match(decode(body[:_PROLOGUE_MAX], "")) is not None

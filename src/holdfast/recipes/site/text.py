"""The visible text of a stored page, for exports: tags dropped, blocks on lines of their own. Linear time, no tree.

It is no reader's view: menus and footers are text too. What a page's scripts would have made is not there.
"""

from __future__ import annotations

import re

from holdfast.model.references import unescaped
from holdfast.recipes.site.charset import decode
from holdfast.recipes.site.page import HTML_BYTES_MAX, is_html

HIDDEN = frozenset(
    {"script", "style", "template", "noscript", "svg", "textarea", "select", "iframe", "object", "title", "noembed"}
    | {"noframes", "xmp"}
)
INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img"}
    | {"ins", "kbd", "label", "mark", "q", "ruby", "rt", "rp", "s", "samp", "small", "span", "strike", "strong", "sub"}
    | {"sup", "time", "tt", "u", "var", "wbr"}
)
CELLS = frozenset({"td", "th"})

# Quotes count behind `=` only. All repetitions are possessive: nothing is read twice, however the page is made.
_TAG = re.compile(
    r"""</?([a-zA-Z][^\s/>]*+)(?:[^>=]++|=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))?+)*+(?:>|\Z)|<[!?/][^>]*+(?:>|\Z)"""
)
_SPACES = re.compile(r"[ \t\r\f\xa0]+")
_LINES = re.compile(r" ?\n[ \n]*")
_END_OF = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in HIDDEN}


def visible_text(body: bytes, content_type: str) -> str | None:
    """The text of HTML or plain text; None of anything else."""
    media = content_type.partition(";")[0].strip().lower()
    if is_html(media, body):
        return None if len(body) > HTML_BYTES_MAX else _tidied("".join(_parts(decode(body, content_type))))
    if media.startswith("text/") or media in ("application/json", "application/xml"):
        return decode(body, content_type)
    return None


def _parts(text: str) -> list[str]:
    """What stands between the tags, and a break or a space for the tags that make one."""
    parts: list[str] = []
    at, end = 0, len(text)
    while at < end:
        opening = text.find("<", at)
        if opening < 0:
            parts.append(_read(text[at:]))
            break
        parts.append(_read(text[at:opening]))
        if text.startswith("<!--", opening):
            closing = text.find("-->", opening + 2)
            at = end if closing < 0 else closing + 3
            continue
        tag = _TAG.match(text, opening)
        if tag is None:  # a lone `<` is text
            parts.append("<")
            at = opening + 1
            continue
        name = (tag[1] or "").lower()
        at = _behind(text, name, tag.end()) if text[opening + 1] != "/" else tag.end()
        parts.append("" if name in INLINE or not name else " " if name in CELLS else "\n")
    return parts


def _behind(text: str, name: str, at: int) -> int:
    """Where the content of a hidden element ends; of any other it has just begun."""
    if name not in HIDDEN:
        return at
    closing = _END_OF[name].search(text, at)
    return closing.start() if closing else len(text)


def _read(text: str) -> str:
    """White space of the source is no line break."""
    return unescaped(text.replace("\n", " ")) if "&" in text else text.replace("\n", " ")


def _tidied(text: str) -> str:
    return _LINES.sub("\n", _SPACES.sub(" ", text)).strip()

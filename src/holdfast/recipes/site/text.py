"""The visible text of a stored page, for exports: tags dropped, blocks on lines of their own. Linear time, no tree.

It is not a reader's view: menus and footers are text too. What a page's scripts would have made is not there, nor what
stands in the fields of a form. `pre` keeps its lines and its indentation.
"""

from __future__ import annotations

import re

from holdfast.model.references import unescaped
from holdfast.recipes.site.charset import decode
from holdfast.recipes.site.markup import end_of_comment, is_closed
from holdfast.recipes.site.page import HTML_BYTES_MAX
from holdfast.recipes.site.sniffing import is_html, is_xml

HIDDEN = frozenset(
    {"script", "style", "template", "noscript", "svg", "textarea", "select", "iframe", "object", "title", "noembed"}
    | {"noframes"}
)
KEPT = frozenset({"pre", "listing", "xmp"})  # lines and indentation mean something there: mostly it is code
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
_END_OF = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in (*HIDDEN, "xmp")}


def visible_text(body: bytes, content_type: str) -> str | None:
    """The text of HTML or plain text; None of anything else."""
    media = content_type.partition(";")[0].strip().lower()
    if is_html(media, body):
        return None if len(body) > HTML_BYTES_MAX else text_of(decode(body, content_type), is_xml(media))
    if media.startswith("text/") or media in ("application/json", "application/xml"):
        return decode(body, content_type)
    return None


def text_of(text: str, in_xml: bool) -> str:
    """What stands between the tags, and a break or a space for the tags that make one."""
    sheet = _Sheet()
    at, end = 0, len(text)
    while at < end:
        opening = text.find("<", at)
        if opening < 0:
            sheet.write(text[at:])
            break
        sheet.write(text[at:opening])
        if text.startswith("<!--", opening):
            at = end_of_comment(text, opening + 4)
            continue
        tag = _TAG.match(text, opening)
        if tag is None:  # a lone `<` is text
            sheet.write("<")
            at = opening + 1
            continue
        at = tag.end()
        name = (tag[1] or "").lower()
        opens = text[opening + 1] != "/"
        if opens and name in HIDDEN and not _is_empty(tag[0], name, in_xml):
            at = _end_of(text, name, at)
        elif name in KEPT:
            sheet.keep(opens)
            if opens and name == "xmp":  # its content is text, whatever stands in it
                closing = _end_of(text, name, at)
                sheet.write(text[at:closing].replace("&", "&amp;"))
                at = closing
        if name and name not in INLINE:
            sheet.part(" " if name in CELLS else "\n")
    return sheet.text()


def _is_empty(tag: str, name: str, in_xml: bool) -> bool:
    """Whether the tag is the whole element. In HTML that is so of drawings only: `<script/>` opens a script."""
    return (in_xml or name == "svg") and is_closed(tag)


def _end_of(text: str, name: str, at: int) -> int:
    """Where the content of an element ends that begins at `at`."""
    closing = _END_OF[name].search(text, at)
    return closing.start() if closing else len(text)


class _Sheet:
    """Text as it is gathered: running text, whose white space is one space, and kept text, which stays as it is."""

    def __init__(self) -> None:
        self._done: list[str] = []
        self._parts: list[str] = []
        self._kept = 0  # how many elements of kept text are open

    def write(self, text: str) -> None:
        if "&" in text:
            text = unescaped(text)
        self._parts.append(text if self._kept else text.replace("\n", " "))

    def part(self, by: str) -> None:
        """Set apart what follows. A line of kept text that has just begun is not begun again."""
        if not self._kept or (self._parts and not self._parts[-1].endswith("\n")):
            self._parts.append(by)

    def keep(self, begins: bool) -> None:
        if self._kept == (0 if begins else 1):
            self._close()
        self._kept = max(0, self._kept + (1 if begins else -1))

    def text(self) -> str:
        self._close()
        return "\n".join(self._done)

    def _close(self) -> None:
        text = "".join(self._parts)
        self._parts.clear()
        shown = _as_written(text) if self._kept else _tidied(text)
        if shown:
            self._done.append(shown)


def _as_written(text: str) -> str:
    """Lines and indentation stay; without empty lines before and behind, and without spaces at the ends of lines."""
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ").split("\n")]
    return "\n".join(lines).strip("\n")


def _tidied(text: str) -> str:
    return _LINES.sub("\n", _SPACES.sub(" ", text)).strip()

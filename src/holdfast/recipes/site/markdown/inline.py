"""Running text: emphasis, inline code, links, images. What it writes means what it meant, also between other words.

Marks of emphasis are left out where Markdown would not read them as such (`foo**"bar"**baz`), since they would show.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from holdfast.recipes.site.markdown.addresses import Addresses
from holdfast.recipes.site.markdown.boilerplate import is_certain
from holdfast.recipes.site.markdown.code import code_text
from holdfast.recipes.site.markdown.escaping import SPACES, code_span, escaped
from holdfast.recipes.site.markdown.tree import BLOCKS, CODE_BLOCKS, CODE_CLASSES, INLINE_CODE, Node

MARKS = {
    "strong": "**", "b": "**", "em": "*", "i": "*", "cite": "*", "var": "*", "dfn": "*", "del": "~~", "s": "~~",
    "strike": "~~",
}  # fmt: skip
SIGNS = frozenset(("¶", "#", "§", "🔗", "\\#", "↩", "[¶]", "\\[¶\\]"))  # all that some links to their own place say
BREAK, BREAK_IN_CELL = "  \n", "<br>"
PIXEL = frozenset({"0", "1", "1px", "0px"})
_GAPS = re.compile(r"(?<=\S) {2,}(?=\S)")

Piece = tuple[str, str]  # text, and the mark around it


class Inline:
    """Writes the running text of one page."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses

    def text(
        self, children: Sequence[Node | str], *, in_link: bool = False, in_cell: bool = False, plain: bool = False
    ) -> str:
        """`in_cell`: breaks are those of a table; `plain`: without marks of emphasis, for what gets one as a whole."""
        pieces: list[Piece] = []
        for child in children:
            if isinstance(child, str):
                pieces.append((escaped(child), ""))
            else:
                self._add(child, pieces, in_link=in_link, in_cell=in_cell, plain=plain)
        text = _joined(pieces)
        return _GAPS.sub(" ", text) if "  " in text else text

    def _add(self, node: Node, pieces: list[Piece], *, in_link: bool, in_cell: bool, plain: bool) -> None:
        tag = node.tag
        if tag == "br":
            pieces.append((BREAK_IN_CELL if in_cell else BREAK, ""))
        elif tag == "img":
            pieces.append((self._image(node), ""))
        elif tag == "input":
            pieces.append((_checkbox(node), ""))
        elif is_certain(node) and tag not in ("a", "span"):
            return
        elif (tag in INLINE_CODE or (tag == "span" and node.classes in CODE_CLASSES)) and node.first("img") is None:
            pieces.append((code_span(code_text(node)) if in_link else self._code(node), ""))
        elif tag in CODE_BLOCKS:
            lines = [code_span(line.strip()) for line in code_text(node).split("\n") if line.strip()]
            pieces.append(((BREAK_IN_CELL if in_cell else " ").join(lines), ""))
        elif tag == "a" and not in_link:
            pieces.append((self._link(node, in_cell=in_cell, plain=plain), ""))
        elif tag == "q":
            pieces.append((f'"{self.text(node.children, in_link=in_link, in_cell=in_cell, plain=plain)}"', ""))
        else:
            inner = self.text(node.children, in_link=in_link, in_cell=in_cell, plain=plain or tag in MARKS)
            if tag in BLOCKS:
                _set_apart(inner, tag, pieces, in_cell=in_cell)
            elif tag in ("sup", "sub"):
                pieces.append((_raised(inner, tag, pieces), ""))
            else:
                pieces.append((inner, "" if plain else MARKS.get(tag, "")))

    def _link(self, node: Node, *, in_cell: bool, plain: bool) -> str:
        shown = self.text(node.children, in_link=True, in_cell=in_cell, plain=plain)
        text = shown.strip()
        url = self._addresses.absolute(node.get("href"))
        if not text:
            return shown
        if url is None:
            return "" if text in SIGNS and node.get("href").startswith("#") else shown
        if text in SIGNS and url.partition("#")[0] == self._addresses.page:
            return ""
        text = text.replace(BREAK, " ").replace("\n", " ")
        before, after = " " if shown[0].isspace() else "", " " if shown[-1].isspace() else ""
        return f"{before}[{text}]({url}){after}"

    def _image(self, node: Node) -> str:
        source = node.get("src")
        if not source or source.startswith("data:"):
            source = node.get("data-src") or node.get("data-original") or node.get("srcset").split(" ", 1)[0]
        alt = escaped(node.get("alt")).strip()
        url = self._addresses.absolute(source)
        if url is None or source.startswith("data:"):
            return alt
        if not alt and (node.get("width") in PIXEL or node.get("height") in PIXEL):
            return ""
        return f"![{alt}]({url})"

    def _code(self, node: Node) -> str:
        """Inline code. Links in it are links around parts of the code, since none can stand within."""
        segments: list[tuple[str, str]] = []
        _segments(node, "", segments)
        if not any(href for _, href in segments):
            return code_span("".join(text for text, _ in segments))
        written: list[str] = []
        at = 0
        while at < len(segments):
            href, text = segments[at][1], ""
            while at < len(segments) and segments[at][1] == href:
                text += segments[at][0]
                at += 1
            url = self._addresses.absolute(href) if href else None
            span = code_span(SPACES.sub(" ", text))
            inner = span.strip()
            if url is None or not inner:
                written.append(span)
            else:
                written.append(span.replace(inner, f"[{inner}]({url})", 1))
        return _unglued(written)


def _unglued(spans: list[str]) -> str:
    """Two spans of code side by side would read as one with backticks in it."""
    text = ""
    for span in spans:
        text += span if not (text.endswith("`") and span.startswith("`")) else "\u200b" + span
    return text


def _segments(node: Node, href: str, segments: list[tuple[str, str]]) -> None:
    for child in node.children:
        if isinstance(child, str):
            segments.append((child, href))
        elif child.tag == "br":
            segments.append((" ", href))
        elif child.tag == "a" and child.get("href") and not child.get("href").startswith(("#", "javascript:")):
            _segments(child, child.get("href"), segments)
        elif not is_certain(child):
            _segments(child, href, segments)


def _set_apart(inner: str, tag: str, pieces: list[Piece], *, in_cell: bool) -> None:
    """A block within running text, as in the cell of a table."""
    if not in_cell:
        pieces.append((f" {inner} ", ""))
        return
    text = inner.strip()
    if not text:
        return
    before = pieces[-1][0] if pieces else ""
    if before.strip() and not before.endswith(BREAK_IN_CELL):
        pieces.append((BREAK_IN_CELL, ""))
    pieces.append((text + (BREAK_IN_CELL if tag in ("p", "li", "div", "dd", "dt") else " "), ""))


def _raised(inner: str, tag: str, pieces: list[Piece]) -> str:
    """2<sup>10</sup> is not 210; what stands alone or is a link needs no tag."""
    before = pieces[-1][0][-1:] if pieces else ""
    return f"<{tag}>{inner}</{tag}>" if before.isalnum() and inner.strip() and "](" not in inner else inner


def _checkbox(node: Node) -> str:
    if node.get("type") != "checkbox" or node.parent is None or node.parent.tag not in ("li", "p", "label"):
        return ""
    return "[x] " if "checked" in node.attributes else "[ ] "


def _joined(pieces: list[Piece]) -> str:
    """The pieces with their marks, where those are read as marks; neighbours with the same mark share it."""
    if not any(mark for _, mark in pieces):
        return "".join(text for text, _ in pieces)
    merged: list[Piece] = []
    for text, mark in pieces:
        if merged and mark and merged[-1][1] == mark:
            merged[-1] = (merged[-1][0] + text, mark)
        elif text:
            merged.append((text, mark))
    written: list[str] = []
    for at, (text, mark) in enumerate(merged):
        inner = text.strip()
        if not mark or not inner or BREAK in inner or BREAK_IN_CELL in inner:
            written.append(text)
            continue
        start, end = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        before = start or (merged[at - 1][0][-1:] if at else "")
        after = end or (merged[at + 1][0][:1] if at + 1 < len(merged) else "")
        can_stand = _flanks(before[-1:], inner[0]) and _flanks(after[:1], inner[-1])
        written.append(f"{start}{mark}{inner}{mark}{end}" if can_stand else text)
    return "".join(written)


def _flanks(outside: str, inside: str) -> bool:
    """Whether a mark between these signs is read as one (CommonMark's flanking rules)."""
    if not outside or outside.isspace():
        return True
    if outside in "*~":
        return False
    return not _is_punctuation(inside) or _is_punctuation(outside)


def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign)[0] in "PS"

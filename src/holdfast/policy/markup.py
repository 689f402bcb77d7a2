"""Sitemaps and feeds in XML: what their entries lead to. Pure, and linear in the size whatever is in it (SEC-07).

No XML parser is asked: it would refuse the many lists that are not well-formed, and there is nothing to expand here.
Comments, instructions and declarations are passed over; an entry counts once its element is complete.
"""

from __future__ import annotations

import re

import msgspec

from holdfast.model.keys import URL_LENGTH_MAX
from holdfast.policy.listings import ENDS_BEFORE, Gathered, Plain, resolved

SITEMAP_INDEX = b"sitemapindex"
FEED = b"feed"
# Root element -> the element of one entry, those that say where it leads, the namespace (in part) of these names.
# Of a sitemap every `loc` is an entry.
ROOTS: dict[bytes, tuple[bytes, tuple[bytes, ...], bytes]] = {
    b"urlset": (b"", (b"loc",), b"www.sitemaps.org/schemas/sitemap/"),
    SITEMAP_INDEX: (b"", (b"loc",), b"www.sitemaps.org/schemas/sitemap/"),
    b"rss": (b"item", (b"link", b"guid"), b""),
    b"RDF": (b"item", (b"link",), b"purl.org/rss/1.0"),
    FEED: (b"entry", (b"link",), b"www.w3.org/2005/Atom"),
}
STRANGERS_MAX = 100  # elements before the root: notices of a server in front of its XML
PREFIXES_MAX = 10
ATTRIBUTES_BYTES_MAX = 65_536
KEPT_BYTES = 4 * URL_LENGTH_MAX  # of the text of one element; a longer text is not a URL

_NAME = rb"[A-Za-z_][\w.-]*+"
_OPENING = re.compile(rb"<(?:(!--|!\[CDATA\[|[?]|!(?i:doctype))|(?:(" + _NAME + rb"):)?+(" + _NAME + rb"))")
# An attribute has no `<` in it, so no search goes beyond the next tag.
_TAG_END = re.compile(rb"(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+>")
_ATTRIBUTE = re.compile(rb"(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:\"([^\"<]*+)\"|'([^'<]*+)')")
_DOCTYPE_END = re.compile(rb"[^\[>]*+(?:\[[^\]]*+\]\s*+)?+>")
_HTTP = re.compile(rb"\s*+https?://", re.IGNORECASE)
_TAG = re.compile(rb"</?[A-Za-z_]")
_SIMPLE = re.compile(rb">([^<]{0,%d}+)</" % URL_LENGTH_MAX)  # as nearly every entry of a sitemap is written
_CDATA = b"![CDATA["
_ENDS = {b"!--": b"-->", _CDATA: b"]]>", b"?": b"?>"}


class _Tag(msgspec.Struct, frozen=True):
    prefix: bytes
    name: bytes
    inside: bytes  # its attributes
    end: int
    is_empty: bool


def read_markup(text: Plain, at: int, gathered: Gathered) -> bool | None:
    """Gather what an XML list leads to: True where that is an index of lists; None where this is no such list."""
    root = _root(text, at)
    if root is None:
        return None
    if not root.is_empty:
        _Entries(text, root, gathered).gather(root.end)
    return root.name == SITEMAP_INDEX


def _root(text: Plain, at: int) -> _Tag | None:
    strangers = 0
    while strangers < STRANGERS_MAX:
        opening = _OPENING.search(text, at)
        if opening is None:
            return None
        if opening[1]:
            at = _passed(text, opening[1], opening.end())
            continue
        at = opening.end()
        if opening[3] in ROOTS:
            tag = _tag(text, opening[2] or b"", opening[3], at)
            if tag is not None:
                return tag
        if opening[3].lower() == b"html":
            return None
        strangers += 1
    return None


def _passed(text: Plain, kind: bytes, at: int) -> int:
    """Where a comment, an instruction, a CDATA section or a declaration ends; the end of the text where it does not."""
    ending = _ENDS.get(kind)
    if ending is None:
        declared = _DOCTYPE_END.match(text, at)
        return len(text) if declared is None else declared.end()
    found = text.find(ending, at)
    return len(text) if found < 0 else found + len(ending)


def _tag(text: Plain, prefix: bytes, name: bytes, at: int) -> _Tag | None:
    """The rest of a tag whose name ends at `at`; None where it has no end."""
    found = _TAG_END.match(text, at)
    if found is None:
        return None
    inside = bytes(text[at : min(found.end() - 1, at + ATTRIBUTES_BYTES_MAX)])
    return _Tag(prefix, name, inside, found.end(), text[found.end() - 2 : found.end() - 1] == b"/")


def _attributes(inside: bytes) -> dict[bytes, bytes]:
    return {name: double or single for name, double, single in _ATTRIBUTE.findall(inside)}


class _Entries:
    """The entries of one list, in order."""

    def __init__(self, text: Plain, root: _Tag, gathered: Gathered) -> None:
        self._text, self._root, self._gathered = text, root, gathered
        self._entry, places, namespace = ROOTS[root.name]
        names = b"|".join(name for name in (*places, self._entry, root.name) if name)
        prefixes = b"".join(re.escape(prefix) + b":|" for prefix in _prefixes(root, namespace))
        self._marks = re.compile(
            rb"<(?:(!--|!\[CDATA\[|[?]|!(?i:doctype))|(/?+)(?:" + prefixes + rb")(" + names + rb")(?=[\s/>]))"
        )
        self._found: list[bytes] = []  # in the entry that is being read
        self._is_inside = not self._entry

    def gather(self, at: int) -> None:
        is_closed = False
        while mark := self._marks.search(self._text, at):
            if not self._gathered.looks_on():
                return
            if mark[1]:
                at = _passed(self._text, mark[1], mark.end())
            elif mark[2]:
                at = mark.end()
                is_closed = mark[3] == self._root.name
                if mark[3] == self._entry:
                    self._leave()
            elif not self._entry and (simple := _SIMPLE.match(self._text, mark.end())):
                self._gathered.add(resolved(simple[1]))
                at = simple.end()
            else:
                at = self._opened(mark[3], mark.end())
        if not is_closed and not self._gathered.cut:
            self._gathered.cut = f"{ENDS_BEFORE} <{self._root.name.decode()}> does"

    def _opened(self, name: bytes, at: int) -> int:
        tag = _tag(self._text, b"", name, at)
        if tag is None:
            return at
        if name == self._entry:
            self._is_inside, self._found = not tag.is_empty, []
            return tag.end
        if not self._is_inside or name == self._root.name:
            return tag.end
        return self._led(tag)

    def _led(self, tag: _Tag) -> int:
        """What one `<loc>`, `<link>` or `<guid>` says, and where to go on."""
        attributes = _attributes(tag.inside) if tag.inside.strip(b" \t\r\n/") else {}
        if self._root.name == FEED:
            if attributes.get(b"rel", b"alternate") == b"alternate" and b"href" in attributes:
                self._found.append(attributes[b"href"])
            return tag.end
        said, end = (b"", tag.end) if tag.is_empty else self._content(tag.end)
        if said is None:  # the text ends within it
            return end
        if not self._entry:
            self._gathered.add(resolved(said))
        elif tag.name == b"link" and said.strip():
            self._found.insert(0, said)
        elif tag.name == b"guid" and attributes.get(b"isPermaLink", b"true") != b"false" and _HTTP.match(said):
            self._found.append(said)
        return end

    def _leave(self) -> None:
        """An entry of a feed is complete. RSS says the same place twice, as link and as guid: the first counts."""
        if not self._is_inside:
            return
        for raw in (self._found if self._root.name == FEED else self._found[:1]) or [b""]:
            self._gathered.add(resolved(raw))
        self._is_inside, self._found = False, []

    def _content(self, at: int) -> tuple[bytes | None, int]:
        """The text of an element, CDATA joined to it and comments left out; None where the list ends within it."""
        text, said = self._text, bytearray()
        while (mark := text.find(b"<", at)) >= 0 and self._gathered.looks_on():
            said += text[at : min(mark, at + KEPT_BYTES)]
            opening = _OPENING.match(text, mark)
            if opening is None or not opening[1]:
                is_tag = _TAG.match(text, mark) is not None
                return (bytes(said) if is_tag else b""), mark + 1
            at = _passed(text, opening[1], opening.end())
            if opening[1] == _CDATA:
                if not text.endswith(b"]]>", opening.end(), at):
                    break
                said += text[opening.end() : min(at - 3, opening.end() + KEPT_BYTES)]
            del said[KEPT_BYTES:]
        return None, len(text)


def _prefixes(root: _Tag, namespace: bytes) -> list[bytes]:
    """Under which the names of the list may stand: the root's own, and those that it declares for their namespace."""
    declared = [
        name.removeprefix(b"xmlns:")
        for name, value in _attributes(root.inside).items()
        if name.startswith(b"xmlns:") and namespace and namespace in value
    ]
    return [prefix for prefix in dict.fromkeys([root.prefix, *declared]) if prefix][:PREFIXES_MAX]

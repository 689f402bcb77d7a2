"""From bytes to text as browsers do it: byte order mark, declared charset, meta tag, else what the bytes look like.

It never fails: what cannot be decoded becomes a replacement character.
"""

from __future__ import annotations

import codecs
import re

from holdfast.recipes.site.charset_labels import CODECS

META_BYTES = 1024
GUESS_BYTES = 65_536
WESTERN = "windows-1252"  # what a browser takes where nothing is said and the bytes are no UTF-8
USER_DEFINED = "x-user-defined"
STARTS_MAX = 64
CONTENT_TYPE_MAX = 200

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_XML_MARKS = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))  # an XML declaration written in UTF-16
_DECLARED = re.compile(r"charset\s*+=\s*+[\"']?\s*+([\w.:-]{1,40})", re.IGNORECASE)
_IN_CONTENT = re.compile(rb"charset\s*+=\s*+[\"']?\s*+([\w.:-]{1,40})", re.IGNORECASE)
_XML = re.compile(rb"<\?xml\s[^>]*?\bencoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
_VALUE = rb"""(?:"[^"]*+"|'[^']*+'|[^\s"'>][^\s>]*+)"""
_TAG = re.compile(
    rb"<!--.*?(?:-->|\Z)|<meta(?=[\s/])((?:[\s/]++|[^\s/>=]++(?:\s*+=\s*+" + _VALUE + rb")?+)*+)>"
    rb"|<[/a-z](?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+>?|<[!?/][^>]*+>?",
    re.IGNORECASE | re.DOTALL,
)
_ATTRIBUTE = re.compile(rb"""([^\s/>=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>][^\s>]*+)))?+""")
_CLOSED = re.compile(rb"""(?:[^"'=]|="[^"'<>]*+"|=(?!"))*+""")
_STARTS: dict[str, tuple[bytes, str]] = {}  # by Content-Type: how pages lately began, and what that says
_SEQUENCE = re.compile("[\x80-\ufffc\ufffe-\U0010ffff]")
_HIGH = {byte: 0xF700 + byte for byte in range(0x80, 0x100)}


def decode(body: bytes, content_type: str) -> str:
    """The text of an HTML body."""
    return decoded(body, content_type)[0]


def decoded(body: bytes, content_type: str) -> tuple[str, str]:
    """The text of an HTML body, and the codec that was used."""
    codec = declared(body, content_type)
    if codec is None:
        try:
            return body.decode("utf-8"), "utf-8"
        except UnicodeDecodeError:
            codec = _guess(body)
    if codec == USER_DEFINED:
        return body.decode("latin-1").translate(_HIGH), codec
    return body.decode(codec, "replace").removeprefix("\ufeff"), codec


def declared(body: bytes, content_type: str) -> str | None:
    """The codec that the body, its header or its first tags name, in this order; None where none does."""
    kept = _STARTS.get(content_type)
    if kept is not None and body.startswith(kept[0]):
        return kept[1]
    for mark, name in _MARKS:
        if body.startswith(mark):
            return name
    said = _DECLARED.search(content_type)
    if said and (known := CODECS.get(said[1].lower())):
        return known
    for mark, name in _XML_MARKS:
        if body.startswith(mark):
            return name
    return _in_tags(body[:META_BYTES], content_type)


def _in_tags(head: bytes, content_type: str) -> str | None:
    """What the first usable `<meta charset>`, `<meta http-equiv=content-type>` or XML declaration names."""
    for tag in _TAG.finditer(head):
        if tag[1] is not None and (known := _of_meta(tag[1])):
            # A tag that could be read at all is not in UTF-16, whatever it says.
            codec = "utf-8" if known.startswith("utf-16") else WESTERN if known == USER_DEFINED else known
            _remember(content_type, head[: tag.end()], codec)
            return codec
    said = _XML.match(head)
    known = _known(said[1]) if said else None
    return "utf-8" if known and known.startswith("utf-16") else WESTERN if known == USER_DEFINED else known


def _remember(content_type: str, start: bytes, codec: str) -> None:
    """Pages of a site begin alike. Only a start that means the same whatever follows: every quote in it is closed."""
    if len(content_type) > CONTENT_TYPE_MAX or not _CLOSED.fullmatch(start):
        return
    if len(_STARTS) >= STARTS_MAX:
        _STARTS.clear()
    _STARTS[content_type] = (start, codec)


def _of_meta(attributes: bytes) -> str | None:
    found: dict[bytes, bytes] = {}
    for name, *values in _ATTRIBUTE.findall(attributes):
        found.setdefault(name.lower(), b"".join(values))
    if b"charset" in found:
        return _known(found[b"charset"])
    if found.get(b"http-equiv", b"").strip().lower() != b"content-type":
        return None
    said = _IN_CONTENT.search(found.get(b"content", b""))
    return _known(said[1]) if said else None


def _known(label: bytes) -> str | None:
    return CODECS.get(label.strip().decode("latin-1").lower())


def _guess(body: bytes) -> str:
    """UTF-8 with a few broken bytes is still UTF-8: more sequences are right in it than wrong."""
    text = body[:GUESS_BYTES].decode("utf-8", "replace")
    return "utf-8" if len(_SEQUENCE.findall(text)) > text.count("\ufffd") else WESTERN

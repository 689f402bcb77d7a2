"""From the stored bytes of a page to Markdown, text and metadata, in one parse. Pure: the same bytes, the same answer.

A page that would cost too much is refused as a tree and read as plain text instead, by a tokenizer that is linear in
time, and says so in its flags. This function bounds what it can; what takes long inside C is bounded by the process
around it (`derive_process`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.model.derived import CUT, EMPTY, FAILED, TOO_HEAVY, TOO_LONG, Derived
from holdfast.recipe.weight import too_heavy
from holdfast.recipes.site.charset import decode
from holdfast.recipes.site.markdown import content_of
from holdfast.recipes.site.markdown.escaping import escaped, escaped_start, fenced
from holdfast.recipes.site.metadata import read_metadata
from holdfast.recipes.site.sniffing import is_html, is_xml
from holdfast.recipes.site.text import text_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

INPUT_BYTES_MAX = 5_000_000
TAGS_MAX = 400_000  # opening and closing ones: a tree of more takes more memory and time than a page is worth
OUTPUT_FACTOR, OUTPUT_FLOOR = 2, 20_000  # Markdown may be so many times its page, and this much in any case
MARKDOWN_MEDIA = frozenset({"text/markdown", "text/x-markdown"})
LANGUAGES = {"application/json": "json", "application/xml": "xml", "text/xml": "xml", "text/css": "css"}
TEXT_MEDIA = frozenset({"application/json", "application/xml", "application/javascript", "application/yaml"})


def derive(content: bytes, url: str, content_type: str) -> Derived:
    """What a page found at `url` says. Any bytes give an answer; one without a word says so."""
    found = _derived(content, url, content_type)
    if found.markdown is None or found.markdown.strip() or found.flags:
        return found
    return msgspec.structs.replace(found, flags=(EMPTY,))


def _derived(content: bytes, url: str, content_type: str) -> Derived:
    media = content_type.partition(";")[0].strip().lower()
    if is_html(media, content):
        return _of_html(content, url, content_type)
    if media.startswith("text/") or media in TEXT_MEDIA:
        return _of_text(content, media, content_type)
    return Derived()


def derive_plainly(content: bytes, content_type: str, flag: str) -> Derived:
    """Text without a tree, for a page that could not be read otherwise: `flag` says why."""
    media = content_type.partition(";")[0].strip().lower()
    cut, flags = _cut(content)
    return _plain(decode(cut, content_type), (*flags, flag), in_xml=is_xml(media))


def _of_html(content: bytes, url: str, content_type: str) -> Derived:
    from selectolax.lexbor import LexborHTMLParser

    content, flags = _cut(content)
    html = decode(content, content_type).replace("\0", "\ufffd")
    if html.count("<") > TAGS_MAX or too_heavy(html):
        return _plain(html, (*flags, TOO_HEAVY))
    parser = LexborHTMLParser(html)
    try:
        markdown, text = content_of(parser, url)
        metadata = read_metadata(parser, url)
        if not markdown and (beside := _beside_frames(parser)):
            if too_heavy(beside):
                return _plain(beside, (*flags, TOO_HEAVY), metadata)
            markdown, text = content_of(LexborHTMLParser(beside), url)
    except RecursionError:
        return _plain(html, (*flags, FAILED))
    if len(markdown) > max(OUTPUT_FACTOR * len(html), OUTPUT_FLOOR):
        return _plain(html, (*flags, TOO_LONG), metadata)
    return Derived(_whole(markdown), _whole(text), metadata, flags)


def _beside_frames(parser: LexborHTMLParser) -> str:
    """What a page of frames says to readers without them: we are one. It is text to the parser, and markup to us."""
    return "".join(each.text() for each in parser.css("noframes"))


def _of_text(content: bytes, media: str, content_type: str) -> Derived:
    """Text that is no HTML: Markdown as it is, anything else as a block of code, whose lines stay lines."""
    cut, flags = _cut(content)
    text = _whole(decode(cut, content_type))
    if media in MARKDOWN_MEDIA:
        return Derived(text, text, {}, flags)
    return Derived("\n".join([*fenced(text, LANGUAGES.get(media, "")), ""]), text, {}, flags)


def _cut(content: bytes) -> tuple[bytes, tuple[str, ...]]:
    return (content[:INPUT_BYTES_MAX], (CUT,)) if len(content) > INPUT_BYTES_MAX else (content, ())


def _plain(
    html: str, flags: tuple[str, ...], metadata: dict[str, Any] | None = None, *, in_xml: bool = False
) -> Derived:
    text = _whole(text_of(html, in_xml))
    lines = (escaped_start(escaped(line.strip())) for line in text.split("\n") if line.strip())
    return Derived("".join(f"{line}\n\n" for line in lines).removesuffix("\n"), text, metadata or {}, flags)


def _whole(text: str) -> str:
    """Without halves of surrogate pairs, which no UTF-8 can carry."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text

"""The bytes of a published list of URLs made plain, and what is gathered from them. Pure, within bounds (SEC-07).

Lists come from strangers, packed and in any encoding. What comes out is one run of UTF-8 bytes, and no `str`: a single
odd character would make that four times as large.
"""

from __future__ import annotations

import re
import zlib
from codecs import utf_16_be_decode, utf_16_le_decode

from holdfast.model.keys import URL_LENGTH_MAX
from holdfast.model.references import unescaped

LIST_BYTES_MAX = 50_000_000
RATIO_MAX = 100
RATIO_FROM_BYTES = 1_000_000
MEMBERS_MAX = 100_000
STEP_BYTES = 65_536
URLS_MAX = 50_000
ROOM_BYTES = 40_000_000  # in memory, for all URLs of one list
ENTRIES_MAX = 500_000  # lines or marks looked at; a list of as many URLs as are taken has far fewer

_GZIP_MAGIC = b"\x1f\x8b"
_WINDOW_GZIP = 31
_UTF8_MARK = b"\xef\xbb\xbf"
_LITTLE, _BIG = (b"\xff\xfe", b"<\x00"), (b"\xfe\xff", b"\x00<")
_REFERENCE = re.compile(r"&#?\w{1,32};")

GZIP_ENDS, GZIP_DAMAGED, ENDS_BEFORE = "its gzip ends too early", "its gzip is damaged", "it ends before its"
MAY_BE_WHOLE = (GZIP_ENDS, GZIP_DAMAGED, ENDS_BEFORE)  # when it is asked for again

Plain = bytes | bytearray


class SitemapRefused(ValueError):
    """`code` is a failure code; the message says what is wrong with the file."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Gathered:
    """URLs as they are met, each once, as many as are taken; the others are counted."""

    def __init__(self, cut: str = "") -> None:
        self.urls: dict[str, None] = {}
        self.beyond = self.unreadable = self.looked_at = 0
        self.cut = cut  # why the list ends before its end
        self._room = ROOM_BYTES

    def add(self, url: str) -> None:
        """One entry; an empty one, or one longer than any URL, is counted as unreadable."""
        if not url or len(url) > URL_LENGTH_MAX or url[0] == "&":  # an entity of its own; none is expanded
            self.unreadable += 1
        elif url not in self.urls:
            self._room -= len(url) if url.isascii() else 4 * len(url)
            if len(self.urls) < URLS_MAX and self._room >= 0:
                self.urls[url] = None
            else:
                self.beyond += 1

    def looks_on(self) -> bool:
        """Counts one line or mark; False where there were too many."""
        self.looked_at += 1
        if self.looked_at <= ENTRIES_MAX:
            return True
        self.cut = f"reading ended after {ENTRIES_MAX:,} lines or elements"
        return False


def decoded(raw: bytes) -> str:
    try:
        return raw.decode().strip()
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip()


def resolved(raw: bytes) -> str:
    """The text of XML. References are resolved where they end as such: in `?a=1&copy=2` there is none."""
    text = decoded(raw)
    return _REFERENCE.sub(lambda found: unescaped(found[0]), text).strip() if "&" in text else text


def plain(body: bytes) -> tuple[Plain, int, str]:
    """(UTF-8 bytes, where they begin, why they end early). SitemapRefused where they are too many, or a bomb."""
    unpacked, cut = _unpacked(body) if body.startswith(_GZIP_MAGIC) else (body, "")
    if len(unpacked) > LIST_BYTES_MAX:
        raise SitemapRefused("body_too_large", f"the sitemap is larger than {LIST_BYTES_MAX} bytes")
    if unpacked.startswith(_LITTLE + _BIG):
        return _of_utf_16(unpacked, is_big=unpacked.startswith(_BIG)), 0, cut
    return unpacked, len(_UTF8_MARK) if unpacked.startswith(_UTF8_MARK) else 0, cut


def _of_utf_16(body: Plain, *, is_big: bool) -> bytearray:
    decode = utf_16_be_decode if is_big else utf_16_le_decode
    made, at = bytearray(), 2 if body.startswith((_LITTLE[0], _BIG[0])) else 0
    while at < len(body):
        text, used = decode(body[at : at + STEP_BYTES], "replace", at + STEP_BYTES >= len(body))
        made += text.encode("utf-8", "replace")
        at += used
    return made


def _unpacked(packed: bytes) -> tuple[bytearray, str]:
    """All gzip members, undone step by step within the size and the ratio that a sitemap may have.

    What is there of a member that ends too early is as it was written; of a damaged one nothing can be trusted.
    """
    made, whole, view, at = bytearray(), 0, memoryview(packed), 0
    for _ in range(MEMBERS_MAX):
        stream, fed = zlib.decompressobj(_WINDOW_GZIP), b""
        while not stream.eof:
            if not fed:
                fed = bytes(view[at : at + STEP_BYTES])
                at += len(fed)
                if not fed:
                    return made, GZIP_ENDS
            try:
                made += stream.decompress(fed, STEP_BYTES)
            except zlib.error as error:
                if not whole:
                    raise SitemapRefused("answer_unreadable", f"the sitemap is not valid gzip: {error}") from None
                return made[:whole], f"{GZIP_DAMAGED} ({error})"
            fed = stream.unconsumed_tail
            _within(len(made), len(packed))
        at, whole = at - len(stream.unused_data), len(made)
        if not packed.startswith(_GZIP_MAGIC, at):
            return made, "what follows its gzip is none" if any(packed[at : at + STEP_BYTES]) else ""
    return made, f"its gzip has more than {MEMBERS_MAX:,} members"


def _within(size: int, packed: int) -> None:
    if size > LIST_BYTES_MAX:
        raise SitemapRefused("body_too_large", f"the sitemap is larger than {LIST_BYTES_MAX} bytes")
    if size >= RATIO_FROM_BYTES and size > RATIO_MAX * packed:
        raise SitemapRefused("bomb", f"{packed} bytes of a sitemap unpacked into more than {size}")

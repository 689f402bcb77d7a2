"""What kind of file some bytes are, by the bytes. A declared type and a file's ending are only claims."""

from __future__ import annotations

import csv
import json
import re
from posixpath import splitext
from urllib.parse import unquote, urlsplit

import msgspec

SAMPLE_BYTES = 4_096  # of the beginning and of the end
KINDS = ("pdf", "zip", "docx", "xlsx", "html", "png", "jpg", "gif", "csv", "json", "txt")
ALIASES = {"jpeg": "jpg", "htm": "html", "xhtml": "html", "text": "txt", "tsv": "csv"}
_MAGIC = (
    (b"%PDF", "pdf"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),  # an empty archive
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"\xff\xd8\xff", "jpg"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
)
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body|title|script|table|div|h1|p)\b",
    re.IGNORECASE | re.DOTALL,
)
_OFFICE = ((b"word/", "docx"), (b"xl/", "xlsx"))
_MARK = b"\xef\xbb\xbf"


class Sample(msgspec.Struct, frozen=True):
    """A file by its length and its first and last bytes: enough to tell what it is without reading it whole."""

    size: int
    head: bytes
    tail: bytes


def kind_of(sample: Sample) -> str:
    """One of KINDS, or "" for bytes that are none of them."""
    head = sample.head.removeprefix(_MARK)
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return _archive_kind(sample) if kind == "zip" else kind
    if _HTML.match(head):
        return "html"
    return _text_kind(sample, head)


def kind_named(name: str) -> str:
    """The kind that a path or URL claims by its ending, "" without a known one."""
    try:
        path = urlsplit(name).path
    except ValueError:  # a bracket that is no IPv6 address
        path = name
    ending = splitext(unquote(path).rstrip("/"))[1].lower().lstrip(".")
    ending = ALIASES.get(ending, ending)
    return ending if ending in KINDS else ""


def agrees(found: str, claimed: str) -> bool:
    """Whether bytes of one kind may be kept as another: an office file is an archive, CSV and JSON are text, and a page
    may begin with any text."""
    wider = {"zip": ("docx", "xlsx"), "txt": ("csv", "json"), "csv": ("txt",), "html": ("txt", "csv")}
    return not claimed or found == claimed or found in wider.get(claimed, ())


def _archive_kind(sample: Sample) -> str:
    """Names of members stand in plain text at the beginning and in the directory at the end."""
    for name, kind in _OFFICE:
        if name in sample.head or name in sample.tail:
            return kind
    return "zip"


def _text_kind(sample: Sample, head: bytes) -> str:
    text = _decoded(sample, head)
    if text is None or not text.strip():
        return ""
    start = text.lstrip()
    if start[0] in "{[" and _is_json(start, whole=sample.size <= len(sample.head)):
        return "json"
    lines = text.splitlines()
    if sample.size > len(sample.head):
        lines = lines[:-1]  # cut somewhere
    widths = {len(row) for row in csv.reader(lines[:10]) if row}
    return "csv" if len(lines) > 1 and len(widths) == 1 and widths.pop() > 1 else "txt"


def _decoded(sample: Sample, head: bytes) -> str | None:
    """The beginning as text; a character that the sample cuts in two is not an error. None: it is not text."""
    if b"\0" in head or b"\0" in sample.tail:
        return None
    for cut in range(4) if sample.size > len(sample.head) else (0,):
        try:
            return head[: len(head) - cut].decode()
        except UnicodeDecodeError:
            continue
    controls = sum(byte < 32 and byte not in (9, 10, 12, 13) for byte in head)
    return None if controls else head.decode("cp1252", "replace")


def _is_json(text: str, *, whole: bool) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return not whole and re.match(r'\{\s*"|\[\s*[\[{"\d\-tfn]', text) is not None
    except RecursionError:
        return True  # no other text has so many brackets
    return True

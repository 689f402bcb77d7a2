"""Continuing a download: when what lies here and what a server sends are parts of one and the same version.

A version is known by a strong validator only: an ETag that is not weak, or a Last-Modified that lies a minute before
the answer. Without one a file is begun anew (RFC 9110, 13.1.5 and 14.2).
"""

from __future__ import annotations

import re
from datetime import datetime

import msgspec

from holdfast.model.exchange import Headers

SURE_AFTER_S = 60  # a file may change twice within the second that Last-Modified is told to
NOTE_HEADER_MAX = 1_000
_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept beside a file that is not complete."""

    job: str
    target: int
    url: str  # without its query, which may be a signature that another try has not
    validator: str = ""
    total: int | None = None
    synced: int = 0  # so many bytes are on the disk, also after a power cut
    boot: str = ""  # which start of the computer the rest was written in

    def is_of(self, wanted: Note) -> bool:
        return bool(self.validator) and (self.job, self.target, self.url) == (wanted.job, wanted.target, wanted.url)

    def of_answer(self, headers: Headers, at: int, *, boot: str) -> Note:
        """The note of a file whose bytes from `at` on come with this answer."""
        if at:
            return msgspec.structs.replace(self, boot=boot)
        length = _header(headers, "content-length")
        total = int(length) if length.isascii() and length.isdigit() and len(length) <= 18 else None
        return msgspec.structs.replace(self, validator=validator_of(headers), total=total, synced=0, boot=boot)


def validator_of(headers: Headers) -> str:
    """What `If-Range` may name; empty where nothing is sure enough."""
    etag = _header(headers, "etag")
    if etag.startswith('"') and len(etag) <= NOTE_HEADER_MAX:
        return etag
    modified, date = _header(headers, "last-modified"), _header(headers, "date")
    then, now = _moment(modified), _moment(date)
    sure = then is not None and now is not None and (now - then).total_seconds() >= SURE_AFTER_S
    return modified if sure else ""


def resumes_at(note: Note, size: int, status: int, headers: Headers) -> int | None:
    """From which byte on this answer is to be written: 0 for all of it; None where it fits nothing that lies here."""
    if status != 206:
        return 0
    part = _RANGE.fullmatch(_header(headers, "content-range"))
    if part is None or not size:
        return None
    begin, end, total = int(part[1]), int(part[2]), None if part[3] == "*" else int(part[3])
    other = validator_of(headers) if note.validator.startswith('"') else ""
    if begin != size or (other and other != note.validator):
        return None
    if total is not None and (end != total - 1 or (note.total is not None and total != note.total)):
        return None
    return begin


def _header(headers: Headers, name: str) -> str:
    return next((value for key, value in headers if key == name), "")


def _moment(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime  # loads a tenth of what a crawl loads, and only files need it

    try:
        moment = parsedate_to_datetime(text) if text else None
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return moment if moment is not None and moment.tzinfo is not None else None

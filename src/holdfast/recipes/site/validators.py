"""By what a page is asked for only if it has changed: the ETag and the Last-Modified of its last good answer.

Kept in the page's record where an answer had them, and sent back as they were. Only what has the form that HTTP gives
them is sent: a record may come from anybody's snapshot, and `*` would mean any page at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from holdfast.model.exchange import Headers, last_modified_of

_ETAG = re.compile(r'(?:W/)?"[!#-~]{1,200}"')
_DATE = re.compile(r"[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")


class Validators(msgspec.Struct, frozen=True):
    """What a page's record says of them; it says more, which is not read here."""

    etag: str | msgspec.UnsetType = msgspec.UNSET
    last_modified: str | msgspec.UnsetType = msgspec.UNSET

    def asking(self) -> Headers:
        """The headers of a request that is answered in full only if the page is another one."""
        pairs = (("if-none-match", self.etag, _ETAG), ("if-modified-since", self.last_modified, _DATE))
        return tuple((name, value) for name, value, form in pairs if value and form.fullmatch(value))


_records = msgspec.json.Decoder(Validators)


def validators_of(headers: Mapping[str, str]) -> Validators:
    return Validators(etag=_kept(headers.get("etag"), _ETAG), last_modified=_kept(last_modified_of(headers), _DATE))


def asking_again(record: bytes) -> Headers:
    """From the record of the last good result; empty where that says nothing to ask by."""
    try:
        return _records.decode(record).asking() if record else ()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()


def _kept(header: str | None, form: re.Pattern[str]) -> str | msgspec.UnsetType:
    return header if header and form.fullmatch(header) else msgspec.UNSET

"""A page as exports print it: one JSON object per succeeded page, with fixed keys in a fixed order. No I/O."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from holdfast.clock import iso
from holdfast.errors import Corrupt
from holdfast.model.target import PageRow

PAGE_FIELDS = (
    "url", "final_url", "title", "depth", "status_code", "fetched_at", "content_type", "sha256", "bytes", "links",
    "parent", "markdown", "run", "target", "text", "metadata", "flags",
)  # fmt: skip
WALL_MS_MAX = 253_402_300_799_999  # the last millisecond that RFC 3339 can write


class ExportedPage(msgspec.Struct, frozen=True):
    """What a site recipe's page record must say; anything else in it is kept and not exported."""

    title: str | None
    status_code: int
    fetched_at: Annotated[int, msgspec.Meta(ge=0, le=WALL_MS_MAX)]
    content_type: str | None
    links: int
    final_url: str | None = None  # where it is not the target's own
    noindex: bool = False


_records = msgspec.json.Decoder(ExportedPage)


def page_object(row: PageRow) -> dict[str, Any]:
    """The export's object but for what is derived from the stored bytes; its order is part of the contract. Corrupt
    where the stored record cannot be read."""
    target = f"T-{row.target:x}"
    record = _record(row.record, target)
    return {
        "url": row.url,
        "final_url": record.final_url or row.url,
        "title": record.title,
        "depth": row.depth,
        "status_code": record.status_code,
        "fetched_at": iso(record.fetched_at),
        "content_type": record.content_type,
        "sha256": row.sha256.hex(),
        "bytes": row.size,
        "links": record.links,
        "parent": row.parent_url,
        "markdown": None,  # derived, as is what comes behind the target
        "run": f"R-{row.run}",
        "target": target,
    }


def wants_no_index(row: PageRow) -> bool:
    """Whether the page asks not to be found in indexes. Corrupt where its record cannot be read."""
    return _record(row.record, f"T-{row.target:x}").noindex


def _record(doc: bytes, target: str) -> ExportedPage:
    try:
        return _records.decode(doc)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"the page record of {target} cannot be read: {error}") from error

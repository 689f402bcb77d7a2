"""A result as exports print it, where its kind has no form of its own: the record's fields, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.errors import Corrupt

if TYPE_CHECKING:
    from holdfast.model.target import PageRow

ENVELOPE = ("url", "key", "target", "run", "kind")  # what every record has besides its own fields


def record_object(row: PageRow) -> dict[str, Any]:
    """A record: its own fields, behind what says where it comes from. Its own names win."""
    try:
        own = msgspec.json.decode(row.record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"record {row.n} of T-{row.target:x} cannot be read: {error}") from error
    own = own if isinstance(own, dict) else {"value": own}
    key = row.name or row.key.hex()
    where = {"url": row.url, "key": key, "target": f"T-{row.target:x}", "run": f"R-{row.run}", "kind": row.kind}
    return {**where, **own}

"""What is planned and what is kept of one document, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.clock import iso
from holdfast.errors import Corrupt

if TYPE_CHECKING:
    from holdfast.model.target import PageRow

FIELDS = (
    "key", "url", "final_url", "title", "path", "sha256", "bytes", "content_type", "pages", "status_code", "fetched_at",
    "list_version", "metadata", "run", "target",
)  # fmt: skip


class Planned(msgspec.Struct, frozen=True):
    """The params of a target: its row of the list. `version` names the list that it was first planned from."""

    key: str
    token: str = ""
    metadata: dict[str, str] = {}
    version: str = ""


class DocumentRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One kept document. `path` is relative to the data folder; `pages` is null where nobody could look.

    A step stores the path that it asks for. Which one the file gets is known when it is named: see `read_record`.
    """

    key: str
    url: str
    final_url: str
    path: str
    sha256: str
    bytes: int
    content_type: str
    pages: int | None
    title: str
    metadata: dict[str, str]
    status_code: int
    fetched_at: int
    list_version: str


def read_record(row: PageRow) -> DocumentRecord:
    """With the path that the file got: where other bytes had the name already, its hash is part of it."""
    try:
        record = msgspec.json.decode(row.record, type=DocumentRecord)
    except msgspec.DecodeError as error:
        raise Corrupt(f"the record of T-{row.target:x} cannot be read: {error}") from error
    return msgspec.structs.replace(record, path=f"artifacts/{row.file}") if row.file else record


def document_object(row: PageRow) -> dict[str, Any]:
    """A document as exports have it."""
    record = read_record(row)
    own = msgspec.structs.asdict(record) | {"fetched_at": iso(record.fetched_at)}
    own |= {"run": f"R-{row.run}", "target": f"T-{row.target:x}"}
    return {name: own[name] for name in FIELDS}

"""The manifest of a snapshot: what is in the file, by length and hash. It comes last: a torn file has none. No I/O."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import msgspec

from holdfast.errors import Refused
from holdfast.model.artifact import is_artifact
from holdfast.model.job import is_stored_name
from holdfast.model.portable import ID_MAX, IDS_SPAN_MAX, Shape

FORMAT = 1
MANIFEST = "checkpoint.json"
MANIFEST_BYTES_MAX = 16 * 1024 * 1024
JOBS_INLINE_MAX = 500
_UID = re.compile(r"J-[0-9a-f]{4,12}")
_ID = re.compile(r"S-[0-9a-f]{1,16}")
_RECIPE = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_MOMENT = re.compile(r"[0-9TZ:.+-]{10,40}")
_BODIES = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]*\.warc\.gz")


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file in the snapshot: rows of one table as zstd JSONL, or stored bodies, where `table` is empty."""

    name: str
    table: str
    rows: int
    bytes: int
    sha256: str


class Brief(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A target as `jobs` tells of it (SNP-01): for people who read the manifest; the rows are in the segments."""

    job_id: str
    state: str
    attempts: int
    last_error: str | None


class Cursor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Up to this target, in the order in which they were found, every one is settled."""

    last_job_id: str | None
    last_job_index: int


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`checkpoint.json`. `sha256` is that of this document with the field empty.

    `bodies_lost`: bodies and files of earlier fetches that rows refer to and whose bytes are gone, where there are any.
    """

    schema_version: int
    id: str
    job_id: str
    name: str
    recipe: str
    identity: str | None
    status: str
    run_id: str | None
    seq: int | None
    counts: dict[str, int]
    cursor: Cursor
    jobs: tuple[Brief, ...] | None
    ledger: str
    ledger_schema: int
    ids: dict[str, tuple[int, int]]
    tables: tuple[Shape, ...]
    segments: tuple[Part, ...]
    bodies: tuple[Part, ...] | None
    updated_at: str
    bodies_lost: int | msgspec.UnsetType = msgspec.UNSET
    files: tuple[Part, ...] | msgspec.UnsetType = msgspec.UNSET  # artifacts, each by its path
    prev_sha256: str | None = None
    sha256: str = ""

    def sealed(self) -> Manifest:
        bare = msgspec.json.encode(msgspec.structs.replace(self, sha256=""))
        return msgspec.structs.replace(self, sha256=sha256(bare).hexdigest())

    def encoded(self) -> bytes:
        return msgspec.json.encode(self)


def damaged(what: str) -> Refused:
    """A snapshot that is not what was written: nothing of it is used."""
    return Refused(f"this snapshot is damaged: {what}; nothing was restored", hint="take it from its source once more")


def read_manifest(stored: bytes) -> Manifest:
    """The version first, then every byte against the seal. Refused where it is not exactly what was written."""
    version = _version(stored)
    if version != FORMAT:
        newer = "use the newer Holdfast that wrote it" if version > FORMAT else "it was never written by a release"
        raise Refused(f"this snapshot has the form {version}, this program knows {FORMAT}", hint=newer)
    try:
        manifest = msgspec.json.decode(stored, type=Manifest)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise damaged(f"its manifest cannot be read ({error})") from None
    if manifest.sealed() != manifest or manifest.encoded() != stored:
        raise damaged("its manifest does not have its own sha256")
    _check_names(manifest)
    _check_ids(manifest.ids)
    return manifest


class _Versioned(msgspec.Struct, frozen=True):
    """All that is read of a manifest before its form is known: whatever else is in it is passed by."""

    schema_version: Any


def _version(stored: bytes) -> int:
    try:
        version = msgspec.json.decode(stored, type=_Versioned).schema_version
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise damaged("its manifest cannot be read") from None
    if not isinstance(version, int) or version < 1:
        raise damaged("its manifest has no version")
    return version


def _check_names(manifest: Manifest) -> None:
    """Trusts no maker: what it names lies below the data folder, and users are shown only what a ledger could give."""
    wrong = [part.name for part in manifest.bodies or () if not _BODIES.fullmatch(part.name)]
    wrong += [part.name for part in manifest.files or () if not is_artifact(part.name)]
    wrong += [] if is_stored_name(manifest.name) else [manifest.name]
    shown = {manifest.job_id: _UID, manifest.id: _ID, manifest.recipe: _RECIPE, manifest.updated_at: _MOMENT}
    wrong += [text for text, form in shown.items() if form.fullmatch(text) is None]
    if wrong:
        raise damaged(f"it has a name that cannot be used: {wrong[0][:200]!r}")
    order = [shape.table for shape in manifest.tables]
    tables = [part.table for part in manifest.segments]
    if any(table not in order for table in tables) or tables != sorted(tables, key=order.index):
        raise damaged("its segments are not in the order of its tables")


def _check_ids(ids: dict[str, tuple[int, int]]) -> None:
    """Ids that a ledger can have given; whether the rows have them is seen when those are read."""
    for table, (low, high) in ids.items():
        if not 1 <= low <= high <= ID_MAX or high - low >= IDS_SPAN_MAX:
            raise damaged(f"no ledger has given the ids {low} to {high} ({table!r})")

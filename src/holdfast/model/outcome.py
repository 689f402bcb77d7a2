"""What a step says happened (outcome), what policy makes of it (verdict), and the frozen batch of verdicts."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

import msgspec

from holdfast.model.artifact import Artifact, Keep
from holdfast.model.target import External, Found, PageRow

SEGMENT_NAME = re.compile(r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]*")  # of its folder, and of its writer
_SEGMENT = re.compile(rf"{SEGMENT_NAME.pattern}/{SEGMENT_NAME.pattern}\.warc\.gz")


def is_segment(name: str) -> bool:
    """Whether this can be a segment's name. Rows may come from a restored snapshot: no other name is ever a path."""
    return _SEGMENT.fullmatch(name) is not None


class BodyRef(msgspec.Struct, frozen=True, gc=False):
    """Where the bytes of a page lie: the truth is this reference, never a scan of the file."""

    segment: str
    offset: int
    length: int
    size: int  # decoded bytes
    sha256: bytes  # of the decoded bytes
    media: str


def body_of(row: PageRow) -> BodyRef | None:
    """Where the bytes of an exported row lie; None where its recipe kept none."""
    if not row.segment:
        return None
    return BodyRef(row.segment, row.offset, row.length, row.size, row.sha256, row.media)


BEYOND_CAP = b'"limit":'  # in the record of a site's page that has more links than are followed


class Record(msgspec.Struct, frozen=True, gc=False):
    """A structured row taken from a target; `doc` is JSON."""

    kind: str
    doc: bytes


class Body(msgspec.Struct, frozen=True, gc=False):
    """A fetched body on its way to a segment, after content decoding."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes
    sha256: bytes  # empty: not hashed yet
    media: str
    fetched_at: int  # wall ms
    member: bytes = b""  # as it will lie on the disk; empty: not packed yet


class Done(msgspec.Struct, frozen=True, gc=False):
    """The target gave its result."""

    disposition: str
    body: Body | None = None
    records: tuple[Record, ...] = ()
    found: tuple[Found, ...] = ()
    external: tuple[External, ...] = ()
    status_code: int | None = None
    rule: str = ""
    because: str = ""  # what is to be known of it besides; nearly always nothing
    files: tuple[Keep, ...] = ()


class Skipped(msgspec.Struct, frozen=True, gc=False):
    """The target is settled without a result: `disposition` and a sentence say why."""

    disposition: str
    because: str
    found: tuple[Found, ...] = ()
    external: tuple[External, ...] = ()
    records: tuple[Record, ...] = ()
    rule: str = ""
    status_code: int | None = None


class Failed(msgspec.Struct, frozen=True, gc=False):
    """The try ended with a code of model/codes.py; policy decides whether there is another."""

    code: str
    message: str
    status_code: int | None = None
    retry_after_s: float | None = None
    final: bool = False  # whatever the code says, another attempt would not help


Outcome = Done | Skipped | Failed
DEAD_END = "dead_end"  # the rule of a seed's page that is HTML and leads to no other page of the site
REFRESHES = "refresh"  # that of one which only refreshes to another page
NOFOLLOW = "nofollow"  # succeeded, and its links were left as it asks; the rule also where single links were left
UNCHANGED = "unchanged"  # succeeded, by the site's word that its earlier result is still so: that one is served
NOT_REPROCESSED = "not_reprocessed"  # the rule of one whose recipe failed on its stored page: it stays as it was
IN_PART = "in_part"  # a list of URLs that has more than was taken, as its `because` says
GONE = (404, 410)  # answers by which a site says that there is no such page any more


class Verdict(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One judged outcome, ready to be settled. `move` is a row of TARGET_MOVES."""

    target: int
    move: str
    began_at: int
    ended_at: int
    disposition: str = ""
    code: str = ""
    rule: str = ""
    because: str = ""
    wait_ms: int | None = None  # with `retry` and `hand_back`: counted by the store's clock, from the settle on
    elsewhere: bool = False  # it failed at another host, so nothing is said about the target's own
    hold_host_ms: int = 0  # Retry-After and back-off: the whole host waits this long from the settle on
    status_code: int | None = None
    body: BodyRef | None = None
    bytes: int = 0
    records: tuple[Record, ...] = ()
    found: tuple[Found, ...] = ()
    external: tuple[External, ...] = ()
    artifacts: tuple[Artifact, ...] = ()  # published: their files are on the disk under these paths


class Batch(msgspec.Struct, frozen=True):
    """Verdicts of one chunk, frozen when first sent. `(chunk, epoch, no)` is its idempotency key.

    `no` is the commit number that this batch will get: under one epoch only the lease's holder advances it, so a
    repeated call finds its own entry under that number and nothing else.
    """

    chunk: int
    epoch: int
    no: int
    worker: str
    verdicts: tuple[Verdict, ...]
    digest: bytes

    @classmethod
    def freeze(cls, *, chunk: int, epoch: int, no: int, worker: str, verdicts: tuple[Verdict, ...]) -> Batch:
        return cls(chunk, epoch, no, worker, verdicts, digest_of(verdicts))


class PlanBatch(msgspec.Struct, frozen=True):
    """Planned targets with the cursor that stands behind them: saved together or not at all."""

    chunk: int
    epoch: int
    no: int
    cursor: int
    next_cursor: int
    done: bool
    found: tuple[Found, ...]
    digest: bytes
    trail: bytes = b""  # of every key that the plan has given so far; empty where the plan is not checked

    @classmethod
    def freeze(
        cls,
        *,
        chunk: int,
        epoch: int,
        no: int,
        cursor: int,
        next_cursor: int,
        done: bool,
        found: tuple[Found, ...],
        trail: bytes = b"",
    ) -> PlanBatch:
        digest = digest_of((cursor, next_cursor, done, found, trail))
        return cls(chunk, epoch, no, cursor, next_cursor, done, found, digest, trail)


def digest_of(value: Any) -> bytes:
    """16 bytes that tell two batches apart."""
    return sha256(msgspec.msgpack.encode(value)).digest()[:16]


def seal_of(doc: bytes) -> bytes:
    """Eight bytes stored beside a record: SQLite has no checksums of its own, and a flipped bit would be exported."""
    return sha256(doc).digest()[:8]

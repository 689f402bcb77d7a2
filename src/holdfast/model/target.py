"""Targets as they are found, claimed and shown. Hot values are msgspec structs: thirty are made per page.

They hold nothing that could lead back to them, so the cycle collector need not look at them (`gc=False`).
"""

from __future__ import annotations

import msgspec

RANK_PER_PRIORITY = 1_000_000


def rank_of(depth: int, priority: int = 0) -> int:
    """Claim order within a lane: priority first, then depth; the row id breaks ties."""
    return priority * RANK_PER_PRIORITY + min(depth, RANK_PER_PRIORITY - 1)


class Found(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A target to be enqueued, or recorded as skipped at once (then `disposition` and `rule` say why).

    `name` is its natural key, where it is not known by its URL; `params` is JSON that its step is handed.
    """

    key: bytes
    chunk_index: int
    origin: str
    host: str
    path: str
    depth: int
    rank: int
    type: str = "page"
    hops: int = 0
    disposition: str = ""  # not empty: skipped when found, without an attempt
    rule: str = ""
    name: str = ""
    params: str = ""


class External(msgspec.Struct, frozen=True, gc=False):
    """A link that leads out of scope: one record per (job, URL), never a target."""

    key: bytes
    url: str


class Claimed(msgspec.Struct, frozen=True, gc=False):
    """A target in a worker's hands. Its attempt is already spent."""

    id: int
    chunk: int
    epoch: int
    key: bytes
    url: str
    host: str
    type: str
    depth: int
    parent: int | None
    hops: int
    attempts: int
    generation: int
    alone: bool = False
    name: str = ""
    params: str = ""
    delay_ms: int = 0  # between two requests to its host, where that is more than the job's own pace
    before: bytes = b""  # the record of its last good result, where only what is new or changed is wanted

    def __str__(self) -> str:
        return f"T-{self.id:x} {self.url} attempt {self.attempts}"


class TargetRow(msgspec.Struct, frozen=True, kw_only=True):
    """A target as a reader sees it: the row of `holdfast targets`."""

    id: int
    key: bytes
    url: str
    type: str
    status: str
    disposition: str | None
    rule: str | None
    code: str | None
    depth: int
    parent: int | None
    host: str
    chunk: int
    generation: int
    attempts: int
    not_before: int | None
    because: str | None
    found_at: int | None
    settled_at: int | None
    sha256: bytes | None
    name: str | None = None  # its natural key
    size: int | None = None  # bytes of its body
    run: int | None = None  # in which it was settled
    label: str | None = None


class AttemptRow(msgspec.Struct, frozen=True, kw_only=True):
    """One try at one target."""

    target: int
    n: int
    worker: str
    began_at: int
    ended_at: int
    outcome: str
    code: str | None
    status_code: int | None
    message: str | None
    bytes: int


class PageRow(msgspec.Struct, frozen=True, kw_only=True):
    """A succeeded target with one of its records and its body reference: what exports read. No body: no segment."""

    target: int
    url: str
    depth: int
    parent_url: str | None
    record: bytes
    segment: str
    offset: int
    length: int
    size: int
    sha256: bytes
    media: str
    found_at: int
    run: int
    n: int = 0  # which of the target's records
    kind: str = "page"
    key: bytes = b""
    type: str = "page"
    name: str = ""  # its natural key
    file: str = ""  # the path that its first file got, below the artifacts folder
    duplicate_of: str | None = None  # the URL of the first with the same content, where an export looks for it
    near_duplicate_of: str | None = None  # the URL of the first with nearly the same text, likewise

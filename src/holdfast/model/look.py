"""What people look at beyond books and rows: failures in groups, events of every kind, checkpoints, lists as of one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from holdfast.model.job import Counts
from holdfast.model.record import Checkpoint

EventKind = tuple[str, str]  # thing, verb
EventPlace = tuple[int, int, int]  # at, chunk (minus the job for a run), seq
NOTHING_KNOWN: Mapping[int, int] = MappingProxyType({})


class Failures(msgspec.Struct, frozen=True, kw_only=True):
    """The failed targets of one code on one host, with one of them as the example."""

    code: str
    host: str
    count: int
    first_at: int | None
    last_at: int | None
    target: int
    url: str
    message: str | None


class EventRow(msgspec.Struct, frozen=True, kw_only=True):
    """One line of history with the job it belongs to. `thing` is job, chunk or run."""

    job: int
    uid: str
    name: str
    chunk: int
    seq: int
    at: int
    actor: str
    thing: str
    verb: str
    source: str
    target: str
    because: str

    @property
    def place(self) -> EventPlace:
        """Where it stands in the order of events: what a page of them goes on after."""
        return self.at, self.chunk, self.seq


class CheckpointRow(msgspec.Struct, frozen=True, kw_only=True):
    """A stored checkpoint; `point` is None where it is damaged. `undone_by`: the number that a rollback wrote."""

    number: int
    at: int
    checksum: bytes
    point: Checkpoint | None
    undone_by: int | None = None


class ListedTarget(msgspec.Struct, frozen=True, kw_only=True):
    """A target as of some checkpoint: `status` is what it was then, None while it was queued."""

    id: int
    url: str
    type: str
    depth: int
    priority: int
    parent: int | None
    status: str | None


class Generation(msgspec.Struct, frozen=True, kw_only=True):
    """A record of some generation of a target, the newest or an earlier one."""

    target: int
    generation: int
    n: int
    run: int
    doc: bytes


class HostWait(msgspec.Struct, frozen=True, kw_only=True):
    """What a host's targets wait for: its next free moment, and how long it was asked to be left alone. Wall ms."""

    host: str
    pending: int
    in_progress: int
    next_at: int
    hold_until: int


class Upcoming(msgspec.Struct, frozen=True, kw_only=True):
    """A target that is to be fetched, in claim order. `is_suspect`: it is tried alone, after a death of its worker."""

    id: int
    url: str
    type: str
    host: str
    depth: int
    parent: int | None
    not_before: int | None
    because: str | None
    is_suspect: bool
    next_at: int
    hold_until: int


class RunLook(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of a job; `counts` are the books when it ended."""

    n: int
    mode: str
    trigger: str
    status: str
    started_at: int
    ended_at: int | None
    stop_reason: str | None
    health: str | None = None
    counts: Counts | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a target between two runs: `added`, `removed` or `changed`; hashes of its bodies then and now."""

    kind: str
    target: int
    url: str
    before: bytes | None
    after: bytes | None
    because: str | None


class Detail(msgspec.Struct, frozen=True, gc=False):
    """A target with its last try, its first record and what it carries: thousands of them make one document."""

    id: int
    chunk: int
    url: str
    type: str
    status: str
    disposition: str | None
    rule: str | None
    code: str | None
    because: str | None
    attempts: int
    not_before: int | None
    found_at: int | None
    settled_at: int | None
    name: str
    params: str
    label: str | None
    began_at: int | None  # of its last try
    ended_at: int | None
    last_code: str | None
    message: str | None
    size: int  # bytes that it brought
    record: bytes

    @property
    def is_open(self) -> bool:
        return self.status in ("pending", "in_progress")

    @property
    def seconds(self) -> float | None:
        """How long its last try took."""
        return None if self.began_at is None or self.ended_at is None else (self.ended_at - self.began_at) / 1000

"""What people look at beyond books and rows: failures in groups, events of every kind, checkpoints, lists as of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from holdfast.model.job import Counts
from holdfast.model.record import Checkpoint

EventKind = tuple[str, str]  # thing, verb
EventPlace = tuple[int, int, int]  # at, chunk (minus the job for a run), seq
NOTHING_KNOWN: Mapping[int, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Failures:
    """The failed targets of one code on one host, with one of them as the example."""

    code: str
    host: str
    count: int
    first_at: int | None
    last_at: int | None
    target: int
    url: str
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRow:
    """A stored checkpoint; `point` is None where it is damaged. `undone_by`: the number that a rollback wrote."""

    number: int
    at: int
    checksum: bytes
    point: Checkpoint | None
    undone_by: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTarget:
    """A target as of some checkpoint: `status` is what it was then, None while it was queued."""

    id: int
    url: str
    type: str
    depth: int
    priority: int
    parent: int | None
    status: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostWait:
    """What a host's targets wait for: its next free moment, and how long it was asked to be left alone. Wall ms."""

    host: str
    pending: int
    in_progress: int
    next_at: int
    hold_until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Upcoming:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLook:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of a target between two runs: `added`, `removed` or `changed`; hashes of its bodies then and now."""

    kind: str
    target: int
    url: str
    before: bytes | None
    after: bytes | None
    because: str | None

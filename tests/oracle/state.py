"""The rows of the in-memory ledger and the store that several connections share. Holds values, decides nothing.

Rows are frozen and are replaced, never changed: a transaction works on shallow copies of the tables, and its commit
swaps them in, so a call that raises has had no effect. A target's id is given once, also where a rollback drops it.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from copy import copy
from dataclasses import dataclass, field, fields

import msgspec

from holdfast.model.artifact import Artifact
from holdfast.model.bookmark import Bookmark
from holdfast.model.edit import Exclusion, Walk
from holdfast.model.host import KeptRobots
from holdfast.model.job import Counts, Job
from holdfast.model.keys import SALT_BYTES
from holdfast.model.lease import Lease, Owner
from holdfast.model.outcome import BodyRef, Record
from holdfast.model.record import Checkpoint, Event
from holdfast.model.states import State
from holdfast.model.target import AttemptRow, External, Found

Commit = tuple[int, int]  # chunk, commit number


class Moment(msgspec.Struct, frozen=True):
    """When and where a transaction runs: wall time, the clock that leases are compared by, and this boot."""

    wall_ms: int
    lease_ms: int
    boot: str


class ChunkRow(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk. It is leased while it has an owner; `epoch` rises with each grant."""

    id: int
    job: int
    kind: str
    index: int
    phase: str
    name: str = ""
    epoch: int = 0
    no: int = 0
    seq: int = 0
    requested: str | None = None
    owner: Owner | None = None
    until: int = 0

    def lease(self) -> Lease:
        return Lease(self.id, self.job, self.kind, self.index, self.epoch, self.no, self.phase, self.requested)

    def is_held_under(self, epoch: int) -> bool:
        """The fence: still the epoch of that grant, and nobody has ended it since."""
        return self.owner is not None and self.epoch == epoch


class TargetState(msgspec.Struct, frozen=True, kw_only=True):
    """A target with everything that the ledger knows of it."""

    id: int
    job: int
    chunk: int
    phase: str
    generation: int
    found: Found
    found_by: Commit
    found_at: int
    parent: int | None
    state: State = State.READY
    disposition: str | None = None
    rule: str | None = None
    code: str | None = None
    because: str | None = None
    attempts: int = 0
    deaths: int = 0
    alone: bool = False
    not_before: int | None = None
    tried_at: int = 0
    held_epoch: int | None = None
    settled_by: Commit | None = None
    settled_at: int | None = None
    run: int = 0

    @property
    def url(self) -> str:
        return self.found.origin + self.found.path

    @property
    def reason(self) -> str:
        """What its count is split by: the code of a failure, the disposition of a skip."""
        if self.state == State.FAILED:
            return self.code or ""
        return (self.disposition or "") if self.state == State.SKIPPED else ""


class Entry(msgspec.Struct, frozen=True):
    """One numbered commit of a chunk. Only batches have a digest."""

    epoch: int
    verb: str
    at: int
    digest: bytes = b""


class HostRow(msgspec.Struct, frozen=True):
    """When a host may be asked again. How many of its targets are in hand is counted, not stored."""

    next_at: int = 0
    hold_until: int = 0
    delay_ms: int | None = None
    conc: int | None = None
    crawl_delay_ms: int | None = None
    said_delay_ms: int | None = None  # by a file, when it was last heeded
    said_conc: int | None = None
    fails: int = 0
    trips: int = 0
    forbade: int = 0

    @property
    def ready_at(self) -> int:
        return max(self.next_at, self.hold_until)

    @property
    def own_delay_ms(self) -> int:
        """Set for it, or asked for by its robots.txt, whatever a job's pace."""
        return max(self.delay_ms or 0, self.crawl_delay_ms or 0)


class Visit(msgspec.Struct, frozen=True):
    """A request to a host, made while a target of another host is worked."""

    host: str
    chunk: int


class RobotsRow(msgspec.Struct, frozen=True):
    """What is kept of an origin's robots.txt, and under which lease somebody is asking for it."""

    kept: KeptRobots | None = None
    fetched_at: int = 0
    expires_at: int = 0
    asker: tuple[int, int] | None = None


class PlanRow(msgspec.Struct, frozen=True):
    chunk: int
    cursor: int = 0
    done: bool = False
    trail: bytes = b""
    mode: str = "full"
    opening: str | None = None  # the mode of the next run


class WalkRow(msgspec.Struct, frozen=True):
    """A walk over the targets of a job that is not at its end."""

    job: int
    verb: str
    actor: str
    doc: Walk
    cursor: int = 0


class UndoRow(msgspec.Struct, frozen=True):
    """What a named verb overwrote."""

    verb: str
    actor: str
    before: TargetState


class RunRow(msgspec.Struct, frozen=True):
    mode: str
    trigger: str
    started_at: int
    status: str = "in_progress"
    ended_at: int | None = None
    stop_reason: str | None = None
    health: str | None = None
    counts: Counts | None = None


class Saved(msgspec.Struct, frozen=True):
    """What a rollback goes back to. The rows are shared with the tables, being frozen."""

    targets: dict[int, TargetState]
    bodies: frozenset[tuple[int, int]]


@dataclass(slots=True, kw_only=True)
class Tables:
    """All rows, by key, as one transaction sees them; `at` is its moment."""

    salt: bytes
    at: Moment
    jobs: dict[int, Job] = field(default_factory=dict)
    owners: dict[int, str] = field(default_factory=dict)  # job -> whose it is
    runs: dict[tuple[int, int], RunRow] = field(default_factory=dict)
    chunks: dict[int, ChunkRow] = field(default_factory=dict)
    plans: dict[int, PlanRow] = field(default_factory=dict)
    phase_plans: dict[tuple[int, str], PlanRow] = field(default_factory=dict)  # of phases that a job has left
    entries: dict[Commit, Entry] = field(default_factory=dict)
    events: dict[Commit, Event] = field(default_factory=dict)
    targets: dict[int, TargetState] = field(default_factory=dict)
    ids_given: int = 0  # the newest target's id, whether it is still there or not
    keys: dict[tuple[int, bytes], int] = field(default_factory=dict)  # UNIQUE (job, key)
    external: dict[tuple[int, bytes], External] = field(default_factory=dict)
    external_by: dict[tuple[int, bytes], Commit] = field(default_factory=dict)  # which commit found it
    external_from: dict[tuple[int, bytes], int] = field(default_factory=dict)  # on which target
    records: dict[tuple[int, int, int], Record] = field(default_factory=dict)  # target, generation, n
    record_runs: dict[tuple[int, int, int], int] = field(default_factory=dict)  # of the records: in which run
    record_by: dict[tuple[int, int, int], Commit] = field(default_factory=dict)  # which commit published it
    record_run: dict[tuple[int, int, int], int] = field(default_factory=dict)  # in which run
    bookmarks: dict[tuple[int, str], Bookmark] = field(default_factory=dict)  # job, consumer
    bodies: dict[tuple[int, int], BodyRef] = field(default_factory=dict)  # target, generation
    artifacts: dict[tuple[int, int, int], Artifact] = field(default_factory=dict)  # target, generation, n
    artifact_by: dict[tuple[int, int, int], Commit] = field(default_factory=dict)  # which commit published it
    attempts: dict[tuple[int, int, int], AttemptRow] = field(default_factory=dict)  # chunk, no, target
    hosts: dict[str, HostRow] = field(default_factory=dict)
    visits: dict[str, Visit] = field(default_factory=dict)  # by ticket
    robots: dict[tuple[str, str], RobotsRow] = field(default_factory=dict)  # origin, agent
    tallies: Counter[tuple[int, str, str, str]] = field(default_factory=Counter)  # chunk, type, status, reason
    checkpoints: dict[tuple[int, int], Checkpoint] = field(default_factory=dict)
    undone_by: dict[tuple[int, int], int] = field(default_factory=dict)  # of the checkpoints: the rollback's own
    saved: dict[tuple[int, int], Saved] = field(default_factory=dict)  # of the checkpoints
    walks: dict[int, WalkRow] = field(default_factory=dict)
    undo: dict[tuple[int, int, int], UndoRow] = field(default_factory=dict)  # target, chunk, no
    labels: dict[int, str] = field(default_factory=dict)  # by target
    exclusions: dict[tuple[int, int], Exclusion] = field(default_factory=dict)  # job, n

    def draft(self, at: Moment) -> Tables:
        """Copies to work on; the rows in them are shared, being frozen."""
        tables = Tables(**{each.name: copy(getattr(self, each.name)) for each in fields(self)})
        tables.at = at
        return tables


class MemoryStore:
    """What several `MemoryLedger` connections share; one transaction at a time."""

    def __init__(self, salt: bytes | None = None) -> None:
        self.lock = threading.RLock()
        self.tables = Tables(salt=salt or secrets.token_bytes(SALT_BYTES), at=Moment(0, 0, ""))

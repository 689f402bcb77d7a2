"""The seams: protocols that the engine speaks to and adapters fulfil. They say when to call and what empty means.

The ledger has three faces. `Jobs` is for people's verbs, `Work` for workers, `Views` only reads. All three are
synchronous; a ledger object belongs to one thread. Every call is one transaction and ends *acked* (it returned),
*refused* (a HoldfastError other than LedgerUnavailable) or *unknown* (LedgerUnavailable): then repeat it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from holdfast.model.claim import Holding, Settled, Wish
from holdfast.model.exchange import Request, Response
from holdfast.model.job import Counts, Job, JobSpec, Options
from holdfast.model.lease import Holder, Lease, Owner, Rescued
from holdfast.model.outcome import Batch, Body, BodyRef, PlanBatch
from holdfast.model.record import Checkpoint, Event
from holdfast.model.target import AttemptRow, PageRow, TargetRow

IsDead = Callable[[Owner], bool]


class Jobs(Protocol):
    """What people do to jobs. A verb that the lifecycle table lacks raises IllegalMove and changes nothing."""

    def submit(self, spec: JobSpec) -> tuple[Job, bool]:
        """Accept a job, or find the one with this identity: (job, whether it is new). Safe to repeat."""

    def set_aside(self, job: int) -> Job:
        """Rename a job to NAME~N and free its identity, so that `--new` can start over. Its rows stay."""

    def move(self, job: int, verb: str, *, actor: str, because: str, version: int | None = None) -> Job:
        """start or resume. With `version`, somebody else's move in between raises IllegalMove or Refused."""

    def request(self, job: int, action: str, *, actor: str, because: str, paused_by: str = "user") -> Job:
        """Ask for a pause or cancel: durable, written to the job and every chunk. No claim commits after it."""

    def amend(self, job: int, options: Options, *, actor: str, because: str) -> Job:
        """Apply changed pace and limits, with an event."""

    def open_run(self, job: int, *, mode: str, trigger: str) -> int:
        """Begin an execution and get its number in the job; an earlier run left open is closed as crashed."""

    def cancel_rest(self, job: int, limit: int = 1000) -> int:
        """Cancel up to `limit` pending targets of a cancelled job; 0 means none is left. Repeat until 0."""


class Work(Protocol):
    """What workers do. Every write is fenced by (chunk, epoch) inside its transaction."""

    def lease(self, job: int, owner: Owner, *, life_s: float, want: int, is_dead: IsDead) -> tuple[Lease, ...]:
        """Take up to `want` free work chunks, and the control and plan chunks where free, of an in_progress job.

        Free is: never leased, released, lapsed by the store's clock, or owned by a process proven dead. Taking a
        chunk raises its epoch and puts back what its last owner held. Asked again by the same owner, its leases are
        answered as they are, so an unknown outcome may be repeated. Empty: all are held by other live owners, the
        job is not in_progress, or a request stands.
        """

    def renew(self, leases: Sequence[Lease], *, life_s: float, active_ms: int) -> tuple[Lease, ...]:
        """Prolong what is still ours; a lease that is missing from the answer is lost. Adds active time to the job."""

    def release(self, leases: Sequence[Lease]) -> None:
        """Give chunks back with nothing held; a lost lease is ignored."""

    def rescue(self, job: int, *, is_dead: IsDead) -> Rescued:
        """Free the chunks of dead or lapsed owners and put back what they held."""

    def held(self, leases: Sequence[Lease]) -> Holding:
        """Which of these leases still hold, their commit numbers, and every target held under them (to adopt)."""

    def settle(
        self, job: int, batches: Sequence[Batch], wish: Wish | None = None, checkpoint: str | None = None
    ) -> Settled:
        """Settle frozen batches, claim as wished, and write a checkpoint row where a reason is given: one commit.

        Per chunk: the key is looked up, then the epoch tested, then the entry stored. A chunk that was lost or
        replayed gets no claim. A requested pause is read from the chunk row just fenced, and then nothing is claimed.
        """

    def enqueue(self, job: int, batch: PlanBatch) -> Lease:
        """Store planned targets with their cursor; answers the plan lease with its new number. Raises LostLease."""

    def acknowledge(self, job: int, *, is_dead: IsDead) -> Job | None:
        """Carry out a requested pause or cancel once no live owner holds a chunk; None: somebody still does."""

    def finish(self, job: int, lease: Lease) -> Job | None:
        """Complete (or fail, if no seed gave anything) a job whose books balance; None: work is left."""


class Views(Protocol):
    """Reading. Each call is one short snapshot, so numbers of one answer agree with each other."""

    def salt(self) -> bytes:
        """The ledger's salt for keys."""

    def damage(self) -> list[str]:
        """What the store itself finds wrong with its file; empty is good."""

    def job(self, reference: str) -> Job:
        """By id (`J-…`, a unique prefix suffices) or name; NotFound says what there is instead."""

    def jobs(self) -> list[Job]: ...

    def books(self, job: int) -> tuple[Job, Counts, Checkpoint | None]:
        """Job, counts and newest valid checkpoint as of one instant."""

    def holders(self, job: int) -> list[Holder]:
        """Chunks that have an owner."""

    def plan(self, job: int) -> tuple[int, bool]:
        """The planner's cursor, and whether the plan is done."""

    def targets(
        self, job: int, *, where: Sequence[tuple[str, bool, tuple[str, ...]]] = (), after: int = 0, limit: int = 500
    ) -> list[TargetRow]:
        """Targets by id, page by page. `where`: (column, wanted?, values) as parsed by policy/filters.py."""

    def pages(self, job: int, *, after: int = 0, limit: int = 500) -> list[PageRow]:
        """Succeeded pages by target id, page by page: what exports read."""

    def history(self, job: int, *, target: int | None = None) -> tuple[list[Event], list[AttemptRow]]:
        """Events of the job, and attempts of one target where given."""


class Ledger(Jobs, Work, Views, Protocol):
    """One connection to the durable truth."""

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """A read for the audit, which shares no code with the engine."""

    def close(self) -> None: ...


class Fetcher(Protocol):
    """The network, guarded. Raises FetchError with a code; never follows a redirect by itself."""

    async def fetch(self, request: Request) -> Response: ...

    async def close(self) -> None: ...


class Blobs(Protocol):
    """Bytes, kept before the commit that refers to them."""

    def append(self, bodies: Sequence[Body]) -> list[BodyRef]:
        """Store a group of bodies; returns only when they are on the disk. Called from the ledger thread."""

    def read(self, reference: BodyRef) -> bytes:
        """The decoded body, checked against its sha256; Corrupt where it differs, NotFound where it is missing."""

    def close(self) -> None: ...


class Progress(Protocol):
    """Who listens to a job being worked. Called only after the commit that made the numbers true."""

    def __call__(self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None) -> None: ...


OpenLedger = Callable[[], Ledger]

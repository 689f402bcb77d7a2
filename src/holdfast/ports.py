"""The seams: protocols that the engine speaks to and adapters fulfil. They say when to call and what empty means.

The ledger has several faces. `Jobs`, `Edits` and `Rollbacks` are for people's verbs, `Work` for workers; `Views`,
`Looks` and `Surveys` only read. All are synchronous; a ledger object belongs to one thread. Every call is one
transaction and ends *acked* (it returned), *refused* (a HoldfastError other than LedgerUnavailable) or *unknown*
(LedgerUnavailable): then repeat it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from holdfast.model.bookmark import Bookmark, Ended, Fresh
from holdfast.model.claim import Holding, Settled, Wish
from holdfast.model.edit import Exclusion, Place, RolledBack, Swept, Walked
from holdfast.model.exchange import Request, Response
from holdfast.model.host import UNTOLD, HostLook, KeptRobots, RobotsAnswer, Turn, Visited
from holdfast.model.job import ONE_PHASE, Counts, Job, JobSpec, Options, Phases
from holdfast.model.lease import Holder, Lease, Owner, Rescued
from holdfast.model.look import (
    NOTHING_KNOWN,
    Change,
    CheckpointRow,
    EventKind,
    EventPlace,
    EventRow,
    Failures,
    HostWait,
    ListedTarget,
    RunLook,
    Upcoming,
)
from holdfast.model.outcome import Batch, Body, BodyRef, PlanBatch
from holdfast.model.portable import Arrival, Shape, Slice, Standing
from holdfast.model.record import Checkpoint, Event
from holdfast.model.target import AttemptRow, Claimed, PageRow, TargetRow

IsDead = Callable[[Owner], bool]
Query = Callable[[str, Sequence[Any]], list[tuple[Any, ...]]]
Judge = Callable[[Query, int], Sequence[str]]  # what is wrong with the rows of a job, one sentence each


class Jobs(Protocol):
    """What people do to jobs. A verb that the lifecycle table lacks raises IllegalMove and changes nothing."""

    def submit(self, spec: JobSpec) -> tuple[Job, bool]:
        """Accept a job, or find the one with this identity: (job, whether it is new). Safe to repeat."""

    def set_aside(self, known: Job) -> tuple[Job, bool]:
        """Rename a job to NAME~N and free its identity, so that `--new` can start over. Its rows stay.

        (the job, whether this call did it): one that has another name than `known` was set aside by somebody else.
        """

    def move(self, job: int, verb: str, *, actor: str, because: str, version: int | None = None) -> Job:
        """start or resume. With `version`, somebody else's move in between raises IllegalMove or Refused."""

    def request(self, job: int, action: str, *, actor: str, because: str, paused_by: str = "user") -> Job:
        """Ask for a pause, cancel or time-out: durable, on the job and every chunk. No claim commits after it."""

    def amend(
        self,
        known: Job,
        *,
        options: Options | None = None,
        actor: str,
        because: str,
    ) -> Job:
        """Apply changed pace and limits, with an event; what is not given stays.

        Refused where what would be overwritten is not what `known` had: somebody changed it meanwhile. What stands
        there already is answered, so an unknown outcome may be repeated.
        """

    def open_run(self, job: int, *, mode: str, trigger: str) -> int:
        """Begin an execution and get its number in the job; an earlier run left open is closed as crashed."""

    def cancel_rest(self, job: int, limit: int = 1000) -> int:
        """Cancel up to `limit` pending targets of a cancelled job; 0 means none is left. Repeat until 0."""

    def save_bookmark(self, job: int, consumer: str, mark: Bookmark) -> Bookmark:
        """Keep where a consumer of results stands; one that lies further back than what is kept changes nothing."""


class Edits(Protocol):
    """What people do to the targets of a job. Large selections go in slices, each one commit that may be repeated."""

    def reopen(
        self,
        job: int,
        verb: str,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        mode: str = "full",
        actor: str,
        because: str,
        version: int | None = None,
    ) -> Job:
        """retry, rescan or restart: the guarded move, and a walk that stands until `walk` has come to its end.

        Of a retry `where` chooses among the failed targets. Nothing is put back yet; `advance` waits for the walk.
        """

    def walk(self, job: int, *, verb: str | None = None, limit: int = 1000) -> Walked:
        """The next slice of the oldest walk (of this verb): settled targets go back to pending, each with an undo row,
        as a new generation. Only what was settled when the walk began. Repeat until nothing is left.

        The walk of a removed exclusion (verb `include`) begins no new generation: what it left out was not worked. Nor
        does that of a changed scope (`rescope`), which also leaves out."""

    def walking(self, job: int, verb: str | None = None) -> str | None:
        """The verb of the oldest walk (of this verb) that stands; None: there is none. Reads only."""

    def exclude(self, job: int, pattern: str, *, syntax: str = "glob", this_run: bool = False, actor: str) -> Exclusion:
        """What this pattern matches is not fetched any more, by whoever works the job; the same one again is found.

        `this_run`: until the job is rescanned or restarted. Pending targets that it matches are never claimed from
        here on; `sweep` leaves them out at once. What is in hand is finished.
        """

    def sweep(self, job: int, n: int, *, after: Place = (), limit: int = 1000) -> Swept:
        """Leave out the next slice of pending targets that exclusion n matches; repeat with its `after` while some are
        left."""

    def include(self, job: int, n: int, *, actor: str) -> Exclusion:
        """Remove exclusion n; NotFound where there is none. Removed already: answers it.

        A walk stands until `walk` has put back what it had left out, unless another one leaves it out, too. A completed
        job stays complete: its next rescan fetches them.
        """

    def rescope(self, known: Job, params: dict[str, Any], *, actor: str, because: str) -> Job:
        """Another scope, with an event, and a walk that stands until `walk` has judged by the job's params what is
        pending and what a rule of the scope had left out; till then `lease` gives nothing. Repeated, it is answered.

        Refused, and nothing is changed: somebody holds the job, or changed its params since `known`; it is completed
        or cancelled. BadParams: there is no scope in them.
        """

    def exclusions(self, job: int) -> list[Exclusion]:
        """In the order of their numbers, the removed ones too."""

    def label(self, job: int, targets: Sequence[int], word: str | None, *, actor: str) -> int:
        """Put people's mark on these targets, or take it away (None): one commit, an event; how many. All or none."""

    def mend(self, job: int, targets: Sequence[int], *, actor: str, because: str) -> int:
        """Put these succeeded targets, whose bytes are gone, back to pending with the reason; how many there were.

        A job that was over is in progress again; a pending or cancelled one raises IllegalMove.
        """


class Rollbacks(Protocol):
    """Going back to a checkpoint of a job."""

    def rollback(self, job: int, number: int, *, actor: str, is_dead: IsDead, version: int | None = None) -> RolledBack:
        """Go back to a checkpoint: targets found since are dropped, others stand as they stood, what was in hand then
        is pending. The job is paused, with the counts of that checkpoint; one commit, whatever its size.

        Every epoch is raised, so a live worker has lost its leases. Commit numbers, events and ids go on. Checkpoints
        in between are marked as undone; Refused for one of them, NotFound where there is no such number.
        """

    def foretell_rollback(self, job: int, number: int, *, is_dead: IsDead) -> RolledBack:
        """What `rollback` would answer now. Nothing is changed."""


class Work(Protocol):
    """What workers do. Every write is fenced by (chunk, epoch) inside its transaction."""

    def lease(self, job: int, owner: Owner, *, life_s: float, want: int, is_dead: IsDead) -> tuple[Lease, ...]:
        """Take up to `want` free work chunks, and the control and plan chunks where free, of an in_progress job.

        Free is: never leased, released, lapsed by the store's clock, or owned by a process proven dead. Taking a
        chunk raises its epoch and puts back what its last owner held. Asked again by the same owner, its leases are
        answered as they are, so an unknown outcome may be repeated. Empty: all are held by other live owners, the
        job is not in_progress, or a request or a changed scope stands.
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
        self,
        job: int,
        batches: Sequence[Batch],
        wish: Wish | None = None,
        checkpoint: str | None = None,
        per_host_max: int = 0,
    ) -> Settled:
        """Settle frozen batches, claim as wished, and write a checkpoint row where a reason is given: one commit.

        Per chunk: the key is looked up, then the epoch tested, then the entry stored. A chunk that was lost or
        replayed gets no claim. A requested pause is read from the chunk row just fenced, and then nothing is claimed.
        Of a host that has `per_host_max` targets (0: any number), what is found is stored as skipped under `limit`.
        """

    def enqueue(self, job: int, batch: PlanBatch) -> Lease:
        """Store planned targets with their cursor; answers the plan lease with its new number. Raises LostLease."""

    def acknowledge(self, job: int, *, is_dead: IsDead) -> Job | None:
        """Carry out what was requested once no live owner holds a chunk; None: somebody still does."""

    def advance(
        self,
        job: int,
        lease: Lease,
        *,
        phases: Phases = ONE_PHASE,
        plan_failed: str = "",
        pages_max: int | None = None,
        stale: str = "",
    ) -> Job | None:
        """Open the next phase of a job whose phase is drained; behind the last one complete it (or fail it, if no seed
        gave anything) when its books balance. None: work is left in this phase.

        A phase that opens has a plan of its own, from its first target on. `plan_failed`: its plan raised and gives
        nothing more, so what is planned is all; then the job is failed for that.
        Work that is left under `pages_max`, the limit that its workers claim by, times the job out once nothing more
        may be claimed and nothing is in hand. `stale`: nothing moved for too long, it is failed for that.
        """


class Hosts(Protocol):
    """What hosts are owed, by all jobs together: turns for requests that no claim stands for, and robots.txt."""

    def turn(
        self,
        host: str,
        claimed: Claimed,
        *,
        ticket: str,
        delay_ms: int,
        per_host: int,
        patience_ms: int,
    ) -> Turn:
        """Take the host's next turn for a request made while `claimed` is worked, if it comes within `patience_ms`.

        At the target's own host its claim's slot is used again, so one request at a time. Elsewhere a slot is taken
        until `leave(ticket)` or the end of the lease. Raises LostLease.
        """

    def leave(self, ticket: str, visited: Visited = UNTOLD) -> None:
        """The request that took this turn is over, and went like this. Safe to repeat."""

    def robots(self, origin: str, agent: str, claimed: Claimed, *, insist: bool = False) -> RobotsAnswer:
        """What is kept of an origin's robots.txt. Empty: another worker is asking for it; look again, then insist."""

    def keep_robots(self, origin: str, host: str, agent: str, kept: KeptRobots | None) -> None:
        """Keep what came of asking; None: nothing did, so that somebody else may ask."""

    def limit_host(
        self, host: str, *, delay_ms: int | None = None, concurrency: int | None = None, actor: str, because: str
    ) -> HostLook:
        """Set what this host is owed, for all jobs and from the next claim on; None leaves a value as it is.

        An event of every job that has targets there and is not over.
        """

    def configure_host(self, host: str, *, delay_ms: int | None = None, concurrency: int | None = None) -> HostLook:
        """The same by a file: a value that the file says anew is set; one that it said before leaves what people set
        since."""

    def hosts(self, *, host: str | None = None, after: str = "", limit: int = 500) -> list[HostLook]:
        """The hosts that any job met, by name, page by page; or the one that is named."""


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

    def plan(self, job: int) -> tuple[int, bool, bytes]:
        """The planner's cursor, whether the plan is done, and the trail of the keys it has given."""

    def mode(self, job: int) -> str:
        """How the job is scanned: `full`, or `new` from a rescan that was asked for so until the next one."""

    def targets(
        self, job: int, *, where: Sequence[tuple[str, bool, tuple[str, ...]]] = (), after: int = 0, limit: int = 500
    ) -> list[TargetRow]:
        """Targets by id, page by page. `where`: (column, wanted?, values) as parsed by policy/filters.py."""

    def pages(self, job: int, *, after: int = 0, limit: int = 500) -> list[PageRow]:
        """Succeeded pages by target id, page by page: what exports read."""

    def results(
        self,
        job: int,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        after: tuple[int, int] = (0, -1),
        limit: int = 500,
    ) -> list[PageRow]:
        """Records of succeeded targets by (target, n), page by page: what exports of every recipe read."""

    def fresh(
        self,
        job: int,
        mark: Bookmark,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        limit: int = 500,
    ) -> tuple[list[Fresh], Bookmark]:
        """Results committed behind a bookmark, commit by commit, and the bookmark behind them. None: all is read.

        Whoever has worked through some of them only stands at `mark.after(the last of those)`.
        """

    def ended(self, job: int, mark: Bookmark, *, limit: int = 500) -> tuple[list[Ended], Bookmark]:
        """Targets that came to their end behind a bookmark, commit by commit, and the bookmark behind them."""

    def everything(self, job: int) -> Bookmark:
        """The bookmark behind all that is committed by now."""

    def bookmark(self, job: int, consumer: str) -> Bookmark:
        """Where a consumer stands; at the beginning, if it never saved."""

    def history(self, job: int, *, target: int | None = None) -> tuple[list[Event], list[AttemptRow]]:
        """Events of the job, and attempts of one target where given."""


class Looks(Protocol):
    """Reading for people who look into a job; workers never ask these. Pages are by key: rows added shift nothing."""

    def find(self, job: int, key: bytes) -> TargetRow | None:
        """The target of this key."""

    def attempts(self, target: int) -> list[AttemptRow]:
        """A target's tries, oldest first."""

    def failures(self, job: int, *, limit: int = 1000) -> list[Failures]:
        """Failed targets by code and host, the largest group first."""

    def events(
        self,
        job: int | None = None,
        *,
        since: int = 0,
        kinds: Sequence[EventKind] = (),
        without: Sequence[EventKind] = (),
        after: EventPlace | None = None,
        limit: int = 500,
        newest: bool = False,
        beyond: Mapping[int, int] = NOTHING_KNOWN,
    ) -> list[EventRow]:
        """Events and the beginnings and ends of runs in the order of time, of one job or of all.

        `newest` answers the last ones instead of the first. Without `kinds` every kind, but those of `without`.
        `beyond`: of these chunks only what has a larger number, whatever the clock said then.
        """

    def checkpoints(self, job: int, *, before: int | None = None, limit: int = 500) -> list[CheckpointRow]:
        """Newest first; a damaged one is in the list without its contents."""

    def as_of(
        self, job: int, commits: Mapping[str, int], *, settled: bool, after: int = 0, limit: int = 500
    ) -> list[ListedTarget]:
        """Targets by id that were settled (or still queued) when the chunks stood at these commit numbers."""

    def links_out(
        self, job: int, commits: Mapping[str, int], *, after: bytes = b"", limit: int = 500
    ) -> list[tuple[bytes, str]]:
        """(key, URL) of the links out of scope that were known at these commit numbers."""

    def pulse(self, job: int) -> int:
        """When the job's last commit was, apart from rescues, which tell of a death: wall ms, 0 before the first."""


class Surveys(Protocol):
    """Reading across a job: what is waiting, how it splits, what changed. Reads pending rows, or all where it must."""

    def hosts_waiting(self, job: int, *, host: str | None = None, limit: int = 1000) -> list[HostWait]:
        """Hosts with targets to fetch, the fullest first: from counters, never from the targets."""

    def pending_by(self, job: int, column: str, *, limit: int = 100_000) -> list[tuple[str, int]]:
        """Pending targets by `depth`, or by `pattern` (the first part of the path) among the first `limit` of them."""

    def upcoming(self, job: int, *, limit: int = 20) -> list[Upcoming]:
        """The next targets, about in the order in which they will be claimed."""

    def breakdown(self, job: int, by: str) -> list[tuple[str | None, str, int]]:
        """(group, status, how many) by host, depth, chunk, code or disposition; the parts sum to the whole."""

    def open_chunks(self, job: int) -> list[tuple[int, int]]:
        """(chunk, how many of its targets are not settled) of every chunk that has targets: from counters."""

    def link_out(self, job: int, key: bytes) -> int | None:
        """Where a link out of scope was first found: the target's id, None where no such link is known."""

    def cut_short(self, job: int, *, limit: int = 10) -> list[tuple[int, bytes]]:
        """(target, record) of succeeded pages that have more links than were followed, by id. Looks at every record."""

    def robots_text(self, origin: str) -> bytes | None:
        """What is kept of an origin's robots.txt; None where it was never asked for, or nothing is known of it."""

    def runs(self, job: int) -> list[RunLook]:
        """Oldest first."""

    def changes(
        self, job: int, first: RunLook, second: RunLook, *, after: int = 0, limit: int = 500
    ) -> tuple[list[Change], int | None]:
        """What changed from the end of one run to the end of another; and where to go on, None at the end."""


class Copies(Protocol):
    """A job's rows as they lie there, for its portable form. Ledgers over SQL have one, whichever engine runs them."""

    def shapes(self) -> tuple[Shape, ...]:
        """The tables that hold rows of a job, in the order in which they can be written."""

    def standing(self, job: int) -> Standing:
        """Where the job stands: asked before and after its rows were read, equal answers mean one instant."""

    def copy_out(
        self, job: int, shape: Shape, *, after: tuple[object, ...] = (), limit: int = 1000
    ) -> tuple[list[tuple[Any, ...]], tuple[object, ...] | None]:
        """The next rows of one table, in a short transaction, and where to go on; None: these were the last."""

    def copy_in(self, arrival: Arrival, slices: Iterator[Slice], *, is_dead: IsDead, judge: Judge) -> Job:
        """A job from its rows, in one commit: ids are moved to free ones, keys are salted anew, held names raise
        Refused, and so do rows that `judge` finds something wrong with before the commit. What was in progress arrives
        paused; what it replaces is paused and set aside in the same commit."""


class Ledger(Jobs, Edits, Rollbacks, Work, Views, Looks, Surveys, Hosts, Copies, Protocol):
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

    def pack(self, body: Body) -> Body:
        """The same body, hashed and as it will be stored. It touches no file: any thread may do it ahead of time."""

    def append(self, bodies: Sequence[Body]) -> list[BodyRef]:
        """Store a group of bodies, packed or not; returns only when they are on the disk. Called from the ledger
        thread."""

    def read(self, reference: BodyRef) -> bytes:
        """The decoded body, checked against its sha256; Corrupt where it differs, NotFound where it is missing."""

    def close(self) -> None: ...


class Shelf(Protocol):
    """The files that bodies lie in, as whole files."""

    def size(self, name: str) -> int:
        """How long one is; 0 where there is none."""

    def blocks(self, name: str, length: int) -> Iterator[bytes]:
        """The first bytes of one, piece by piece; Corrupt where there are fewer, NotFound where there is none."""

    def is_free(self, uid: str) -> bool:
        """Whether bodies of a job with this id may be put here; nobody else's are there."""

    def receiving(
        self, uids: Iterable[str], is_taken: Callable[[str], bool], ledger: str = ""
    ) -> AbstractContextManager[tuple[str, Callable[[str, Iterable[bytes]], None]]]:
        """Put files below the first of these ids that is free, each whole or not at all; around the commit that refers
        to them, in the ledger of this id. `is_taken`, whether a job has an id, is asked while nobody else can take it.
        Refused: none stays."""


class Archive(Protocol):
    """One WARC file, made of stored pages."""

    def write(self, job: Job, pages: Iterable[tuple[str, BodyRef]], write: Callable[[bytes], object]) -> int:
        """Write the pages in the order of their URLs, whatever order they come in; answers how many."""


class Progress(Protocol):
    """Who listens to a job being worked. Called only after the commit that made the numbers true."""

    def __call__(self, job: Job, counts: Counts, in_flight: int, checkpoint: int | None) -> None: ...


class Journal(Protocol):
    """A job's log. Best effort: it never raises. `debug` says whether debug lines are wanted at all."""

    debug: bool

    def __call__(self, level: str, phase: str, **fields: Any) -> None: ...

    def close(self) -> None: ...


OpenLedger = Callable[[], Ledger]

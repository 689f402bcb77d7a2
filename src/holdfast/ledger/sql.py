"""The ledger over SQL: each verb is one transaction of a store. The verbs live beside; here they get their commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from holdfast.faults import EVERY_POINT, point
from holdfast.ledger.books import write_tallies
from holdfast.ledger.copies import copy_in, portable
from holdfast.ledger.reads import artifacts, as_of, details, events, failures, frontier, streams, surveys
from holdfast.ledger.reads import jobs as jobs_reads
from holdfast.ledger.reads import targets as targets_reads
from holdfast.ledger.tx import Tx, one
from holdfast.ledger.verbs import (
    advance,
    exclude,
    hosts,
    jobs,
    label,
    leases,
    reopen,
    repair,
    rescope,
    rollback,
    settle,
)
from holdfast.model.artifact import ArtifactRow
from holdfast.model.bookmark import Bookmark, EndedTarget, Fresh
from holdfast.model.claim import Holding, Settled, Wish
from holdfast.model.edit import Exclusion, Place, RolledBack, Swept, Walked
from holdfast.model.host import UNTOLD, HostLook, KeptRobots, RobotsAnswer, Turn, Visited
from holdfast.model.job import ANY_JOB, ONE_PHASE, Counts, Grown, Job, JobFilter, JobSpec, Options, Phases
from holdfast.model.lease import Holder, Lease, Owner, Rescued
from holdfast.model.look import (
    NOTHING_KNOWN,
    Change,
    CheckpointRow,
    Detail,
    EventKind,
    EventPlace,
    EventRow,
    Failures,
    Generation,
    HostWait,
    ListedTarget,
    RunLook,
    Upcoming,
)
from holdfast.model.outcome import Batch, PlanBatch
from holdfast.model.portable import Arrival, Shape, Slice, Standing
from holdfast.model.record import Checkpoint, Event
from holdfast.model.target import AttemptRow, Claimed, PageRow, TargetRow
from holdfast.ports import IsDead, Judge

T = TypeVar("T")


def _fault(name: str) -> None:
    if name in EVERY_POINT:
        point(name)


class _NotMeant(Exception):
    """Ends a transaction that only foretells."""


class Store(Protocol):
    """A connection of one engine. `write` commits when its body ends, rolls back when it raises."""

    def write(self) -> AbstractContextManager[Tx]: ...

    def read(self) -> AbstractContextManager[Tx]: ...

    def damage(self) -> list[str]: ...

    def reserved(self, ids: Mapping[str, tuple[int, int]]) -> AbstractContextManager[dict[str, int]]:
        """By how much ids of each table must be moved so that they are free here and stay so; given back where the
        body is refused. For a table that is missing from the answer the writer finds free ids itself."""

    def close(self) -> None: ...


class SqlLedger:
    """Jobs, Work, Hosts and Views (see ports/) over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def _write(self, verb: str, body: Callable[[Tx], T]) -> T:
        with self._store.write() as tx:
            answer = body(tx)
            write_tallies(tx)
            _fault(f"{verb}.before_commit")
        _fault(f"{verb}.after_commit")
        return answer

    def _foretold(self, body: Callable[[Tx], T]) -> T:
        """What a verb would answer: it is carried out, and not committed."""
        answers: list[T] = []
        try:
            with self._store.write() as tx:
                answers.append(body(tx))
                raise _NotMeant
        except _NotMeant:
            return answers[0]

    def _read(self, body: Callable[[Tx], T]) -> T:
        with self._store.read() as tx:
            return body(tx)

    # Jobs

    def submit(self, spec: JobSpec) -> tuple[Job, bool]:
        return self._write("submit", lambda tx: jobs.submit(tx, spec))

    def set_aside(self, known: Job) -> tuple[Job, bool]:
        return self._write("set_aside", lambda tx: jobs.set_aside(tx, known))

    def move(self, job: int, verb: str, *, actor: str, because: str, version: int | None = None) -> Job:
        return self._write(
            "move", lambda tx: jobs.move_job(tx, job, verb, actor=actor, because=because, version=version)
        )

    def request(self, job: int, action: str, *, actor: str, because: str, paused_by: str = "user") -> Job:
        return self._write(
            "pause", lambda tx: jobs.request(tx, job, action, actor=actor, because=because, paused_by=paused_by)
        )

    def amend(
        self,
        known: Job,
        *,
        options: Options | None = None,
        actor: str,
        because: str,
    ) -> Job:
        return self._write("amend", lambda tx: jobs.amend(tx, known, options, None, actor=actor, because=because))

    def open_run(self, job: int, *, mode: str, trigger: str) -> int:
        return self._write("open_run", lambda tx: jobs.open_run(tx, job, mode, trigger))

    def cancel_rest(self, job: int, limit: int = 1000) -> int:
        return self._write("cancel_rest", lambda tx: jobs.cancel_rest(tx, job, limit))

    def save_bookmark(self, job: int, consumer: str, mark: Bookmark) -> Bookmark:
        return self._write("save_bookmark", lambda tx: streams.save_bookmark(tx, job, consumer, mark))

    # Edits

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
        return self._write(
            "reopen",
            lambda tx: reopen.reopen(
                tx, job, verb, where=where, mode=mode, actor=actor, because=because, version=version
            ),
        )

    def walk(self, job: int, *, verb: str | None = None, limit: int = 1000) -> Walked:
        return self._write("walk", lambda tx: reopen.walk(tx, job, verb, limit))

    def walking(self, job: int, verb: str | None = None) -> str | None:
        return self._read(lambda tx: reopen.walking(tx, job, verb))

    def exclude(self, job: int, pattern: str, *, syntax: str = "glob", this_run: bool = False, actor: str) -> Exclusion:
        return self._write(
            "exclude", lambda tx: exclude.exclude(tx, job, pattern, syntax, this_run=this_run, actor=actor)
        )

    def sweep(self, job: int, n: int, *, after: Place = (), limit: int = 1000) -> Swept:
        return self._write("sweep", lambda tx: exclude.sweep(tx, job, n, after, limit))

    def include(self, job: int, n: int, *, actor: str) -> Exclusion:
        return self._write("include", lambda tx: exclude.include(tx, job, n, actor=actor))

    def rescope(
        self, known: Job, params: dict[str, Any], *, actor: str, because: str, grown: Grown | None = None
    ) -> Job:
        return self._write(
            "rescope", lambda tx: rescope.rescope(tx, known, params, grown, actor=actor, because=because)
        )

    def repair(self, job: int, targets: Sequence[int], *, actor: str, because: str) -> int:
        return self._write("mend", lambda tx: repair.repair(tx, job, targets, actor=actor, because=because))

    def rollback(self, job: int, number: int, *, actor: str, is_dead: IsDead, version: int | None = None) -> RolledBack:
        return self._write(
            "rollback",
            lambda tx: rollback.rollback(tx, job, number, actor=actor, is_dead=is_dead, version=version),
        )

    def foretell_rollback(self, job: int, number: int, *, is_dead: IsDead) -> RolledBack:
        return self._foretold(lambda tx: rollback.rollback(tx, job, number, actor="", is_dead=is_dead, version=None))

    def exclusions(self, job: int) -> list[Exclusion]:
        return self._read(lambda tx: exclude.exclusions(tx, job))

    def label(self, job: int, targets: Sequence[int], word: str | None, *, actor: str) -> int:
        return self._write("label", lambda tx: label.label(tx, job, targets, word, actor=actor))

    # Work

    def lease(self, job: int, owner: Owner, *, life_s: float, want: int, is_dead: IsDead) -> tuple[Lease, ...]:
        return self._write("lease", lambda tx: leases.lease(tx, job, owner, life_s=life_s, want=want, is_dead=is_dead))

    def renew(self, held: Sequence[Lease], *, life_s: float, active_ms: int) -> tuple[Lease, ...]:
        return self._write("renew", lambda tx: leases.renew(tx, held, life_s=life_s, active_ms=active_ms))

    def release(self, held: Sequence[Lease]) -> None:
        self._write("release", lambda tx: leases.release(tx, held))

    def rescue(self, job: int, *, is_dead: IsDead) -> Rescued:
        return self._write("rescue", lambda tx: leases.rescue(tx, job, is_dead=is_dead))

    def held(self, held: Sequence[Lease]) -> Holding:
        return self._write("held", lambda tx: leases.held(tx, held))

    def settle(
        self,
        job: int,
        batches: Sequence[Batch],
        wish: Wish | None = None,
        checkpoint: str | None = None,
        per_host_max: int = 0,
    ) -> Settled:
        verb = "settle" if batches else "claim"
        return self._write(verb, lambda tx: settle.settle(tx, job, batches, wish, checkpoint, per_host_max))

    def enqueue(self, job: int, batch: PlanBatch) -> Lease:
        return self._write("enqueue", lambda tx: settle.enqueue(tx, job, batch))

    def acknowledge(self, job: int, *, is_dead: IsDead) -> Job | None:
        return self._write("acknowledge", lambda tx: leases.acknowledge(tx, job, is_dead=is_dead))

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
        return self._write("advance", lambda tx: advance.advance(tx, job, lease, phases, plan_failed, pages_max, stale))

    # Hosts

    def turn(
        self,
        host: str,
        claimed: Claimed | None,
        *,
        ticket: str,
        delay_ms: int,
        per_host: int,
        patience_ms: int,
    ) -> Turn:
        return self._write(
            "turn",
            lambda tx: hosts.turn(
                tx,
                host,
                claimed,
                ticket=ticket,
                delay_ms=delay_ms,
                per_host=per_host,
                patience_ms=patience_ms,
            ),
        )

    def leave(self, ticket: str, visited: Visited = UNTOLD) -> None:
        self._write("leave", lambda tx: hosts.leave(tx, ticket, visited))

    def tell(self, host: str, visited: Visited) -> None:
        self._write("tell", lambda tx: hosts.tell(tx, host, visited))

    def robots(self, origin: str, agent: str, claimed: Claimed, *, insist: bool = False) -> RobotsAnswer:
        return self._write("robots", lambda tx: hosts.robots(tx, origin, agent, claimed, insist=insist))

    def keep_robots(self, origin: str, host: str, agent: str, kept: KeptRobots | None) -> None:
        self._write("keep_robots", lambda tx: hosts.keep_robots(tx, origin, host, agent, kept))

    def limit_host(
        self, host: str, *, delay_ms: int | None = None, concurrency: int | None = None, actor: str, because: str
    ) -> HostLook:
        pace = {"delay_ms": delay_ms, "concurrency": concurrency}
        return self._write("limit_host", lambda tx: hosts.limit_host(tx, host, **pace, actor=actor, because=because))

    def configure_host(self, host: str, *, delay_ms: int | None = None, concurrency: int | None = None) -> HostLook:
        return self._write(
            "configure_host", lambda tx: hosts.configure_host(tx, host, delay_ms=delay_ms, concurrency=concurrency)
        )

    def hosts(self, *, host: str | None = None, after: str = "", limit: int = 500) -> list[HostLook]:
        return self._read(lambda tx: hosts.hosts(tx, host=host, after=after, limit=limit))

    # Views

    def salt(self) -> bytes:
        row = self._read(lambda tx: one(tx, "SELECT salt FROM ledger"))
        assert row is not None
        return bytes(row[0])

    def damage(self) -> list[str]:
        return self._store.damage()

    def job(self, reference: int | str, *, owner: str | None = None) -> Job:
        return self._read(lambda tx: jobs_reads.find_job(tx, reference, owner))

    def jobs(
        self, *, owner: str | None = None, where: JobFilter = ANY_JOB, after: int = 0, limit: int | None = None
    ) -> list[Job]:
        return self._read(lambda tx: jobs_reads.list_jobs(tx, owner, where, after, limit))

    def books(self, job: int) -> tuple[Job, Counts, Checkpoint | None]:
        return self._read(lambda tx: jobs_reads.books(tx, job))

    def holders(self, job: int) -> list[Holder]:
        return self._read(lambda tx: leases.holders(tx, job))

    def plan(self, job: int) -> tuple[int, bool, bytes]:
        return self._read(lambda tx: jobs_reads.plan(tx, job))

    def mode(self, job: int) -> str:
        return self._read(lambda tx: jobs_reads.mode(tx, job))

    def targets(
        self, job: int, *, where: Sequence[tuple[str, bool, tuple[str, ...]]] = (), after: int = 0, limit: int = 500
    ) -> list[TargetRow]:
        return self._read(lambda tx: targets_reads.targets(tx, job, where, after, limit))

    def pages(self, job: int, *, after: int = 0, limit: int = 500) -> list[PageRow]:
        return self._read(lambda tx: targets_reads.pages(tx, job, after, limit))

    def results(
        self,
        job: int,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        after: tuple[int, int] = (0, -1),
        limit: int = 500,
    ) -> list[PageRow]:
        return self._read(lambda tx: targets_reads.results(tx, job, where, after, limit))

    def fresh(
        self,
        job: int,
        mark: Bookmark,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        limit: int = 500,
    ) -> tuple[list[Fresh], Bookmark]:
        return self._read(lambda tx: streams.fresh(tx, job, mark, where, limit))

    def ended(self, job: int, mark: Bookmark, *, limit: int = 500) -> tuple[list[EndedTarget], Bookmark]:
        return self._read(lambda tx: streams.ended(tx, job, mark, limit))

    def everything(self, job: int) -> Bookmark:
        return self._read(lambda tx: streams.everything(tx, job))

    def bookmark(self, job: int, consumer: str) -> Bookmark:
        return self._read(lambda tx: streams.bookmark(tx, job, consumer))

    def history(self, job: int, *, target: int | None = None) -> tuple[list[Event], list[AttemptRow]]:
        return self._read(lambda tx: targets_reads.history(tx, job, target))

    # Looks

    def find(self, job: int, key: bytes) -> TargetRow | None:
        return self._read(lambda tx: targets_reads.find_target(tx, job, key))

    def attempts(self, target: int) -> list[AttemptRow]:
        return self._read(lambda tx: targets_reads.attempts(tx, target))

    def failures(self, job: int, *, limit: int = 1000) -> list[Failures]:
        return self._read(lambda tx: failures.failures(tx, job, limit))

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
        wanted = events.EventFilter(job, since, tuple(kinds), tuple(without), after, limit, newest, beyond)
        return self._read(lambda tx: events.events(tx, wanted))

    def checkpoints(self, job: int, *, before: int | None = None, limit: int = 500) -> list[CheckpointRow]:
        return self._read(lambda tx: as_of.checkpoints(tx, job, before, limit))

    def as_of(
        self, job: int, commits: Mapping[str, int], *, settled: bool, after: int = 0, limit: int = 500
    ) -> list[ListedTarget]:
        return self._read(lambda tx: as_of.as_of(tx, job, commits, settled, after, limit))

    def links_out(
        self, job: int, commits: Mapping[str, int], *, after: bytes = b"", limit: int = 500
    ) -> list[tuple[bytes, str]]:
        return self._read(lambda tx: as_of.links_out(tx, job, commits, after, limit))

    def generations(
        self,
        job: int,
        kind: str,
        *,
        commits: Mapping[str, int] | None = None,
        after: tuple[int, int, int] = (0, 0, -1),
        limit: int = 500,
    ) -> list[Generation]:
        return self._read(lambda tx: as_of.generations(tx, job, kind, commits, after, limit))

    def pulse(self, job: int) -> int:
        return self._read(lambda tx: events.pulse(tx, job))

    def artifacts(self, job: int, *, after: tuple[int, int] = (0, -1), limit: int = 500) -> list[ArtifactRow]:
        return self._read(lambda tx: artifacts.artifacts(tx, job, after, limit))

    def with_hash(self, sha256: bytes, *, job: int | None = None, limit: int = 10) -> list[ArtifactRow]:
        return self._read(lambda tx: artifacts.with_hash(tx, sha256, job, limit))

    # Surveys

    def hosts_waiting(self, job: int, *, host: str | None = None, limit: int = 1000) -> list[HostWait]:
        return self._read(lambda tx: frontier.hosts_waiting(tx, job, host, limit))

    def pending_by(self, job: int, column: str, *, limit: int = 100_000) -> list[tuple[str, int]]:
        return self._read(lambda tx: frontier.pending_by(tx, job, column, limit))

    def upcoming(self, job: int, *, limit: int = 20) -> list[Upcoming]:
        return self._read(lambda tx: frontier.upcoming(tx, job, limit))

    def breakdown(self, job: int, by: str) -> list[tuple[str | None, str, int]]:
        return self._read(lambda tx: surveys.breakdown(tx, job, by))

    def details(
        self,
        job: int,
        *,
        commits: Mapping[str, int] | None = None,
        params_of: Sequence[str] | None = None,
        records_of: Sequence[str] | None = None,
    ) -> list[Detail]:
        return self._read(lambda tx: details.details(tx, job, commits, params_of, records_of))

    def link_out(self, job: int, key: bytes) -> int | None:
        return self._read(lambda tx: surveys.link_out(tx, job, key))

    def cut_short(self, job: int, *, limit: int = 10) -> list[tuple[int, bytes]]:
        return self._read(lambda tx: surveys.cut_short(tx, job, limit))

    def robots_text(self, origin: str) -> bytes | None:
        return self._read(lambda tx: surveys.robots_text(tx, origin))

    def open_chunks(self, job: int) -> list[tuple[int, int]]:
        return self._read(lambda tx: surveys.open_chunks(tx, job))

    def chunk_names(self, job: int) -> dict[int, str]:
        return self._read(lambda tx: surveys.chunk_names(tx, job))

    def runs(self, job: int) -> list[RunLook]:
        return self._read(lambda tx: surveys.runs(tx, job))

    def changes(
        self, job: int, first: RunLook, second: RunLook, *, after: int = 0, limit: int = 500
    ) -> tuple[list[Change], int | None]:
        return self._read(lambda tx: surveys.changes(tx, job, first, second, after, limit))

    # Copies

    def shapes(self) -> tuple[Shape, ...]:
        return self._read(portable.shapes)

    def standing(self, job: int) -> Standing:
        return self._read(lambda tx: portable.standing(tx, job))

    def copy_out(
        self, job: int, shape: Shape, *, after: tuple[object, ...] = (), limit: int = 1000
    ) -> tuple[list[tuple[Any, ...]], tuple[object, ...] | None]:
        return self._read(lambda tx: portable.copy_out(tx, job, shape, after, limit))

    def copy_in(self, arrival: Arrival, slices: Iterator[Slice], *, is_dead: IsDead, judge: Judge) -> Job:
        with self._store.reserved(arrival.ids) as reserved:
            return self._write("restore", lambda tx: copy_in.copy_in(tx, arrival, slices, reserved, is_dead, judge))

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._read(lambda tx: tx.rows(sql, parameters))

    def close(self) -> None:
        self._store.close()

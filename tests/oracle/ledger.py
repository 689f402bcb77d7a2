"""The ledger in memory: the readable model that the SQL ledgers are compared with. It keeps nothing on a disk.

Several ledgers may share one store, as connections share a database. Each call is one transaction: it sees committed
rows, works on a draft of them, and publishes the draft at its end or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from msgspec.structs import replace as replaced

from holdfast import faults
from holdfast.clock import Clock
from holdfast.errors import Refused
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
from oracle import artifacts, exclude, hosts, jobs, label, looks, reads, reopen, rollback, settle, streams, surveys
from oracle import leases as leases_oracle
from oracle.state import MemoryStore, Moment, Tables

T = TypeVar("T")

__all__ = ["MemoryLedger", "MemoryStore"]

NOT_PORTABLE = "a ledger in memory ends with its process; its jobs have no portable form"


class MemoryLedger:
    """Jobs, Work, Hosts and Views (see ports.py) over a store that lives as long as the process."""

    def __init__(self, store: MemoryStore, clock: Clock, boot: str) -> None:
        self._store, self._clock, self._boot = store, clock, boot

    def _moment(self) -> Moment:
        return Moment(self._clock.wall_ms(), self._clock.monotonic_ms(), self._boot)

    def _write(self, verb: str, body: Callable[[Tables], T]) -> T:
        with self._store.lock:
            draft = self._store.tables.draft(self._moment())
            answer = body(draft)
            _pass(f"{verb}.before_commit")
            self._store.tables = draft
        _pass(f"{verb}.after_commit")
        return answer

    def _foretold(self, body: Callable[[Tables], T]) -> T:
        """What a verb would answer; its draft is thrown away."""
        with self._store.lock:
            return body(self._store.tables.draft(self._moment()))

    def _read(self, body: Callable[[Tables], T]) -> T:
        with self._store.lock:
            return body(replace(self._store.tables, at=self._moment()))

    # Jobs

    def submit(self, spec: JobSpec) -> tuple[Job, bool]:
        return self._write("submit", lambda tables: jobs.submit(tables, spec))

    def set_aside(self, known: Job) -> tuple[Job, bool]:
        return self._write("set_aside", lambda tables: jobs.set_aside(tables, known))

    def move(self, job: int, verb: str, *, actor: str, because: str, version: int | None = None) -> Job:
        return self._write(
            "move",
            lambda tables: jobs.move_job(tables, job, verb, actor=actor, because=because, version=version),
        )

    def request(self, job: int, action: str, *, actor: str, because: str, paused_by: str = "user") -> Job:
        return self._write(
            "pause",
            lambda tables: jobs.request(tables, job, action, actor=actor, because=because, paused_by=paused_by),
        )

    def amend(
        self,
        known: Job,
        *,
        options: Options | None = None,
        actor: str,
        because: str,
    ) -> Job:
        return self._write(
            "amend", lambda tables: jobs.amend(tables, known, options, None, actor=actor, because=because)
        )

    def open_run(self, job: int, *, mode: str, trigger: str) -> int:
        return self._write("open_run", lambda tables: jobs.open_run(tables, job, mode, trigger))

    def cancel_rest(self, job: int, limit: int = 1000) -> int:
        return self._write("cancel_rest", lambda tables: jobs.cancel_rest(tables, job, limit))

    def save_bookmark(self, job: int, consumer: str, mark: Bookmark) -> Bookmark:
        return self._write("save_bookmark", lambda tables: streams.save_bookmark(tables, job, consumer, mark))

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
            lambda tables: reopen.reopen(
                tables, job, verb, where=where, mode=mode, actor=actor, because=because, version=version
            ),
        )

    def walk(self, job: int, *, verb: str | None = None, limit: int = 1000) -> Walked:
        return self._write("walk", lambda tables: reopen.walk(tables, job, verb, limit))

    def walking(self, job: int, verb: str | None = None) -> str | None:
        return self._read(lambda tables: reopen.walking(tables, job, verb))

    def exclude(self, job: int, pattern: str, *, syntax: str = "glob", this_run: bool = False, actor: str) -> Exclusion:
        return self._write(
            "exclude",
            lambda tables: exclude.exclude(tables, job, pattern, syntax, this_run=this_run, actor=actor),
        )

    def sweep(self, job: int, n: int, *, after: Place = (), limit: int = 1000) -> Swept:
        return self._write("sweep", lambda tables: exclude.sweep(tables, job, n, after, limit))

    def include(self, job: int, n: int, *, actor: str) -> Exclusion:
        return self._write("include", lambda tables: exclude.include(tables, job, n, actor=actor))

    def rescope(
        self, known: Job, params: dict[str, Any], *, actor: str, because: str, grown: Grown | None = None
    ) -> Job:
        return self._write(
            "rescope", lambda tables: jobs.rescope(tables, known, params, grown, actor=actor, because=because)
        )

    def repair(self, job: int, targets: Sequence[int], *, actor: str, because: str) -> int:
        return self._write("mend", lambda tables: reopen.repair(tables, job, targets, actor=actor, because=because))

    def rollback(self, job: int, number: int, *, actor: str, is_dead: IsDead, version: int | None = None) -> RolledBack:
        return self._write(
            "rollback",
            lambda tables: rollback.rollback(tables, job, number, actor=actor, is_dead=is_dead, version=version),
        )

    def foretell_rollback(self, job: int, number: int, *, is_dead: IsDead) -> RolledBack:
        return self._foretold(
            lambda tables: rollback.rollback(tables, job, number, actor="", is_dead=is_dead, version=None)
        )

    def exclusions(self, job: int) -> list[Exclusion]:
        return self._read(lambda tables: exclude.exclusions(tables, job))

    def label(self, job: int, targets: Sequence[int], word: str | None, *, actor: str) -> int:
        return self._write("label", lambda tables: label.label(tables, job, targets, word, actor=actor))

    # Work

    def lease(self, job: int, owner: Owner, *, life_s: float, want: int, is_dead: IsDead) -> tuple[Lease, ...]:
        return self._write(
            "lease",
            lambda tables: leases_oracle.lease(tables, job, owner, life_s=life_s, want=want, is_dead=is_dead),
        )

    def renew(self, leases: Sequence[Lease], *, life_s: float, active_ms: int) -> tuple[Lease, ...]:
        return self._write(
            "renew", lambda tables: leases_oracle.renew(tables, leases, life_s=life_s, active_ms=active_ms)
        )

    def release(self, leases: Sequence[Lease]) -> None:
        self._write("release", lambda tables: leases_oracle.release(tables, leases))

    def rescue(self, job: int, *, is_dead: IsDead) -> Rescued:
        return self._write("rescue", lambda tables: leases_oracle.rescue(tables, job, is_dead=is_dead))

    def held(self, leases: Sequence[Lease]) -> Holding:
        return self._read(lambda tables: leases_oracle.held(tables, leases))

    def settle(
        self,
        job: int,
        batches: Sequence[Batch],
        wish: Wish | None = None,
        checkpoint: str | None = None,
        per_host_max: int = 0,
    ) -> Settled:
        verb = "settle" if batches else "claim"
        return self._write(verb, lambda tables: settle.settle(tables, job, batches, wish, checkpoint, per_host_max))

    def enqueue(self, job: int, batch: PlanBatch) -> Lease:
        return self._write("enqueue", lambda tables: settle.enqueue(tables, job, batch))

    def acknowledge(self, job: int, *, is_dead: IsDead) -> Job | None:
        return self._write("acknowledge", lambda tables: leases_oracle.acknowledge(tables, job, is_dead=is_dead))

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
        return self._write(
            "advance", lambda tables: jobs.advance(tables, job, lease, phases, plan_failed, pages_max, stale)
        )

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
            lambda tables: hosts.turn(
                tables,
                host,
                claimed,
                ticket=ticket,
                delay_ms=delay_ms,
                per_host=per_host,
                patience_ms=patience_ms,
            ),
        )

    def leave(self, ticket: str, visited: Visited = UNTOLD) -> None:
        self._write("leave", lambda tables: hosts.leave(tables, ticket, visited))

    def tell(self, host: str, visited: Visited) -> None:
        self._write("tell", lambda tables: hosts.tell(tables, host, visited))

    def robots(self, origin: str, agent: str, claimed: Claimed, *, insist: bool = False) -> RobotsAnswer:
        return self._write("robots", lambda tables: hosts.robots(tables, origin, agent, claimed, insist=insist))

    def keep_robots(self, origin: str, host: str, agent: str, kept: KeptRobots | None) -> None:
        self._write("keep_robots", lambda tables: hosts.keep_robots(tables, origin, host, agent, kept))

    def limit_host(
        self, host: str, *, delay_ms: int | None = None, concurrency: int | None = None, actor: str, because: str
    ) -> HostLook:
        pace = {"delay_ms": delay_ms, "concurrency": concurrency}
        return self._write(
            "limit_host",
            lambda tables: hosts.limit_host(tables, host, **pace, actor=actor, because=because),
        )

    def configure_host(self, host: str, *, delay_ms: int | None = None, concurrency: int | None = None) -> HostLook:
        return self._write(
            "configure_host",
            lambda tables: hosts.configure_host(tables, host, delay_ms=delay_ms, concurrency=concurrency),
        )

    def hosts(self, *, host: str | None = None, after: str = "", limit: int = 500) -> list[HostLook]:
        return self._read(lambda tables: hosts.hosts(tables, host=host, after=after, limit=limit))

    # Views

    def damage(self) -> list[str]:
        return []

    def salt(self) -> bytes:
        return self._read(lambda tables: tables.salt)

    def job(self, reference: int | str, *, owner: str | None = None) -> Job:
        return self._read(lambda tables: reads.find_job(tables, reference, owner))

    def jobs(
        self, *, owner: str | None = None, where: JobFilter = ANY_JOB, after: int = 0, limit: int | None = None
    ) -> list[Job]:
        return self._read(lambda tables: reads.list_jobs(tables, owner, where, after, limit))

    def books(self, job: int) -> tuple[Job, Counts, Checkpoint | None]:
        return self._read(lambda tables: reads.books(tables, job))

    def holders(self, job: int) -> list[Holder]:
        return self._read(lambda tables: leases_oracle.holders(tables, job))

    def plan(self, job: int) -> tuple[int, bool, bytes]:
        return self._read(lambda tables: reads.plan(tables, job))

    def mode(self, job: int) -> str:
        return self._read(lambda tables: reads.mode(tables, job))

    def targets(
        self, job: int, *, where: Sequence[tuple[str, bool, tuple[str, ...]]] = (), after: int = 0, limit: int = 500
    ) -> list[TargetRow]:
        return self._read(lambda tables: reads.targets(tables, job, where, after, limit))

    def pages(self, job: int, *, after: int = 0, limit: int = 500) -> list[PageRow]:
        return self._read(lambda tables: reads.pages(tables, job, after, limit))

    def results(
        self,
        job: int,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        after: tuple[int, int] = (0, -1),
        limit: int = 500,
    ) -> list[PageRow]:
        return self._read(lambda tables: reads.results(tables, job, where, after, limit))

    def fresh(
        self,
        job: int,
        mark: Bookmark,
        *,
        where: Sequence[tuple[str, bool, tuple[str, ...]]] = (),
        limit: int = 500,
    ) -> tuple[list[Fresh], Bookmark]:
        return self._read(lambda tables: streams.fresh(tables, job, mark, where, limit))

    def ended(self, job: int, mark: Bookmark, *, limit: int = 500) -> tuple[list[EndedTarget], Bookmark]:
        return self._read(lambda tables: streams.ended(tables, job, mark, limit))

    def everything(self, job: int) -> Bookmark:
        return self._read(lambda tables: streams.everything(tables, job))

    def bookmark(self, job: int, consumer: str) -> Bookmark:
        return self._read(lambda tables: streams.bookmark(tables, job, consumer))

    def history(self, job: int, *, target: int | None = None) -> tuple[list[Event], list[AttemptRow]]:
        return self._read(lambda tables: reads.history(tables, job, target))

    # Looks

    def find(self, job: int, key: bytes) -> TargetRow | None:
        return self._read(lambda tables: looks.find_target(tables, job, key))

    def attempts(self, target: int) -> list[AttemptRow]:
        return self._read(lambda tables: [row for row in tables.attempts.values() if row.target == target])

    def failures(self, job: int, *, limit: int = 1000) -> list[Failures]:
        return self._read(lambda tables: looks.failures(tables, job)[:limit])

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
        rows = self._read(lambda tables: looks.events(tables, job))
        rows = [row for row in rows if row.seq > beyond.get(row.chunk, -1)]
        rows = [row for row in rows if row.at >= since and (not kinds or (row.thing, row.verb) in kinds)]
        rows = [row for row in rows if (row.thing, row.verb) not in without and (after is None or row.place > after)]
        return rows[-limit:] if newest else rows[:limit]

    def checkpoints(self, job: int, *, before: int | None = None, limit: int = 500) -> list[CheckpointRow]:
        return self._read(lambda tables: looks.checkpoints(tables, job, before)[:limit])

    def as_of(
        self, job: int, commits: Mapping[str, int], *, settled: bool, after: int = 0, limit: int = 500
    ) -> list[ListedTarget]:
        rows = self._read(lambda tables: looks.as_of(tables, job, commits, settled))
        return [row for row in rows if row.id > after][:limit]

    def links_out(
        self, job: int, commits: Mapping[str, int], *, after: bytes = b"", limit: int = 500
    ) -> list[tuple[bytes, str]]:
        rows = self._read(lambda tables: looks.links_out(tables, job, commits))
        return [row for row in rows if row[0] > after][:limit]

    def generations(
        self,
        job: int,
        kind: str,
        *,
        commits: Mapping[str, int] | None = None,
        after: tuple[int, int, int] = (0, 0, -1),
        limit: int = 500,
    ) -> list[Generation]:
        rows = self._read(lambda tables: looks.generations(tables, job, kind, commits))
        return [row for row in rows if (row.target, row.generation, row.n) > after][:limit]

    def pulse(self, job: int) -> int:
        return self._read(lambda tables: looks.pulse(tables, job))

    def artifacts(self, job: int, *, after: tuple[int, int] = (0, -1), limit: int = 500) -> list[ArtifactRow]:
        return self._read(lambda tables: artifacts.artifacts(tables, job, after)[:limit])

    def with_hash(self, sha256: bytes, *, job: int | None = None, limit: int = 10) -> list[ArtifactRow]:
        return self._read(lambda tables: artifacts.with_hash(tables, sha256, job)[:limit])

    # Surveys

    def hosts_waiting(self, job: int, *, host: str | None = None, limit: int = 1000) -> list[HostWait]:
        return self._read(lambda tables: surveys.hosts_waiting(tables, job, host, limit))

    def pending_by(self, job: int, column: str, *, limit: int = 100_000) -> list[tuple[str, int]]:
        return self._read(lambda tables: surveys.pending_by(tables, job, column, limit))

    def upcoming(self, job: int, *, limit: int = 20) -> list[Upcoming]:
        return self._read(lambda tables: surveys.upcoming(tables, job, limit))

    def details(
        self,
        job: int,
        *,
        commits: Mapping[str, int] | None = None,
        params_of: Sequence[str] | None = None,
        records_of: Sequence[str] | None = None,
    ) -> list[Detail]:
        rows = self._read(lambda tables: looks.details(tables, job, commits))
        rows = [row if params_of is None or row.type in params_of else replaced(row, params="") for row in rows]
        return [row if records_of is None or row.type in records_of else replaced(row, record=b"") for row in rows]

    def breakdown(self, job: int, by: str) -> list[tuple[str | None, str, int]]:
        return self._read(lambda tables: surveys.breakdown(tables, job, by))

    def link_out(self, job: int, key: bytes) -> int | None:
        return self._read(lambda tables: surveys.link_out(tables, job, key))

    def cut_short(self, job: int, *, limit: int = 10) -> list[tuple[int, bytes]]:
        return self._read(lambda tables: surveys.cut_short(tables, job)[:limit])

    def robots_text(self, origin: str) -> bytes | None:
        return self._read(lambda tables: surveys.robots_text(tables, origin))

    def open_chunks(self, job: int) -> list[tuple[int, int]]:
        return self._read(lambda tables: surveys.open_chunks(tables, job))

    def chunk_names(self, job: int) -> dict[int, str]:
        return self._read(lambda tables: surveys.chunk_names(tables, job))

    def runs(self, job: int) -> list[RunLook]:
        return self._read(lambda tables: surveys.runs(tables, job))

    def changes(
        self, job: int, first: RunLook, second: RunLook, *, after: int = 0, limit: int = 500
    ) -> tuple[list[Change], int | None]:
        return self._read(lambda tables: surveys.changes(tables, job, first, second, after, limit))

    def shapes(self) -> tuple[Shape, ...]:
        raise Refused(NOT_PORTABLE)

    def standing(self, job: int) -> Standing:
        raise Refused(NOT_PORTABLE)

    def copy_out(
        self, job: int, shape: Shape, *, after: tuple[object, ...] = (), limit: int = 1000
    ) -> tuple[list[tuple[Any, ...]], tuple[object, ...] | None]:
        raise Refused(NOT_PORTABLE)

    def copy_in(self, arrival: Arrival, slices: Iterator[Slice], *, is_dead: IsDead, judge: Judge) -> Job:
        raise Refused(NOT_PORTABLE)

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        raise Refused("a ledger in memory has no SQL to be asked in")

    def close(self) -> None:
        """Nothing to let go of: the store outlives its connections."""


def _pass(name: str) -> None:
    if name in faults.EVERY_POINT:
        faults.point(name)

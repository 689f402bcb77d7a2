"""The ledger in memory: the readable model that the SQL ledgers are compared with. It keeps nothing on a disk.

Several ledgers may share one store, as connections share a database. Each call is one transaction: it sees committed
rows, works on a draft of them, and publishes the draft at its end or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from holdfast import faults
from holdfast.clock import Clock
from holdfast.errors import Refused
from holdfast.ledger import memory_jobs, memory_leases, memory_settle, memory_views
from holdfast.ledger.memory_state import MemoryStore, Moment, Tables
from holdfast.model.claim import Holding, Settled, Wish
from holdfast.model.job import Counts, Job, JobSpec, Options
from holdfast.model.lease import Holder, Lease, Owner, Rescued
from holdfast.model.outcome import Batch, PlanBatch
from holdfast.model.record import Checkpoint, Event
from holdfast.model.target import AttemptRow, PageRow, TargetRow
from holdfast.ports import IsDead

T = TypeVar("T")

__all__ = ["MemoryLedger", "MemoryStore"]


class MemoryLedger:
    """Jobs, Work and Views (see ports.py) over a store that lives as long as the process."""

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

    def _read(self, body: Callable[[Tables], T]) -> T:
        with self._store.lock:
            return body(replace(self._store.tables, at=self._moment()))

    # Jobs

    def submit(self, spec: JobSpec) -> tuple[Job, bool]:
        return self._write("submit", lambda tables: memory_jobs.submit(tables, spec))

    def set_aside(self, job: int) -> Job:
        return self._write("set_aside", lambda tables: memory_jobs.set_aside(tables, job))

    def move(self, job: int, verb: str, *, actor: str, because: str, version: int | None = None) -> Job:
        return self._write(
            "move",
            lambda tables: memory_jobs.move_job(tables, job, verb, actor=actor, because=because, version=version),
        )

    def request(self, job: int, action: str, *, actor: str, because: str, paused_by: str = "user") -> Job:
        return self._write(
            "pause",
            lambda tables: memory_jobs.request(tables, job, action, actor=actor, because=because, paused_by=paused_by),
        )

    def amend(self, job: int, options: Options, *, actor: str, because: str) -> Job:
        return self._write(
            "amend", lambda tables: memory_jobs.amend(tables, job, options, actor=actor, because=because)
        )

    def open_run(self, job: int, *, mode: str, trigger: str) -> int:
        return self._write("open_run", lambda tables: memory_jobs.open_run(tables, job, mode, trigger))

    def cancel_rest(self, job: int, limit: int = 1000) -> int:
        return self._write("cancel_rest", lambda tables: memory_jobs.cancel_rest(tables, job, limit))

    # Work

    def lease(self, job: int, owner: Owner, *, life_s: float, want: int, is_dead: IsDead) -> tuple[Lease, ...]:
        return self._write(
            "lease",
            lambda tables: memory_leases.lease(tables, job, owner, life_s=life_s, want=want, is_dead=is_dead),
        )

    def renew(self, leases: Sequence[Lease], *, life_s: float, active_ms: int) -> tuple[Lease, ...]:
        return self._write(
            "renew", lambda tables: memory_leases.renew(tables, leases, life_s=life_s, active_ms=active_ms)
        )

    def release(self, leases: Sequence[Lease]) -> None:
        self._write("release", lambda tables: memory_leases.release(tables, leases))

    def rescue(self, job: int, *, is_dead: IsDead) -> Rescued:
        return self._write("rescue", lambda tables: memory_leases.rescue(tables, job, is_dead=is_dead))

    def held(self, leases: Sequence[Lease]) -> Holding:
        return self._read(lambda tables: memory_leases.held(tables, leases))

    def settle(
        self, job: int, batches: Sequence[Batch], wish: Wish | None = None, checkpoint: str | None = None
    ) -> Settled:
        verb = "settle" if batches else "claim"
        return self._write(verb, lambda tables: memory_settle.settle(tables, job, batches, wish, checkpoint))

    def enqueue(self, job: int, batch: PlanBatch) -> Lease:
        return self._write("enqueue", lambda tables: memory_settle.enqueue(tables, job, batch))

    def acknowledge(self, job: int, *, is_dead: IsDead) -> Job | None:
        return self._write("acknowledge", lambda tables: memory_leases.acknowledge(tables, job, is_dead=is_dead))

    def finish(self, job: int, lease: Lease) -> Job | None:
        return self._write("finish", lambda tables: memory_jobs.finish(tables, job, lease))

    # Views

    def damage(self) -> list[str]:
        return []

    def salt(self) -> bytes:
        return self._read(lambda tables: tables.salt)

    def job(self, reference: str) -> Job:
        return self._read(lambda tables: memory_views.find_job(tables, reference))

    def jobs(self) -> list[Job]:
        return self._read(lambda tables: list(tables.jobs.values()))

    def books(self, job: int) -> tuple[Job, Counts, Checkpoint | None]:
        return self._read(lambda tables: memory_views.books(tables, job))

    def holders(self, job: int) -> list[Holder]:
        return self._read(lambda tables: memory_leases.holders(tables, job))

    def plan(self, job: int) -> tuple[int, bool]:
        return self._read(lambda tables: memory_views.plan(tables, job))

    def targets(
        self, job: int, *, where: Sequence[tuple[str, bool, tuple[str, ...]]] = (), after: int = 0, limit: int = 500
    ) -> list[TargetRow]:
        return self._read(lambda tables: memory_views.targets(tables, job, where, after, limit))

    def pages(self, job: int, *, after: int = 0, limit: int = 500) -> list[PageRow]:
        return self._read(lambda tables: memory_views.pages(tables, job, after, limit))

    def history(self, job: int, *, target: int | None = None) -> tuple[list[Event], list[AttemptRow]]:
        return self._read(lambda tables: memory_views.history(tables, job, target))

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        raise Refused("a ledger in memory has no SQL to be asked in")

    def close(self) -> None:
        """Nothing to let go of: the store outlives its connections."""


def _pass(name: str) -> None:
    if name in faults.POINTS:
        faults.point(name)

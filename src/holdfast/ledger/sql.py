"""The ledger over SQL: each verb is one transaction of a store. The verbs live beside; here they get their commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from holdfast.faults import POINTS, point
from holdfast.ledger import finishing, jobs, leases, settling, views
from holdfast.ledger.books import write_tallies
from holdfast.ledger.tx import Tx, one
from holdfast.model.claim import Holding, Settled, Wish
from holdfast.model.job import Counts, Job, JobSpec, Options
from holdfast.model.lease import Holder, Lease, Owner, Rescued
from holdfast.model.outcome import Batch, PlanBatch
from holdfast.model.record import Checkpoint, Event
from holdfast.model.target import AttemptRow, PageRow, TargetRow
from holdfast.ports import IsDead

T = TypeVar("T")


def _fault(name: str) -> None:
    if name in POINTS:
        point(name)


class Store(Protocol):
    """A connection of one engine. `write` commits when its body ends, rolls back when it raises."""

    def write(self) -> AbstractContextManager[Tx]: ...

    def read(self) -> AbstractContextManager[Tx]: ...

    def damage(self) -> list[str]: ...

    def close(self) -> None: ...


class SqlLedger:
    """Jobs, Work and Views (see ports.py) over one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def _write(self, verb: str, body: Callable[[Tx], T]) -> T:
        with self._store.write() as tx:
            answer = body(tx)
            write_tallies(tx)
            _fault(f"{verb}.before_commit")
        _fault(f"{verb}.after_commit")
        return answer

    def _read(self, body: Callable[[Tx], T]) -> T:
        with self._store.read() as tx:
            return body(tx)

    # Jobs

    def submit(self, spec: JobSpec) -> tuple[Job, bool]:
        return self._write("submit", lambda tx: jobs.submit(tx, spec))

    def set_aside(self, job: int) -> Job:
        return self._write("set_aside", lambda tx: jobs.set_aside(tx, job))

    def move(self, job: int, verb: str, *, actor: str, because: str, version: int | None = None) -> Job:
        return self._write(
            "move", lambda tx: jobs.move_job(tx, job, verb, actor=actor, because=because, version=version)
        )

    def request(self, job: int, action: str, *, actor: str, because: str, paused_by: str = "user") -> Job:
        return self._write(
            "pause", lambda tx: jobs.request(tx, job, action, actor=actor, because=because, paused_by=paused_by)
        )

    def amend(self, job: int, options: Options, *, actor: str, because: str) -> Job:
        return self._write("amend", lambda tx: jobs.amend(tx, job, options, actor=actor, because=because))

    def open_run(self, job: int, *, mode: str, trigger: str) -> int:
        return self._write("open_run", lambda tx: jobs.open_run(tx, job, mode, trigger))

    def cancel_rest(self, job: int, limit: int = 1000) -> int:
        return self._write("cancel_rest", lambda tx: jobs.cancel_rest(tx, job, limit))

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
        self, job: int, batches: Sequence[Batch], wish: Wish | None = None, checkpoint: str | None = None
    ) -> Settled:
        verb = "settle" if batches else "claim"
        return self._write(verb, lambda tx: settling.settle(tx, job, batches, wish, checkpoint))

    def enqueue(self, job: int, batch: PlanBatch) -> Lease:
        return self._write("enqueue", lambda tx: settling.enqueue(tx, job, batch))

    def acknowledge(self, job: int, *, is_dead: IsDead) -> Job | None:
        return self._write("acknowledge", lambda tx: leases.acknowledge(tx, job, is_dead=is_dead))

    def finish(self, job: int, lease: Lease) -> Job | None:
        return self._write("finish", lambda tx: finishing.finish(tx, job, lease))

    # Views

    def salt(self) -> bytes:
        row = self._read(lambda tx: one(tx, "SELECT salt FROM ledger"))
        assert row is not None
        return bytes(row[0])

    def damage(self) -> list[str]:
        return self._store.damage()

    def job(self, reference: str) -> Job:
        return self._read(lambda tx: views.find_job(tx, reference))

    def jobs(self) -> list[Job]:
        return self._read(views.all_jobs)

    def books(self, job: int) -> tuple[Job, Counts, Checkpoint | None]:
        return self._read(lambda tx: views.books(tx, job))

    def holders(self, job: int) -> list[Holder]:
        return self._read(lambda tx: leases.holders(tx, job))

    def plan(self, job: int) -> tuple[int, bool]:
        return self._read(lambda tx: views.plan(tx, job))

    def targets(
        self, job: int, *, where: Sequence[tuple[str, bool, tuple[str, ...]]] = (), after: int = 0, limit: int = 500
    ) -> list[TargetRow]:
        return self._read(lambda tx: views.targets(tx, job, where, after, limit))

    def pages(self, job: int, *, after: int = 0, limit: int = 500) -> list[PageRow]:
        return self._read(lambda tx: views.pages(tx, job, after, limit))

    def history(self, job: int, *, target: int | None = None) -> tuple[list[Event], list[AttemptRow]]:
        return self._read(lambda tx: views.history(tx, job, target))

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._read(lambda tx: tx.rows(sql, parameters))

    def close(self) -> None:
        self._store.close()

"""A ledger on the bench: one store, a clock that is moved by hand, owners that can die, and a check of its books.

The suite only speaks to this; which adapter lies underneath is the fixture's choice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from conformance.probes import MemoryProbe, Probe, SqlProbe
from conformance.worker import Worker
from holdfast.audit.verify import verify
from holdfast.clock import ManualClock
from holdfast.ledger.postgres import PostgresLedger
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.job import Job, JobSpec, Options
from holdfast.model.keys import seed_address
from holdfast.model.lease import Owner
from holdfast.model.states import COUNTED
from holdfast.model.target import External, Found, TargetRow
from holdfast.ports import Ledger
from holdfast.recipe import Context
from oracle.ledger import MemoryLedger
from oracle.state import MemoryStore

BOOT = "boot-1"
MARSH = "https://marsh.test"
PAGE_OF_ROWS = 200
KEPT_BY_THE_ENGINE = ("F1.page", "L4.limit")  # laws that a ledger is no judge of


class Bench:
    """`open` is another connection to the same store. `dead` are the owners that can be proven dead."""

    def __init__(self, connect: Callable[[str], Ledger], clock: ManualClock, *, boot_bound: bool) -> None:
        self._connect, self.clock, self.boot, self.boot_bound = connect, clock, BOOT, boot_bound
        self.dead: set[Owner] = set()
        self._opened: list[Ledger] = []
        self._pids = 100
        self.ledger = self.open()
        self.probe: Probe = SqlProbe(self.ledger)

    def open(self, boot: str | None = None) -> Ledger:
        ledger = self._connect(boot or self.boot)
        self._opened.append(ledger)
        return ledger

    def reopen(self) -> None:
        """Close the bench's own connection and open another one, as after a restart."""
        self._opened.remove(self.ledger)
        self.ledger.close()
        self.ledger = self.open()
        if isinstance(self.probe, SqlProbe):
            self.probe = SqlProbe(self.ledger)

    def close(self) -> None:
        for ledger in self._opened:
            ledger.close()

    # Making things

    def owner(self, boot: str | None = None) -> Owner:
        """A process that nobody else is."""
        self._pids += 1
        return Owner("marsh-host", boot or self.boot, "ns-1", self._pids, self._pids * 7)

    def is_dead(self, owner: Owner) -> bool:
        return owner in self.dead

    def submitted(self, name: str = "marsh", *, identity: str | None = None, owner: str = "") -> Job:
        job, _ = self.ledger.submit(self.spec(name, identity=identity, owner=owner))
        return job

    def spec(self, name: str = "marsh", *, identity: str | None = None, owner: str = "") -> JobSpec:
        params = {"seeds": [MARSH]}
        return JobSpec(
            recipe="site", name=name, identity=identity or name, params=params, options=Options(), owner=owner
        )

    def started(self, name: str = "marsh") -> Job:
        job = self.submitted(name)
        return self.ledger.move(job.id, "start", actor="user", because="asked for")

    def worker(self, job: int, *, ledger: Ledger | None = None, owner: Owner | None = None) -> Worker:
        """A worker with no lease yet, on a connection of its own unless one is given."""
        return Worker(ledger or self.open(), job, owner or self.owner(), self.is_dead)

    def working(self, pages: int = 3, name: str = "marsh", *, host: str = MARSH) -> Worker:
        """A started job with this many pages planned, and a worker that holds all of its chunks."""
        worker = self.worker(self.started(name).id)
        worker.lease()
        worker.enqueue(*self.found_pages(pages, host=host))
        return worker

    def found_pages(self, pages: int, *, host: str = MARSH) -> list[Found]:
        return [self.found(f"{host}/frog/{n}", rank=n) for n in range(1, pages + 1)]

    def found(self, url: str, *, depth: int = 0, index: int | None = None, **more: object) -> Found:
        """A found target, in the chunk of its host unless `index` says otherwise."""
        made = self._context().found(seed_address(url), depth=depth)
        changes = dict(more) if index is None else {**more, "chunk_index": index}
        return msgspec.structs.replace(made, **changes)

    def named(self, name: str, url: str, params: str = "") -> Found:
        """A found target that is known by its name."""
        return self._context().named(seed_address(url), type="case", name=name, params=params)

    def external(self, url: str) -> External:
        return self._context().external(seed_address(url))

    def _context(self) -> Context:
        return Context(params={}, salt=self.ledger.salt(), chunking="host")

    # Looking

    def job(self, job: int) -> Job:
        return self.ledger.books(job)[0]

    def counts(self, job: int) -> dict[str, int]:
        return self.ledger.books(job)[1].seven()

    def targets(self, job: int) -> list[TargetRow]:
        rows: list[TargetRow] = []
        while True:
            more = self.ledger.targets(job, after=rows[-1].id if rows else 0, limit=PAGE_OF_ROWS)
            if not more:
                return rows
            rows += more

    def target(self, job: int, url: str) -> TargetRow:
        [row] = [row for row in self.targets(job) if row.url == url]
        return row

    def verbs(self, job: int, chunk: int) -> list[str]:
        """The entries of one chunk by verb, in the order of their numbers."""
        return [entry.verb for entry in self.probe.entries(job) if entry.chunk == chunk]

    def events(self, job: int, thing: str = "job") -> list[tuple[str, str, str]]:
        return [(e.verb, e.source, e.target) for e in self.ledger.history(job)[0] if e.thing == thing]

    # The check that ends every case

    def check(self) -> None:
        for job in self.ledger.jobs():
            self._check_counts(job.id)
            self._check_entries(job.id)
            self._check_events(job.id)
            self._check_holds(job.id)
            self.verify(job.id, but=KEPT_BY_THE_ENGINE)

    def verify(self, job: int, *, but: Sequence[str] = ()) -> None:
        """`holdfast verify`, where there is SQL to ask in."""
        if isinstance(self.probe, SqlProbe):
            assert [str(each) for each in verify(self.ledger.query, job) if each.check not in but] == []

    def _check_counts(self, job: int) -> None:
        """L8 and L9: the books are a recount of the rows."""
        _, counts, point = self.ledger.books(job)
        rows = self.targets(job)
        recount = Counter(row.status for row in rows)
        assert counts.seven() == {"discovered": len(rows), **{status: recount[status] for status in COUNTED}}
        assert counts.discovered == sum(recount.values())
        assert counts.failed_by == _split(row.code for row in rows if row.status == "failed")
        assert counts.skipped_by == _split(row.disposition for row in rows if row.status == "skipped")
        by_type: dict[str, Counter[str]] = defaultdict(Counter)
        for row in rows:
            by_type[row.type][row.status] += 1
        assert {name: _some(parts) for name, parts in counts.by_type.items() if _some(parts)} == by_type
        assert point is None or point.is_valid()
        assert len({row.key for row in rows}) == len(rows)

    def _check_entries(self, job: int) -> None:
        """L5 and L6: the numbers of a chunk have no gaps, and its epochs never fall."""
        by_chunk = defaultdict(list)
        for entry in self.probe.entries(job):
            by_chunk[entry.chunk].append(entry)
        for entries in by_chunk.values():
            assert [entry.no for entry in entries] == list(range(1, len(entries) + 1))
            assert all(earlier.epoch <= later.epoch for earlier, later in pairwise(entries))

    def _check_events(self, job: int) -> None:
        """L7: each event begins where the one before it ended, and their numbers have no gaps."""
        by_chunk = defaultdict(list)
        for event in self.ledger.history(job)[0]:
            by_chunk[event.chunk].append(event)
        for events in by_chunk.values():
            events.sort(key=lambda event: event.seq)
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            for thing, first in (("job", ""), ("chunk", "idle")):
                chain = [event for event in events if event.thing == thing]
                assert [e.source for e in chain] == [first, *(e.target for e in chain)][: len(chain)]

    def _check_holds(self, job: int) -> None:
        """Every target in progress lies in a chunk that somebody holds."""
        held = {holder.chunk for holder in self.ledger.holders(job)}
        assert {row.chunk for row in self.targets(job) if row.status == "in_progress"} <= held


def _split(reasons: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(reason or "" for reason in reasons))


def _some(parts: dict[str, int]) -> dict[str, int]:
    return {status: n for status, n in parts.items() if n and status != "discovered"}


def memory_bench(clock: ManualClock, salt: bytes | None = None) -> Bench:
    """With the salt of another ledger its keys, and so the order of its ids, are the same."""
    store = MemoryStore(salt)
    bench = Bench(lambda boot: MemoryLedger(store, clock, boot), clock, boot_bound=True)
    bench.probe = MemoryProbe(store)
    return bench


def sqlite_bench(path: Path, clock: ManualClock) -> Bench:
    return Bench(lambda boot: SqliteLedger.open(path, clock, boot), clock, boot_bound=True)


def postgres_bench(url: str, clock: ManualClock) -> Bench:
    """The database outlives a reboot of one machine: only its clock ends a lease."""
    return Bench(lambda boot: PostgresLedger.open(url, clock, boot), clock, boot_bound=False)

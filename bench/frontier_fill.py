"""Fills a ledger with a big frontier through the verbs that a crawl uses: submit, lease, enqueue, claim, settle.

No row is written by SQL of our own. What is settled refers to one real body, so `verify` has nothing to complain of.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice

import msgspec

from bench.frontier_world import World
from holdfast import wiring
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.engine.liveness import is_dead, this_process
from holdfast.model.claim import Wish
from holdfast.model.job import WORK_CHUNKS, JobSpec, Options
from holdfast.model.keys import Address, canonical
from holdfast.model.lease import Lease
from holdfast.model.outcome import Batch, Body, BodyRef, PlanBatch, Record, Verdict
from holdfast.model.target import Claimed, Found
from holdfast.ports import Ledger
from holdfast.recipe import Context
from holdfast.recipes.site.step import PageRecord

NAME = "frontier"
LEASE_S = 6 * 3600.0
ENQUEUE_ROWS = 5_000
SETTLE_ROWS = 256  # as many as the engine ever settles at once
CHECKPOINT_EVERY = 20
TELL_EVERY_S = 10.0
FETCHED_DEPTH, LATER_DEPTH = 1, 2  # the pages that exist as files come first

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Filled:
    """How long the filling took, and what the job's books say afterwards."""

    enqueued: int
    enqueue_s: float
    settled: int
    settle_s: float
    counts: dict[str, int]

    @property
    def rows_per_s(self) -> float:
        return (self.enqueued + self.settled) / (self.enqueue_s + self.settle_s)


class Filler:
    """One job being filled, under leases of this process."""

    def __init__(self, settings: Settings, world: World, options: Options, tell: Tell) -> None:
        self._world, self._tell, self._told = world, tell, time.monotonic()
        self._settings = settings
        self._ledger: Ledger = wiring.open_ledger(settings)
        recipe = wiring.recipe_of("site")
        scope = "host" if world.hosts == 1 else "any"
        params = recipe.check({"seeds": [world.url(0)], "scope": scope})
        spec = JobSpec(
            recipe="site", name=NAME, identity=NAME, params=params, options=options, chunking=recipe.chunking(params)
        )
        self._job = self._ledger.submit(spec)[0]
        self._ledger.move(self._job.id, "start", actor="bench", because="filling")
        self._owner = this_process()
        held = self._ledger.lease(self._job.id, self._owner, life_s=LEASE_S, want=WORK_CHUNKS, is_dead=is_dead)
        self._ledger.open_run(self._job.id, mode="full", trigger="cli")
        self._leases = {lease.chunk: lease for lease in held}
        self._context = Context(params=params, salt=self._ledger.salt(), chunking=spec.chunking)
        self._cursor = self._settled = self._commits = 0
        self._enqueue_s = self._settle_s = 0.0

    def enqueue(self, numbers: Iterable[int], *, depth: int, known_only: bool = False, last: bool = False) -> None:
        """Plan these pages. `known_only`: recorded as skipped at once, so that they are known and never fetched."""
        began, source = time.monotonic(), iter(numbers)
        disposition, rule = ("excluded", "exclude") if known_only else ("", "")
        while part := list(islice(source, ENQUEUE_ROWS)):
            found = [
                self._context.found(self._address(number), depth=depth, disposition=disposition, rule=rule)
                for number in part
            ]
            self._send_plan(found, done=False)
            self._say(f"{self._cursor:,} enqueued")
        if last:
            self._send_plan([], done=True)
        self._enqueue_s += time.monotonic() - began

    def _address(self, number: int) -> Address:
        address = canonical(self._world.url(number))
        assert address is not None
        return address

    def _send_plan(self, found: Sequence[Found], *, done: bool) -> None:
        plan = next(lease for lease in self._leases.values() if lease.kind == "plan")
        batch = PlanBatch.freeze(
            chunk=plan.chunk, epoch=plan.epoch, no=plan.no + 1, cursor=self._cursor,
            next_cursor=self._cursor + len(found), done=done, found=tuple(found),
        )  # fmt: skip
        self._leases[plan.chunk] = self._ledger.enqueue(self._job.id, batch)
        self._cursor += len(found)

    def settle_all(self) -> None:
        """Claim and settle until nothing is pending: each page succeeds, with a body and a record."""
        began = time.monotonic()
        body = self._one_body()
        claimed: tuple[Claimed, ...] = self._commit([], None)
        while claimed:
            claimed = self._commit(self._batches(claimed, body), "targets")
            self._say(f"{self._settled:,} settled")
        self._settle_s += time.monotonic() - began

    def _commit(self, batches: list[Batch], reason: str | None) -> tuple[Claimed, ...]:
        work = tuple(lease for lease in self._leases.values() if lease.kind == "work")
        turn = self._commits % len(work)
        wish = Wish(leases=work[turn:] + work[:turn], room=SETTLE_ROWS, delay_ms=0, per_host=SETTLE_ROWS)
        self._commits += 1
        due = reason if self._commits % CHECKPOINT_EVERY == 0 else None
        settled = self._ledger.settle(self._job.id, batches, wish, due)
        for chunk, answer in settled.answers.items():
            self._leases[chunk] = msgspec.structs.replace(self._leases[chunk], no=answer.no)
        self._settled += sum(len(batch.verdicts) for batch in batches)
        return settled.claimed

    def _batches(self, claimed: Sequence[Claimed], body: BodyRef) -> list[Batch]:
        verdicts: dict[int, list[Verdict]] = defaultdict(list)
        now = SystemClock().wall_ms()
        for here in claimed:
            verdicts[here.chunk].append(_succeeded(here, body, now))
        return [self._frozen(self._leases[chunk], items) for chunk, items in sorted(verdicts.items())]

    def _frozen(self, lease: Lease, verdicts: list[Verdict]) -> Batch:
        return Batch.freeze(
            chunk=lease.chunk, epoch=lease.epoch, no=lease.no + 1, worker=str(self._owner), verdicts=tuple(verdicts)
        )

    def _one_body(self) -> BodyRef:
        content = b"<p>" + b"the shore " * 1_400
        headers = (("content-type", "text/html"),)
        blobs = wiring.blobs_of(self._settings, self._job)
        try:
            now = SystemClock().wall_ms()
            body = Body(self._world.url(0), 200, headers, content, sha256(content).digest(), "text/html", now)
            return blobs.append([body])[0]
        finally:
            blobs.close()

    def close(self) -> Filled:
        """Give the chunks back: the job then stands as after a process that ended."""
        self._ledger.release(tuple(self._leases.values()))
        counts = self._ledger.books(self._job.id)[1].seven()
        self._ledger.close()
        return Filled(self._cursor, self._enqueue_s, self._settled, self._settle_s, counts)

    def _say(self, what: str) -> None:
        if time.monotonic() - self._told >= TELL_EVERY_S:
            self._told = time.monotonic()
            self._tell(what)


def _succeeded(here: Claimed, body: BodyRef, now_ms: int) -> Verdict:
    record = PageRecord(title="The shore", status_code=200, fetched_at=now_ms, content_type="text/html", links=30)
    return Verdict(
        target=here.id, move="succeed", began_at=now_ms, ended_at=now_ms, disposition="page", status_code=200,
        body=body, bytes=body.size, records=(Record("page", msgspec.json.encode(record)),),
    )  # fmt: skip


def fill_big(settings: Settings, world: World, options: Options, tell: Tell) -> Filled:
    """All pages known: half of them settled, half pending, among these first the ones that exist as files."""
    filler = Filler(settings, world, options, tell)
    first, middle = len(world.fetchable), max(len(world.fetchable), world.known // 2)
    filler.enqueue(range(middle, world.known), depth=FETCHED_DEPTH)
    filler.settle_all()
    filler.enqueue(world.fetchable, depth=FETCHED_DEPTH)
    filler.enqueue(range(first, middle), depth=LATER_DEPTH, last=True)
    return filler.close()


def fill_small(settings: Settings, world: World, options: Options, pages: int, tell: Tell) -> Filled:
    """Only what a crawl of the first `pages` pages needs: these pending, and what they link to known."""
    filler = Filler(settings, world, options, tell)
    wanted = world.fetchable[:pages]
    filler.enqueue(wanted, depth=FETCHED_DEPTH)
    filler.enqueue(world.linked(wanted), depth=LATER_DEPTH, known_only=True, last=True)
    return filler.close()

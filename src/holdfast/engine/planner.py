"""Planning: the recipe's first targets, enqueued batch by batch with the cursor that stands behind them.

After a crash the plan is run again and as many targets are dropped as the cursor says, so a plan must always give the
same targets in the same order. The trail, a rolling hash of their keys, is stored with the cursor and shows where it
does not: then nothing is planned that might be a target twice, or leave one out. Before the plan come the walks that a
retry, rescan, restart or removed exclusion left standing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice

import msgspec

from holdfast.errors import PlanFailed, Refused
from holdfast.model.lease import Lease
from holdfast.model.outcome import PlanBatch
from holdfast.model.target import Found, PageRow
from holdfast.policy.limits import at_page_limit
from holdfast.ports import Ledger
from holdfast.recipe import AnyRecipe, Context

log = logging.getLogger(__name__)

BATCH_MAX = 500
AHEAD_MAX = 10_000
REPLAY_MAX = 5_000  # dropped per call: pages are settled in between
TRAIL_BYTES = 16


class Planner:
    """Works one job's plan under the plan chunk's lease. Called on the ledger thread, one batch at a time."""

    def __init__(self, recipe: AnyRecipe, context: Context, job: int, lease: Lease) -> None:
        self._recipe, self._job = recipe, job
        self._context = msgspec.structs.replace(context, phase=lease.phase)
        self.lease = lease
        self.done = False  # nothing more will come
        self.failed = ""  # and why, where the plan raised
        self.walks = True  # targets may have to be put back yet
        self._cursor = -1
        self._to_drop = 0
        self._trail = b""
        self._stored_trail = b""
        self._targets: Iterator[Found] = iter(())
        self._waiting: PlanBatch | None = None

    def advance(self, ledger: Ledger) -> bool:
        """Enqueue the next batch; False where enough is pending already. A replayed batch answers like the first."""
        if self.walks:
            return self._walk(ledger)
        if self._cursor < 0:
            self._begin(ledger)
        if self.done:
            return False
        if self._to_drop:
            self._drop()
            return True
        if self._waiting is None and ledger.books(self._job)[1].pending > AHEAD_MAX:
            return False
        batch = self._waiting = self._waiting or self._next_batch()
        if batch.found or batch.done:
            lease = ledger.enqueue(self._job, batch)
            self.lease = msgspec.structs.replace(self.lease, no=lease.no)
        self._cursor, self._trail, self._waiting = batch.next_cursor, batch.trail, None
        self.done = batch.done or bool(self.failed)
        return True

    def look(self, ledger: Ledger) -> None:
        """Whether any worker has opened another phase meanwhile: its plan begins here."""
        phase = ledger.job(self._job).phase
        if phase != self._context.phase:
            self._context = msgspec.structs.replace(self._context, phase=phase)
            self.done, self.failed, self._cursor, self._trail, self._waiting = False, "", -1, b"", None

    def _begin(self, ledger: Ledger) -> None:
        self._cursor, self.done, self._stored_trail = ledger.plan(self._job)
        context = msgspec.structs.replace(self._context, settled=lambda: results_of(ledger, self._job))
        if self._recipe.seeks:
            self._targets = self._recipe.plan(context, self._cursor)
        else:
            self._targets, self._to_drop = self._recipe.plan(context), self._cursor

    def _drop(self) -> None:
        """Pass over what an earlier run has planned, and see that it is the same."""
        found, failed = taken(self._targets, min(self._to_drop, REPLAY_MAX))
        self._trail = trail_of(self._trail, found)
        self._to_drop -= len(found)
        if failed is not None:
            self._give_up(failed)
        elif not found or (self._to_drop == 0 and self._stored_trail and self._trail != self._stored_trail):
            raise Refused(
                f"the plan of {self._recipe.name} is not the one that gave the first {self._cursor} targets: it must "
                "give the same ones in the same order every time",
                hint="put the plan back as it was and run again, or start over with --new",
            )

    def _walk(self, ledger: Ledger) -> bool:
        """Put back the next slice of what was asked for again; not further ahead than a plan is."""
        if ledger.walking(self._job) is None:
            self.walks = False
            return True
        job, counts, _ = ledger.books(self._job)
        # At the page limit nothing is claimed before the walk has gone on, however much is pending.
        if counts.pending > AHEAD_MAX and at_page_limit(counts, job.options.max_pages) is None:
            return False
        ledger.walk(self._job)
        return True

    def _next_batch(self) -> PlanBatch:
        """Frozen when first sent: an unknown outcome is repeated with the very same batch."""
        found, failed = taken(self._targets, BATCH_MAX)
        if failed is not None:
            self._give_up(failed)
        return PlanBatch.freeze(
            chunk=self.lease.chunk,
            epoch=self.lease.epoch,
            no=self.lease.no + 1,
            cursor=self._cursor,
            next_cursor=self._cursor + len(found),
            done=failed is None and len(found) < BATCH_MAX,
            found=tuple(found),
            trail=b"" if self._recipe.seeks else trail_of(self._trail, found),
        )

    def _give_up(self, failed: PlanFailed) -> None:
        """What was planned is worked to its end; then the job is failed with these words."""
        self.failed, self.done = failed.message, True
        log.warning("the plan of %s failed: %s", self._recipe.name, failed.message)


def results_of(ledger: Ledger, job: int) -> Iterator[PageRow]:
    """Every result of the job by target, page by page."""
    after = (0, -1)
    while rows := ledger.results(job, after=after):
        yield from rows
        after = (rows[-1].target, rows[-1].n)


def taken(targets: Iterator[Found], n: int) -> tuple[list[Found], PlanFailed | None]:
    """The next `n` targets, or those before the plan raised."""
    found: list[Found] = []
    try:
        found.extend(islice(targets, n))  # what came before the plan raised stays in the list
    except PlanFailed as failed:
        return found, failed
    return found, None


def trail_of(trail: bytes, found: list[Found]) -> bytes:
    """The rolling hash of keys, key by key: it does not depend on where batches were cut."""
    for item in found:
        trail = blake2b(trail + item.key, digest_size=TRAIL_BYTES).digest()
    return trail

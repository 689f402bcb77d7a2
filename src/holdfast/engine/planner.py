"""Planning: the recipe's first targets, enqueued batch by batch with the cursor that stands behind them.

After a crash the plan is run again and as many targets are dropped as the cursor says, so a plan must always give the
same targets in the same order.
"""

from __future__ import annotations

from itertools import islice

import msgspec

from holdfast.model.lease import Lease
from holdfast.model.outcome import PlanBatch
from holdfast.ports import Ledger
from holdfast.recipe import Context, Recipe

BATCH_MAX = 500
AHEAD_MAX = 10_000


class Planner:
    """Works one job's plan under the plan chunk's lease. Called on the ledger thread, one batch at a time."""

    def __init__(self, recipe: Recipe, context: Context, job: int, lease: Lease) -> None:
        self._recipe, self._context, self._job = recipe, context, job
        self.lease = lease
        self.done = False
        self._cursor = -1

    def advance(self, ledger: Ledger) -> bool:
        """Enqueue the next batch; False where enough is pending already. A replayed batch answers like the first."""
        if self._cursor < 0:
            self._cursor, self.done = ledger.plan(self._job)
            self._targets = islice(self._recipe.plan(self._context), self._cursor, None)
            self._waiting: PlanBatch | None = None
        if self.done or (self._waiting is None and ledger.books(self._job)[1].pending > AHEAD_MAX):
            return False
        batch = self._waiting = self._waiting or self._next_batch()
        lease = ledger.enqueue(self._job, batch)
        self.lease = msgspec.structs.replace(self.lease, no=lease.no)
        self._cursor, self.done, self._waiting = batch.next_cursor, batch.done, None
        return True

    def _next_batch(self) -> PlanBatch:
        """Frozen when first sent: an unknown outcome is repeated with the very same batch."""
        found = tuple(islice(self._targets, BATCH_MAX))
        return PlanBatch.freeze(
            chunk=self.lease.chunk,
            epoch=self.lease.epoch,
            no=self.lease.no + 1,
            cursor=self._cursor,
            next_cursor=self._cursor + len(found),
            done=len(found) < BATCH_MAX,
            found=found,
        )

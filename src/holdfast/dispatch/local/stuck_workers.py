"""Which worker processes are stuck: alive, with nothing in hand though there is something to take.

Their leases lapsed and they ask for no others, as when they were stopped. We count observations, not seconds, so
suspend does not count, and a worker that wakes up with us can lease first. An observation does not count either
while the ledger can be read but does not take our own heartbeats: then no worker can renew or lease anything.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from holdfast.engine.liveness import is_here
from holdfast.model.job import WORK_CHUNKS
from holdfast.model.lease import Holder

LOOK_EVERY_MS = 200
LOOKS_MAX = 25  # five seconds
BEGINNING_LOOKS_MAX = 3000  # ten minutes: a recipe may take long to import


class StuckWorkers:
    def __init__(self) -> None:
        self._idle: dict[
            int, int
        ] = {}  # pid -> observations in a row of it with nothing in hand, though chunks were free
        self._begun: set[int] = set()  # pids that have held chunks

    def found(self, holders: Sequence[Holder], pool: Collection[int], chunks: int = WORK_CHUNKS) -> list[int]:
        """Of the pids in `pool` those that are stuck, after one more look at who holds which of so many work chunks."""
        live = [holder for holder in holders if not holder.lapsed]
        at_work = {holder.owner.pid for holder in live if is_here(holder.owner)}  # a stranger's pid may be the same
        self._begun = (self._begun | at_work) & set(pool)
        all_taken = sum(holder.kind == "work" for holder in live) >= chunks
        self._idle = {} if all_taken else {pid: self._idle.get(pid, 0) + 1 for pid in pool if pid not in at_work}
        return [pid for pid, looks in self._idle.items() if looks > self._looks_max(pid)]

    def _looks_max(self, pid: int) -> int:
        return LOOKS_MAX if pid in self._begun else BEGINNING_LOOKS_MAX

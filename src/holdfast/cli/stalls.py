"""Which worker processes are stuck: alive, with nothing in hand though there is something to take.

Their leases lapsed and they ask for no others, as when somebody stopped them. Judged by looks, not by a clock: a sleep
of the whole computer is no look, and who wakes up with us gets to lease first. Nor is one at a ledger that can be read
and does not take our own beats: then nobody can renew or lease anything, however well.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from holdfast.engine.liveness import is_here
from holdfast.model.job import WORK_CHUNKS
from holdfast.model.lease import Holder

LOOK_EVERY_MS = 200
LOOKS_MAX = 25  # five seconds
BEGINNING_LOOKS_MAX = 3000  # ten minutes: a recipe may take long to import


class Stalls:
    def __init__(self) -> None:
        self._idle: dict[int, int] = {}  # pid -> looks in a row that found it with nothing, though chunks were free
        self._begun: set[int] = set()  # who has held chunks

    def found(self, holders: Sequence[Holder], crew: Collection[int]) -> list[int]:
        """Of the pids in `crew` those that are stuck, by one more look at who holds what."""
        live = [holder for holder in holders if not holder.lapsed]
        at_work = {holder.owner.pid for holder in live if is_here(holder.owner)}  # a stranger's pid may be the same
        self._begun = (self._begun | at_work) & set(crew)
        all_taken = sum(holder.kind == "work" for holder in live) >= WORK_CHUNKS
        self._idle = {} if all_taken else {pid: self._idle.get(pid, 0) + 1 for pid in crew if pid not in at_work}
        return [pid for pid, looks in self._idle.items() if looks > self._looks_max(pid)]

    def _looks_max(self, pid: int) -> int:
        return LOOKS_MAX if pid in self._begun else BEGINNING_LOOKS_MAX

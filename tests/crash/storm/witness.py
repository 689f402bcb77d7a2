"""The witness: after every step it looks at the rows and says which law does not hold. It never writes.

Some laws need to know what was said outside the ledger (L1, L3, half of L4 and L5); others are those of `audit/`, the
cheap ones after each step, the rest in turn, and all of them at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from conformance.bench import Bench
from crash.storm.log import Broken, Log
from crash.storm.sight import SETTLED, Eyes, Sight
from holdfast.audit.invariants import INVARIANTS
from holdfast.audit.verify import verify

EACH_STEP = ("L2.key", "L5.holder", "L5.owner", "L8.tally", "L8.host", "L10.completed", "L11.request", "row.settled")
CHEAP = tuple(law for law in INVARIANTS if law.name in EACH_STEP)
IN_TURN = tuple(law for law in INVARIANTS if law.name not in EACH_STEP)
assert len(CHEAP) == len(EACH_STEP)
ALL_CHEAP = " UNION ALL ".join(f"SELECT '{law.name}' WHERE EXISTS ({law.sql})" for law in CHEAP)


class Believer(Protocol):
    """A process that may think that it holds chunks: those whose time, by its own count, has not run out."""

    pid: int

    def believes(self) -> dict[int, int]:
        """chunk -> epoch."""


class Witness:
    """`last` is what it saw after the step before."""

    def __init__(self, bench: Bench, eyes: Eyes, job: int, log: Log) -> None:
        self._bench, self._eyes, self._job, self._log = bench, eyes, job, log
        self._turn = 0
        self.last = eyes.look(job)

    def check(self, processes: Iterable[Believer]) -> None:
        """After one step. Raises Broken."""
        before, has_changed = self.last, self._eyes.has_changed()
        if has_changed:
            self.last = self._eyes.look(self._job)
        for sentence in self._complaints(before, self.last, processes):
            raise Broken(sentence)
        if has_changed:
            self._check_books()

    def _complaints(self, before: Sight, now: Sight, processes: Iterable[Believer]) -> Iterator[str]:
        yield from self._acked(now)
        if now is not before:
            yield from self._rows(before, now)
        yield from _owned(now, processes)
        if not before.is_open and now.claims != before.claims:
            yield f"L11: {now.claims - before.claims} claimed while the job was {before.status}, {before.requested}"
        if self._log.is_closed and now.is_open:
            yield "L1: a pause or cancel was acked, and is gone though nobody resumed the job"

    def _acked(self, now: Sight) -> Iterator[str]:
        """L1: an acked result stands until a named verb puts the target back as another generation."""
        for (target, generation), status in self._log.results.items():
            row = now.targets.get(target)
            if row is None or (row.generation == generation and row.status != status):
                yield f"L1: {row.url if row else target} was acked as {status}, and is {row.status if row else 'gone'}"

    def _rows(self, before: Sight, now: Sight) -> Iterator[str]:
        for target, row in now.targets.items():
            earlier = before.targets.get(target)
            if earlier is not None and row.claims < earlier.claims:
                yield f"L4: {row.url} had {earlier.claims} attempts, and has {row.claims}"
            if self._log.asked[target] > row.claims:
                yield f"L4: {row.url} was asked for {self._log.asked[target]} times, and claimed {row.claims} times"
            if row.ends > row.generation:
                yield f"L2: {row.url} was settled {row.ends} times in {row.generation} generations"
            is_ours = row.status in SETTLED and row.code != "poison"
            if is_ours and not self._log.may_have_settled(*row.done):
                yield f"L1: {row.url} is {row.status} by commit {row.done}, which nobody sent or was called lost"
        if len({row.url for row in now.targets.values()}) != len(now.targets):
            yield "L2: two targets have one URL"
        if not before.targets.keys() <= now.targets.keys():
            yield "L1: targets are gone"

    def _check_books(self) -> None:
        """L8, L9 and what else the rows say by themselves."""
        if not self._eyes.is_legal:
            self._bench.check()
            return
        self._turn += 1
        in_turn = IN_TURN[self._turn % len(IN_TURN)]
        suspects = CHEAP if self._eyes.query(ALL_CHEAP, (self._job,) * ALL_CHEAP.count("?")) else ()
        for law in (*suspects, in_turn):
            rows = self._eyes.query(law.sql, (self._job,) * law.sql.count("?"))
            if rows:
                raise Broken(f"{law.name} ({law.says}): {rows[:3]}")

    def check_the_end(self, calm: Sight | None) -> None:
        """All that `verify` knows, and the results of a run that nobody disturbed. None: the job was cancelled."""
        self._bench.check()
        for finding in verify(self._eyes.query, self._job) if self._eyes.is_legal else ():
            raise Broken(str(finding))
        left = [row.url for row in self.last.targets.values() if row.status in ("pending", "in_progress")]
        if left:
            raise Broken(f"L10: the job is {self.last.status}, and {left} are left")
        if calm is not None and self.last.results() != calm.results():
            raise Broken(f"O3: other results than undisturbed: {sorted(self.last.results() ^ calm.results(), key=str)}")


def _owned(now: Sight, processes: Iterable[Believer]) -> Iterator[str]:
    """L5: whoever may think that a chunk is its own is who the ledger says, so there is one at most."""
    for process in processes:
        for chunk, epoch in process.believes().items():
            if now.owners[chunk] != (epoch, process.pid):
                yield (
                    f"L5: pid {process.pid} holds chunk {chunk} under epoch {epoch} by its lease; the ledger says "
                    f"epoch {now.owners[chunk][0]}, pid {now.owners[chunk][1]}"
                )

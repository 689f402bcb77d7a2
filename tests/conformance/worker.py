"""A worker for the suite: it leases, claims and settles as the engine does, one call at a time, and keeps its numbers.

It decides nothing by itself, so that a case can let it die, lag behind or repeat itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from holdfast.model.claim import Settled, Wish
from holdfast.model.lease import Lease, Owner
from holdfast.model.outcome import Batch, PlanBatch, Verdict
from holdfast.model.target import Claimed, Found
from holdfast.ports import IsDead, Ledger

LIFE_S = 30.0
ALL = 16
PLENTY = 100


class Worker:
    """One process's view of one job. `leases` are by chunk id, `hand` is what it claimed and has not settled."""

    def __init__(self, ledger: Ledger, job: int, owner: Owner, is_dead: IsDead) -> None:
        self.ledger, self.job, self.owner, self._is_dead = ledger, job, owner, is_dead
        self.leases: dict[int, Lease] = {}
        self.hand: dict[int, Claimed] = {}

    def lease(self, want: int = ALL, life_s: float = LIFE_S) -> tuple[Lease, ...]:
        taken = self.ledger.lease(self.job, self.owner, life_s=life_s, want=want, is_dead=self._is_dead)
        self.leases.update((item.chunk, item) for item in taken)
        return taken

    def of_kind(self, kind: str) -> list[Lease]:
        return sorted((item for item in self.leases.values() if item.kind == kind), key=lambda item: item.index)

    @property
    def control(self) -> Lease:
        return self.of_kind("control")[0]

    @property
    def plan(self) -> Lease:
        return self.of_kind("plan")[0]

    @property
    def work(self) -> list[Lease]:
        return self.of_kind("work")

    def plan_batch(
        self, found: Sequence[Found], *, cursor: int = 0, done: bool = True, trail: bytes = b""
    ) -> PlanBatch:
        """The next batch of a plan that stands at `cursor`, frozen."""
        at = self.plan
        return PlanBatch.freeze(
            chunk=at.chunk,
            epoch=at.epoch,
            no=at.no + 1,
            cursor=cursor,
            next_cursor=cursor + len(found),
            done=done,
            found=tuple(found),
            trail=trail,
        )

    def enqueue(self, *found: Found, cursor: int = 0, done: bool = True) -> Lease:
        lease = self.ledger.enqueue(self.job, self.plan_batch(found, cursor=cursor, done=done))
        self.leases[lease.chunk] = lease
        return lease

    def wish(
        self,
        room: int = PLENTY,
        *,
        delay_ms: int = 0,
        per_host: int = PLENTY,
        alone: bool = False,
        only: Iterable[Lease] | None = None,
        in_levels: bool = False,
        pages_max: int | None = None,
        compared: bool = False,
    ) -> Wish:
        leases = tuple(self.work if only is None else only)
        return Wish(
            leases=leases, room=room, delay_ms=delay_ms, per_host=per_host, alone=alone, in_levels=in_levels,
            pages_max=pages_max, compared=compared,
        )  # fmt: skip

    def claim(
        self, room: int = PLENTY, *, delay_ms: int = 0, per_host: int = PLENTY, alone: bool = False
    ) -> list[Claimed]:
        """Claim from every work chunk; what was claimed, in claim order."""
        return self.take(self.wish(room, delay_ms=delay_ms, per_host=per_host, alone=alone))

    def take(self, wish: Wish) -> list[Claimed]:
        return list(self.send([], wish).claimed)

    def batches(self, *verdicts: Verdict) -> list[Batch]:
        """The verdicts on what is in hand, frozen into one batch per chunk under the next numbers."""
        by_chunk: dict[int, list[Verdict]] = {}
        for each in verdicts:
            by_chunk.setdefault(self.hand[each.target].chunk, []).append(each)
        return [self.batch(chunk, *group) for chunk, group in sorted(by_chunk.items())]

    def batch(self, chunk: int, *verdicts: Verdict) -> Batch:
        at = self.leases[chunk]
        return Batch.freeze(chunk=chunk, epoch=at.epoch, no=at.no + 1, worker=str(self.owner), verdicts=verdicts)

    def settle(
        self, *verdicts: Verdict, wish: Wish | None = None, checkpoint: str | None = None, per_host_max: int = 0
    ) -> Settled:
        return self.send(self.batches(*verdicts), wish, checkpoint, per_host_max)

    def send(
        self, batches: Sequence[Batch], wish: Wish | None = None, checkpoint: str | None = None, per_host_max: int = 0
    ) -> Settled:
        """Settle frozen batches, and learn the chunks' numbers and the new claims from the answer."""
        settled = self.ledger.settle(self.job, batches, wish, checkpoint, per_host_max)
        for chunk, answer in settled.answers.items():
            if answer.kind != "lost" and chunk in self.leases:
                self.leases[chunk] = msgspec.structs.replace(self.leases[chunk], no=answer.no)
        for batch in batches:
            if settled.answers[batch.chunk].kind != "lost":
                for each in batch.verdicts:
                    self.hand.pop(each.target, None)
        self.hand.update((each.id, each) for each in settled.claimed)
        return settled

    def adopt(self) -> list[Claimed]:
        """After an unknown answer: what the ledger says is ours and in hand."""
        holding = self.ledger.held(list(self.leases.values()))
        self.leases = {item.chunk: item for item in holding.leases}
        self.hand = {each.id: each for each in holding.claimed}
        return list(holding.claimed)

    def renew(self, active_ms: int = 0, life_s: float = LIFE_S) -> tuple[Lease, ...]:
        kept = self.ledger.renew(list(self.leases.values()), life_s=life_s, active_ms=active_ms)
        self.leases = {item.chunk: item for item in kept}
        self.hand = {each.id: each for each in self.hand.values() if each.chunk in self.leases}
        return kept

    def release(self) -> None:
        self.ledger.release(list(self.leases.values()))
        self.leases, self.hand = {}, {}

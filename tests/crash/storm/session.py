"""What a simulated process has between the lease and the release: leases with their ends by its own count, pages in
hand, fetches that are under way, verdicts that are not settled yet, and calls that were never answered.
"""

from __future__ import annotations

from collections.abc import Iterable

from conformance.worker import LIFE_S, Worker
from crash.storm.around import Around
from holdfast.model.claim import Settled
from holdfast.model.lease import Lease
from holdfast.model.outcome import Batch, PlanBatch, Verdict
from holdfast.model.target import Claimed
from holdfast.ports import Ledger

LIFE_MS = round(LIFE_S * 1000)
RENEW_MS = LIFE_MS // 3
POLL_MS, IDLE_MS = 1_500, 30_000
FETCH_MS = (200, 400, 900, 2_500, 11_000)


class Session:
    """An owner of its own: leases of an earlier session are not asked for again."""

    def __init__(self, around: Around, ledger: Ledger) -> None:
        self._around = around
        self.worker = Worker(ledger, around.job, around.bench.owner(), around.bench.is_dead)
        self.until_ms: dict[int, int] = {}  # chunk -> when our lease ends by our own count
        self.running: dict[int, int] = {}  # target -> when its fetch ends
        self.done: dict[int, Verdict] = {}
        self.unanswered: list[Batch] | None = None
        self.unplanned: PlanBatch | None = None
        self.must_adopt = self.is_stopping = self.is_planned = False
        self.suspects = self._vain = 0
        self.renew_at_ms = self.idle_until_ms = self.finish_at_ms = self.asked_ms = 0

    @property
    def now(self) -> int:
        return self._around.clock.monotonic_ms()

    @property
    def hand(self) -> dict[int, Claimed]:
        return self.worker.hand

    @property
    def is_alone(self) -> bool:
        """Whether it has a suspect in hand, which must have no company."""
        return any(here.alone for here in self.hand.values())

    def holds(self) -> dict[int, int]:
        """chunk -> epoch of the leases that have not run out."""
        now = self.now
        return {x.chunk: x.epoch for x in self.worker.leases.values() if self.until_ms.get(x.chunk, 0) > now}

    def keep(self, leases: Iterable[Lease], asked_ms: int) -> None:
        """Their life is counted from the moment when they were asked for: the store began to count later."""
        for lease in leases:
            self.until_ms[lease.chunk] = asked_ms + LIFE_MS
            self.is_stopping |= lease.requested is not None
        self.renew_at_ms = asked_ms + RENEW_MS

    def learn(self, settled: Settled) -> None:
        """Lost chunks are gone with what was in hand there; what was claimed is fetched."""
        for chunk, answer in settled.answers.items():
            self.is_stopping |= answer.requested is not None
            if answer.kind == "lost":
                self.worker.leases.pop(chunk, None)
        lost = [target for target, here in self.hand.items() if here.chunk not in self.worker.leases]
        for target in lost:
            del self.hand[target]
        self.suspects = settled.suspects
        self.fetch(settled.claimed)

    def fetch(self, claimed: Iterable[Claimed]) -> None:
        for here in claimed:
            self._around.log.ask(here)
            self.running[here.id] = self.now + self._around.choose(*FETCH_MS)

    def forget_what_is_lost(self) -> None:
        for kept in (self.running, self.done):
            for target in kept.keys() - self.hand.keys():
                del kept[target]

    def idle(self, ms: int, *, had: bool) -> None:
        """Whoever asks in vain asks less and less often."""
        self._vain = 0 if had else self._vain + 1
        self.idle_until_ms = 0 if had else self.now + max(POLL_MS, min(POLL_MS << self._vain, ms, IDLE_MS))

    def rests_s(self) -> float:
        """Until the first of whatever it waits for."""
        waits = [*self.running.values(), self.renew_at_ms, self.idle_until_ms, self.finish_at_ms]
        return (min((at for at in waits if at > self.now), default=self.now + IDLE_MS) - self.now) / 1000

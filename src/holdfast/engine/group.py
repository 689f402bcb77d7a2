"""Group commit: verdicts to the ledger and the next claim, as one frozen call. Bodies are on the disk by then.

Runs on the ledger thread. A batch is frozen when first sent; an unknown outcome is repeated with the same batches and
no claim, and then the ledger is asked what we hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from holdfast.engine.execute import Finished
from holdfast.engine.patience import Patience
from holdfast.engine.recent import RecentKeys
from holdfast.errors import LedgerUnavailable
from holdfast.model.claim import Settled, Wish
from holdfast.model.lease import Lease
from holdfast.model.outcome import Batch, Verdict
from holdfast.model.target import Claimed
from holdfast.ports import Ledger


class Committed(msgspec.Struct, frozen=True):
    """What one call to the ledger brought. `adopted` is None unless the outcome was unknown for a while."""

    settled: Settled
    done: tuple[Finished, ...]
    lost: tuple[Finished, ...]
    adopted: tuple[Claimed, ...] | None = None


@dataclass(slots=True)
class Group:
    """The worker's pen: knows the leases' commit numbers and which keys are certainly stored."""

    job: int
    worker: str
    leases: dict[int, Lease]
    patience: Patience
    targets: RecentKeys = field(default_factory=RecentKeys)
    external: RecentKeys = field(default_factory=RecentKeys)
    per_host_max: int = 0  # targets of one host that the job may have; 0: any number

    def commit(
        self, ledger: Ledger, finished: Sequence[Finished], wish: Wish | None, checkpoint: str | None
    ) -> Committed:
        """Settle a group of finished targets and claim what is wished. Returns only what is committed."""
        batches = self._freeze(finished)
        adopted = None
        try:
            settled = ledger.settle(self.job, batches, wish, checkpoint, self.per_host_max)
        except LedgerUnavailable:
            settled = self.patience.insist(lambda: ledger.settle(self.job, batches, None, None, self.per_host_max))
            adopted = self.adopt(ledger)
        return self._learn(settled, batches, finished, adopted)

    def _sifted(self, verdict: Verdict) -> Verdict:
        """Leave out links that are certainly stored already."""
        found, external = self.targets.sift(verdict.found), self.external.sift(verdict.external)
        return msgspec.structs.replace(verdict, found=found, external=external)

    def _freeze(self, finished: Sequence[Finished]) -> list[Batch]:
        by_chunk: dict[int, list[Verdict]] = defaultdict(list)
        for item in finished:
            assert item.body is None, f"the body of {item.claimed} is not on the disk"
            assert not item.files, f"the files of {item.claimed} have no names"
            if item.claimed.chunk in self.leases:
                by_chunk[item.claimed.chunk].append(self._sifted(item.verdict))
        return [
            Batch.freeze(
                chunk=chunk,
                epoch=self.leases[chunk].epoch,
                no=self.leases[chunk].no + 1,
                worker=self.worker,
                verdicts=tuple(items),
            )
            for chunk, items in by_chunk.items()
        ]

    def adopt(self, ledger: Ledger) -> tuple[Claimed, ...]:
        """After an unknown outcome: the ledger's own word on which leases we have, their numbers and targets."""
        holding = self.patience.insist(lambda: ledger.held(tuple(self.leases.values())))
        self.leases = {lease.chunk: lease for lease in holding.leases}
        return holding.claimed

    def _learn(
        self,
        settled: Settled,
        batches: Sequence[Batch],
        finished: Sequence[Finished],
        adopted: tuple[Claimed, ...] | None,
    ) -> Committed:
        """Only now, after the commit: commit numbers, stored keys, and what was lost."""
        for batch in batches:
            if settled.answers[batch.chunk].kind in ("settled", "replayed"):
                for verdict in batch.verdicts:
                    self.targets.learn(item.key for item in verdict.found)
                    self.external.learn(item.key for item in verdict.external)
        for chunk, answer in settled.answers.items():
            if answer.kind == "lost":
                self.drop({chunk})
            elif chunk in self.leases and answer.no > self.leases[chunk].no:
                self.leases[chunk] = msgspec.structs.replace(self.leases[chunk], no=answer.no)
        kept = {chunk for chunk, answer in settled.answers.items() if answer.kind != "lost"}
        done = tuple(item for item in finished if item.claimed.chunk in kept)
        lost = tuple(item for item in finished if item.claimed.chunk not in kept)
        return Committed(settled, done, lost, adopted)

    def drop(self, chunks: Iterable[int]) -> None:
        """Leases are gone: another worker may roll their links differently, so nothing is taken as stored any more."""
        for chunk in chunks:
            self.leases.pop(chunk, None)
        self.targets.forget()
        self.external.forget()

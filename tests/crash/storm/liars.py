"""Ledgers that lie, each in one way: what a broken store could do, so that the witness can be seen to notice it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.model.claim import SettleAnswer, Settled
from holdfast.model.job import Job
from holdfast.model.lease import Lease
from holdfast.model.outcome import Batch
from holdfast.model.target import Claimed
from holdfast.ports import Ledger


class Honest:
    """Passes everything on."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def settle(self, job: int, batches: Sequence[Batch], *more: Any) -> Settled:
        return self._ledger.settle(job, batches, *more)


class Forgetful(Honest):
    """Says that it stored a group, and did not."""

    def settle(self, job: int, batches: Sequence[Batch], *more: Any) -> Settled:
        if len(batches) < 2:
            return super().settle(job, batches, *more)
        return Settled(answers={batch.chunk: SettleAnswer("settled", batch.no) for batch in batches})


class Flattering(Honest):
    """Calls settled what it refused."""

    def settle(self, job: int, batches: Sequence[Batch], *more: Any) -> Settled:
        settled = super().settle(job, batches, *more)
        answers = {c: SettleAnswer("settled", a.no) if a.kind == "lost" else a for c, a in settled.answers.items()}
        return msgspec.structs.replace(settled, answers=answers)


class Denying(Honest):
    """Calls lost what it stored before."""

    def settle(self, job: int, batches: Sequence[Batch], *more: Any) -> Settled:
        settled = super().settle(job, batches, *more)
        answers = {c: SettleAnswer("lost") if a.kind == "replayed" else a for c, a in settled.answers.items()}
        return msgspec.structs.replace(settled, answers=answers)


class Generous(Honest):
    """Hands out once more what is in somebody's hands."""

    given: tuple[Claimed, ...] = ()

    def settle(self, job: int, batches: Sequence[Batch], *more: Any) -> Settled:
        settled = super().settle(job, batches, *more)
        again, self.given = self.given, settled.claimed or self.given
        return msgspec.structs.replace(settled, claimed=again) if batches and not settled.claimed else settled


class Reviving(Honest):
    """Hands out once more what was settled."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self._given: dict[int, Claimed] = {}

    def settle(self, job: int, batches: Sequence[Batch], *more: Any) -> Settled:
        settled = super().settle(job, batches, *more)
        self._given |= {here.id: here for here in settled.claimed}
        ended = [each.target for batch in batches for each in batch.verdicts if each.move == "succeed"]
        again = tuple(self._given[target] for target in ended if target in self._given)
        return msgspec.structs.replace(settled, claimed=again) if again and not settled.claimed else settled


class Complaisant(Honest):
    """Renews whatever is asked for."""

    def renew(self, leases: Sequence[Lease], **more: Any) -> tuple[Lease, ...]:
        self._ledger.renew(leases, **more)
        return tuple(leases)


class Deaf(Honest):
    """Acks a request and does nothing."""

    def request(self, job: int, action: str, **_: Any) -> Job:
        return self._ledger.books(job)[0]

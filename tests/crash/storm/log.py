"""What clients were told: every settle as acked, lost or unknown, and every page that was asked for. Kept outside.

`Watched` is the ledger as the simulated processes see it; it changes no answer, and a store that lies cannot reach it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from holdfast.errors import LedgerUnavailable
from holdfast.model.claim import Settled
from holdfast.model.outcome import Batch
from holdfast.model.target import Claimed
from holdfast.ports import Ledger

STATUS_AFTER = {"succeed": "succeeded", "skip": "skipped", "fail": "failed"}
Key = tuple[int, int, int]  # chunk, epoch, number


class Broken(AssertionError):
    """A law does not hold; the sentence begins with its number."""


@dataclass
class Log:
    """`told` is how each batch was answered last, `results` what every acked settle said."""

    sent: list[tuple[int, list[Batch]]] = field(default_factory=list)
    told: dict[Key, str] = field(default_factory=dict)
    numbers: defaultdict[tuple[int, int], set[Key]] = field(default_factory=lambda: defaultdict(set))
    claimed: dict[tuple[int, int], int] = field(default_factory=dict)  # target, epoch -> generation
    meant: dict[Key, dict[int, int]] = field(default_factory=dict)  # of a batch: target -> generation
    results: dict[tuple[int, int], str] = field(default_factory=dict)  # target, generation -> status
    asked: Counter[int] = field(default_factory=Counter)  # target -> how often its page was asked for
    is_closed: bool = False  # a request was acked, and no resume since
    calls: int = 0

    def send(self, job: int, batches: Sequence[Batch]) -> None:
        """Of which generation the verdicts are is known when a batch is sent first; it may be answered much later."""
        if batches:
            self.sent.append((job, list(batches)))
        for batch in batches:
            key = _key(batch)
            self.numbers[batch.chunk, batch.no].add(key)
            if key not in self.meant:
                self.meant[key] = {each.target: self.claimed[each.target, batch.epoch] for each in batch.verdicts}

    def settled(self, batch: Batch, kind: str) -> None:
        """One answer. What was acked once is acked for ever: it may only be replayed."""
        key, before = _key(batch), self.told.get(_key(batch), "")
        if kind == "lost":
            if before == "acked":
                raise Broken(f"L1: a settle of chunk {batch.chunk} was acked, and its repetition is called lost")
            self.told[key] = "lost"
            return
        if before == "lost":
            raise Broken(f"L5: a settle of chunk {batch.chunk} was called lost, and its repetition {kind}")
        if before == "acked" and kind != "replayed":
            raise Broken(f"L2: a settle of chunk {batch.chunk} was stored twice")
        self.told[key] = "acked"
        if before != "acked":
            self._keep_results(batch)

    def _keep_results(self, batch: Batch) -> None:
        for each in batch.verdicts:
            place = (each.target, self.meant[_key(batch)][each.target])
            if each.move in STATUS_AFTER:
                if place in self.results:
                    raise Broken(f"L2: target {each.target} was settled twice in one generation, and both were acked")
                self.results[place] = STATUS_AFTER[each.move]

    def unknown(self, batch: Batch) -> None:
        self.told.setdefault(_key(batch), "unknown")

    def may_have_settled(self, chunk: int | None, no: int | None) -> bool:
        """Whether somebody was not told that a batch with this number was lost."""
        keys = self.numbers.get((chunk or 0, no or 0), set())
        return any(self.told[key] in ("acked", "unknown") for key in keys)

    def ask(self, here: Claimed) -> None:
        """A process asks the site for a page."""
        if (here.id, here.generation) in self.results:
            raise Broken(f"L3: {here.url} is asked for although its result was acked")
        self.asked[here.id] += 1
        self.claimed[here.id, here.epoch] = here.generation


def _key(batch: Batch) -> Key:
    return batch.chunk, batch.epoch, batch.no


class Watched:
    """A ledger whose answers are written down."""

    def __init__(self, ledger: Ledger, log: Log) -> None:
        self._ledger, self._log = ledger, log

    def __getattr__(self, name: str) -> Any:
        self._log.calls += 1
        return getattr(self._ledger, name)

    def settle(self, job: int, batches: Sequence[Batch], *more: Any) -> Settled:
        log = self._log
        log.calls += 1
        log.send(job, batches)
        try:
            settled = self._ledger.settle(job, batches, *more)
        except LedgerUnavailable:
            for batch in batches:
                log.unknown(batch)
            raise
        for batch in batches:
            log.settled(batch, settled.answers[batch.chunk].kind)
        return settled

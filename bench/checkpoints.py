"""What a checkpoint costs inside a settle, in a ledger with few and with many targets.

    python -m bench.checkpoints URL ADDR:PORT DATA KNOWN

A stop-watch stands around the function that writes the checkpoint row, first in settles of ten targets with nothing
else going on, then in a real crawl in this process. Before both, the job is filled up with KNOWN targets that are
skipped, so that only the size of the ledger differs between two runs.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from bench.contestants.crawl import Arena
from bench.contestants.holdfast_rows import crawl_argv
from holdfast import wiring
from holdfast.cli.main import main as holdfast
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.engine.liveness import is_dead, this_process
from holdfast.ledger.books import write_checkpoint
from holdfast.ledger.verbs import settle
from holdfast.model.claim import Wish
from holdfast.model.job import WORK_CHUNKS
from holdfast.model.keys import seed_address
from holdfast.model.outcome import Batch, PlanBatch, Verdict
from holdfast.model.target import Claimed, Found
from holdfast.recipe import Context

ENQUEUE_ROWS = 5_000
SETTLES = 200
TARGETS_PER_SETTLE = 10  # the default distance of two checkpoints
LEASE_S = 600.0


class StopWatch:
    """Stands in for `write_checkpoint`: calls it, and keeps what each call took."""

    def __init__(self) -> None:
        self._write = write_checkpoint
        self.wall_ms: list[float] = []
        self.cpu_ms: list[float] = []

    def __call__(self, *arguments: Any) -> int:
        began, began_cpu = time.perf_counter(), time.thread_time()
        number = self._write(*arguments)
        self.cpu_ms.append((time.thread_time() - began_cpu) * 1000)
        self.wall_ms.append((time.perf_counter() - began) * 1000)
        return number

    def taken(self) -> dict[str, Any]:
        """What was measured since the last time, and start anew."""
        if not self.wall_ms:
            raise RuntimeError("no checkpoint was written through settle.write_checkpoint: nothing was measured")
        found = {
            "checkpoints": len(self.wall_ms),
            "wall_ms_median": median(self.wall_ms),
            "cpu_ms_median": median(self.cpu_ms),
            "cpu_s": sum(self.cpu_ms) / 1000,
        }
        self.wall_ms, self.cpu_ms = [], []
        return found


class Filler:
    """The job under leases of this process: plans what is asked, settles what is pending, gives it all back."""

    def __init__(self, settings: Settings) -> None:
        self._ledger = wiring.open_ledger(settings)
        self._job = self._ledger.jobs()[0]
        self._ledger.move(self._job.id, "start", actor="bench", because="filling")
        leases = self._ledger.lease(self._job.id, this_process(), life_s=LEASE_S, want=WORK_CHUNKS, is_dead=is_dead)
        self._leases = {lease.chunk: lease for lease in leases}
        self._recipe = wiring.recipe_of(self._job.recipe)
        chunking = self._recipe.chunking(self._job.params)
        self._context = Context(params=self._job.params, salt=self._ledger.salt(), chunking=chunking)
        self._cursor = 0

    def made_up(self, start: str, count: int, *, disposition: str = "") -> Iterator[Found]:
        """Targets that no page links to; with a disposition they are recorded as skipped."""
        rule = "exclude" if disposition else ""
        addresses = (seed_address(f"{start}/{rule}-{n // 100}/{n}") for n in range(count))
        return (self._context.found(address, depth=1, disposition=disposition, rule=rule) for address in addresses)

    def seeds(self) -> Iterator[Found]:
        return self._recipe.plan(self._context)

    def plan(self, targets: Iterator[Found], *, last: bool = False) -> None:
        """Enqueue all of them batch by batch, as the planner does."""
        while found := tuple(islice(targets, ENQUEUE_ROWS)):
            self._send(found, done=False)
        if last:
            self._send((), done=True)

    def _send(self, found: tuple[Found, ...], *, done: bool) -> None:
        lease = next(lease for lease in self._leases.values() if lease.kind == "plan")
        batch = PlanBatch.freeze(
            chunk=lease.chunk, epoch=lease.epoch, no=lease.no + 1, cursor=self._cursor,
            next_cursor=self._cursor + len(found), done=done, found=found,
        )  # fmt: skip
        self._leases[lease.chunk] = self._ledger.enqueue(self._job.id, batch)
        self._cursor += len(found)

    def settle_all(self) -> None:
        """Claim ten, settle ten, with a checkpoint every time, until nothing is pending."""
        claimed = self._commit(())
        while claimed:
            claimed = self._commit(claimed)

    def _commit(self, done: tuple[Claimed, ...]) -> tuple[Claimed, ...]:
        work = tuple(lease for lease in self._leases.values() if lease.kind == "work")
        wish = Wish(leases=work, room=TARGETS_PER_SETTLE, delay_ms=0, per_host=TARGETS_PER_SETTLE)
        batches = [self._batch(chunk, done) for chunk in sorted({here.chunk for here in done})]
        settled = self._ledger.settle(self._job.id, batches, wish, "targets" if done else None)
        for chunk, answer in settled.answers.items():
            self._leases[chunk] = msgspec.structs.replace(self._leases[chunk], no=answer.no)
        return settled.claimed

    def _batch(self, chunk: int, done: tuple[Claimed, ...]) -> Batch:
        now, lease = SystemClock().wall_ms(), self._leases[chunk]
        verdicts = tuple(
            Verdict(target=here.id, move="skip", began_at=now, ended_at=now, disposition="excluded")
            for here in done
            if here.chunk == chunk
        )
        return Batch.freeze(chunk=chunk, epoch=lease.epoch, no=lease.no + 1, worker="bench", verdicts=verdicts)

    def close(self) -> None:
        """The job then stands as after a process that ended."""
        self._ledger.release(tuple(self._leases.values()))
        self._ledger.close()


def main(start: str, at: str, data: str, known: int) -> int:
    words = crawl_argv(Arena(start, at, 0, Path(data)), ["--data", data, "--quiet"])[3:]
    settings = Settings(data=Path(data))
    if holdfast([*words, "--start-paused"]) != 0:
        return 1
    watch = StopWatch()
    vars(settle)["write_checkpoint"] = watch
    alone = settles(settings, start, known, watch)
    began_s = time.process_time()
    if holdfast(words) != 0:
        return 1
    crawl = {**watch.taken(), "process_cpu_s": time.process_time() - began_s}
    counts = counts_of(settings)
    print(json.dumps({"targets": counts["discovered"], "pages": counts["succeeded"], "settles": alone, "crawl": crawl}))
    return 0


def settles(settings: Settings, start: str, known: int, watch: StopWatch) -> dict[str, Any]:
    """Fill the job, settle by hand, and leave it with its seed, ready to be crawled."""
    filler = Filler(settings)
    filler.plan(filler.made_up(start, known, disposition="excluded"))
    filler.plan(filler.made_up(start, SETTLES * TARGETS_PER_SETTLE))
    filler.settle_all()
    found = watch.taken()
    filler.plan(filler.seeds(), last=True)
    filler.close()
    return found


def counts_of(settings: Settings) -> dict[str, int]:
    ledger = wiring.open_ledger(settings)
    try:
        return ledger.books(ledger.jobs()[0].id)[1].seven()
    finally:
        ledger.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))

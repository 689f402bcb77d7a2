"""A small real ledger with a history: pages won, lost, skipped, retried, poisoned, in hand, paused and cancelled."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from holdfast.clock import ManualClock
from holdfast.model.claim import Settled, Wish
from holdfast.model.job import JobSpec
from holdfast.model.keys import seed_address
from holdfast.model.lease import Lease, Owner
from holdfast.model.outcome import Batch, BodyRef, PlanBatch, Record, Verdict
from holdfast.model.target import Claimed, Found
from holdfast.ports import Ledger
from holdfast.recipe import Context

BOOT = "boot"
MARSH, HERON = "https://marsh.test", "https://heron.test"  # two chunks, so that links cross


@dataclass(slots=True)
class Worker:
    """One process at work on one job; `lease` makes it the next process."""

    ledger: Ledger
    clock: ManualClock
    job: int
    pid: int = 0
    cursor: int = 0
    leases: dict[int, Lease] = field(default_factory=dict)

    def lease(self) -> None:
        self.pid += 1
        owner = Owner("marsh-host", BOOT, "ns", self.pid, self.pid)
        taken = self.ledger.lease(self.job, owner, life_s=30, want=16, is_dead=lambda owner: owner.pid < self.pid)
        self.leases = {lease.chunk: lease for lease in taken}

    def of_kind(self, kind: str) -> tuple[Lease, ...]:
        return tuple(lease for lease in self.leases.values() if lease.kind == kind)

    def found(self, url: str, disposition: str = "") -> Found:
        context = Context(params={}, salt=self.ledger.salt(), chunking="host")
        return context.found(
            seed_address(url), depth=1, disposition=disposition, rule="/secret/*" if disposition else ""
        )

    def plan(self, *found: Found, done: bool = False) -> None:
        [lease] = self.of_kind("plan")
        batch = PlanBatch.freeze(
            chunk=lease.chunk, epoch=lease.epoch, no=lease.no + 1, cursor=self.cursor,
            next_cursor=self.cursor + len(found), done=done, found=found,
        )  # fmt: skip
        self.cursor += len(found)
        self.leases[lease.chunk] = self.ledger.enqueue(self.job, batch)

    def claim(self, room: int, *, alone: bool = False) -> tuple[Claimed, ...]:
        self.clock.advance(1)
        wish = Wish(leases=self.of_kind("work"), room=room, delay_ms=0, per_host=20, alone=alone)
        return self._sent((), wish).claimed

    def settle(self, *verdicts: Verdict, chunk: int, checkpoint: str | None = None) -> None:
        self.clock.advance(1)
        lease = self.leases[chunk]
        batch = Batch.freeze(chunk=chunk, epoch=lease.epoch, no=lease.no + 1, worker="w", verdicts=verdicts)
        assert self._sent((batch,), None, checkpoint).answers[chunk].kind == "settled"

    def _sent(self, batches: tuple[Batch, ...], wish: Wish | None, checkpoint: str | None = None) -> Settled:
        settled = self.ledger.settle(self.job, batches, wish, checkpoint)
        for chunk, answer in settled.answers.items():
            self.leases[chunk] = msgspec.structs.replace(self.leases[chunk], no=answer.no)
        return settled

    def release(self) -> None:
        self.clock.advance(1)
        self.ledger.release(tuple(self.leases.values()))
        self.leases = {}


def begun(ledger: Ledger, clock: ManualClock, name: str) -> Worker:
    job, _ = ledger.submit(JobSpec(recipe="site", name=name, identity=name, params={}, chunking="host"))
    ledger.move(job.id, "start", actor="user", because="asked for")
    ledger.open_run(job.id, mode="full", trigger="cli")
    worker = Worker(ledger, clock, job.id)
    worker.lease()
    return worker


def verdict(target: Claimed, move: str, **more: object) -> Verdict:
    return Verdict(target=target.id, move=move, began_at=1, ended_at=2, **more)  # type: ignore[arg-type]


def won(target: Claimed, *found: Found, **more: object) -> Verdict:
    body = BodyRef(f"J/w-{target.id}.warc.gz", 0, 900, 14_000, bytes(range(32)), "text/html")
    records = (Record("page", b"{}"), Record("entity", b"{}"))
    return verdict(target, "succeed", disposition="page", body=body, records=records, found=found, **more)


def write_story(ledger: Ledger, clock: ManualClock) -> dict[str, int]:
    """Jobs by name: `fen` at work, `marsh` with everything in it, `pond` completed, `bog` cancelled, `weir` retried,
    `tarn` rolled back."""
    return {
        "fen": _at_work(ledger, clock),
        "marsh": _eventful(ledger, clock),
        "pond": _completed(ledger, clock),
        "bog": _cancelled(ledger, clock),
        "weir": _retried(ledger, clock),
        "tarn": _rolled_back(ledger, clock),
    }


def _at_work(ledger: Ledger, clock: ManualClock) -> int:
    """Holds a page of the host that the eventful job works as well."""
    worker = begun(ledger, clock, "fen")
    worker.plan(worker.found(f"{MARSH}/fen"))
    worker.claim(1)
    return worker.job


def _eventful(ledger: Ledger, clock: ManualClock) -> int:
    worker = begun(ledger, clock, "marsh")
    worker.plan(worker.found(f"{MARSH}/"))
    [seed] = worker.claim(1)
    pages = [worker.found(f"{MARSH}/frog/{n}") for n in range(9)]
    other = worker.found(f"{HERON}/nest"), worker.found(f"{MARSH}/secret/1", "excluded")
    context = Context(params={}, salt=ledger.salt(), chunking="host")
    external = (context.external(seed_address("https://far.test/")),)
    worker.settle(won(seed, *pages, *other, external=external), chunk=seed.chunk, checkpoint="targets")
    _every_ending(worker, seed.chunk)
    _deaths(worker, seed.chunk)
    _pause_and_resume(worker)
    _last_touches(worker, seed.chunk)
    return worker.job


def _every_ending(worker: Worker, chunk: int) -> None:
    """Of nine frogs: won, failed, skipped, retried, handed back; four stay in hand."""
    frogs = [target for target in worker.claim(20) if target.chunk == chunk]
    worker.settle(
        won(frogs[0], worker.found(f"{MARSH}/frog/0/eggs")),
        verdict(frogs[1], "fail", code="http_404", status_code=404, because="no such page"),
        verdict(frogs[2], "skip", disposition="duplicate", because="redirects to /"),
        verdict(frogs[3], "retry", code="http_5xx", wait_ms=5_000, because="503"),
        verdict(frogs[4], "hand_back", because="host asks for patience"),
        chunk=chunk, checkpoint="targets",
    )  # fmt: skip


def _deaths(worker: Worker, chunk: int) -> None:
    """The four and the nest die in company. One suspect is won; ten deaths alone poison two of the other four."""
    worker.lease()
    suspect = worker.claim(1, alone=True)[0]
    worker.settle(won(suspect), chunk=suspect.chunk)
    for _ in range(10):
        assert worker.claim(1, alone=True)
        worker.lease()
    worker.clock.advance(10)
    frogs = [target for target in worker.claim(20) if target.chunk == chunk]
    retried = [target for target in frogs if target.attempts == 2]
    worker.settle(*(won(target) for target in retried), chunk=chunk, checkpoint="interval")


def _pause_and_resume(worker: Worker) -> None:
    ledger, clock, job = worker.ledger, worker.clock, worker.job
    ledger.request(job, "pause", actor="user", because="lunch")
    worker.release()
    ledger.acknowledge(job, is_dead=lambda owner: False)
    clock.advance(60)
    ledger.move(job, "resume", actor="user", because="back")
    ledger.open_run(job, mode="resume", trigger="cli")
    worker.lease()


def _last_touches(worker: Worker, chunk: int) -> None:
    """After the last checkpoint: late finds, one more wait, one page in hand, the plan done."""
    worker.plan(worker.found(f"{MARSH}/late"), worker.found(f"{MARSH}/secret/2", "excluded"), done=True)
    frogs = [target for target in worker.claim(2) if target.chunk == chunk]
    worker.settle(
        verdict(frogs[0], "retry", code="network_error", wait_ms=60_000, because="reset"),
        chunk=chunk,
    )


def _completed(ledger: Ledger, clock: ManualClock) -> int:
    worker = begun(ledger, clock, "pond")
    worker.plan(worker.found("https://pond.test/"), done=True)
    [seed] = worker.claim(1)
    worker.settle(won(seed), chunk=seed.chunk)
    [control] = worker.of_kind("control")
    assert ledger.advance(worker.job, control) is not None
    worker.release()
    return worker.job


def _cancelled(ledger: Ledger, clock: ManualClock) -> int:
    worker = begun(ledger, clock, "bog")
    worker.plan(*(worker.found(f"https://bog.test/{n}") for n in range(5)), done=True)
    ledger.request(worker.job, "cancel", actor="user", because="enough")
    worker.release()
    ledger.acknowledge(worker.job, is_dead=lambda owner: False)
    while ledger.cancel_rest(worker.job, 2):
        pass
    return worker.job


def _retried(ledger: Ledger, clock: ManualClock) -> int:
    """Of three pages one succeeded; of the two that failed one was put back and has succeeded, the other waits."""
    worker = begun(ledger, clock, "weir")
    worker.plan(*(worker.found(f"https://weir.test/{n}") for n in range(3)), done=True)
    first, *others = worker.claim(3)
    lost = [verdict(each, "fail", code="http_404", because="no such page") for each in others]
    worker.settle(won(first), *lost, chunk=first.chunk, checkpoint="targets")
    [control] = worker.of_kind("control")
    assert ledger.advance(worker.job, control) is not None
    worker.release()
    clock.advance(1)
    ledger.reopen(worker.job, "retry", actor="user", because="again")
    assert ledger.walk(worker.job).requeued == 2
    worker.lease()
    [again] = worker.claim(1)
    worker.settle(won(again), chunk=again.chunk, checkpoint="targets")
    worker.release()
    return worker.job


def _rolled_back(ledger: Ledger, clock: ManualClock) -> int:
    """Of three pages one succeeded before its checkpoint, and one after it, which led to a fourth; then worked on."""
    worker = begun(ledger, clock, "tarn")
    worker.plan(*(worker.found(f"https://tarn.test/{n}") for n in range(3)), done=True)
    first, second, _ = worker.claim(3)
    worker.settle(won(first), chunk=first.chunk, checkpoint="targets")
    context = Context(params={}, salt=ledger.salt(), chunking="host")
    late = context.external(seed_address("https://late.test/"))
    worker.settle(
        won(second, worker.found("https://tarn.test/3"), external=(late,)), chunk=second.chunk, checkpoint="targets"
    )
    clock.advance(1)
    assert ledger.rollback(worker.job, 1, actor="user", is_dead=lambda owner: False).drops == 1
    clock.advance(1)
    ledger.move(worker.job, "resume", actor="user", because="once more")
    ledger.open_run(worker.job, mode="resume", trigger="cli")
    worker.lease()
    [again] = worker.claim(1)
    worker.settle(won(again), chunk=again.chunk, checkpoint="targets")
    worker.release()
    return worker.job

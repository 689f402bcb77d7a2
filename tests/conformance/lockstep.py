"""Two ledgers that are told the same and must answer the same: rows are compared by URL, chunks by their place.

One `Side` per ledger; both share one clock. A side's ids are its own: jobs are known by name, targets by URL, and a
chunk by its distance from its job's control chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from conformance import verdicts
from conformance.bench import Bench
from conformance.worker import Worker
from holdfast import faults
from holdfast.errors import HoldfastError
from holdfast.model.claim import SettleAnswer, Settled, Wish
from holdfast.model.lease import Lease, Owner
from holdfast.model.outcome import Batch, Verdict
from holdfast.model.target import Claimed, Found, TargetRow

HOSTS = 4
NAMES = ("marsh", "pond")


@dataclass
class Side:
    """One ledger with its jobs, its workers by slot, and the zombies that were once workers."""

    bench: Bench
    jobs: dict[str, int] = field(default_factory=dict)
    controls: dict[int, int] = field(default_factory=dict)  # job -> its control chunk
    workers: dict[int, Worker] = field(default_factory=dict)
    zombies: list[Worker] = field(default_factory=list)
    sent: dict[int, list[Batch]] = field(default_factory=dict)  # the last batches of each slot

    def submit(self, name: str) -> tuple[str, bool]:
        job, is_new = self.bench.ledger.submit(self.bench.spec(name))
        self.jobs[name] = job.id
        if is_new:
            self.controls[job.id] = self.bench.ledger.history(job.id)[0][0].chunk
        return job.name, is_new

    def hire(self, slot: int, owner: Owner) -> None:
        """A fresh worker in this slot, with nothing in hand."""
        job = self.jobs[NAMES[slot % len(NAMES)]]
        self.workers[slot] = self.bench.worker(job, ledger=self.bench.ledger, owner=owner)
        self.sent.pop(slot, None)

    def replace_worker(self, slot: int, owner: Owner, *, dead: bool) -> None:
        """The worker stops being heard of; it may still act as a zombie."""
        old = self.workers[slot]
        self.zombies = [*self.zombies, old][-4:]
        if dead:
            self.bench.dead.add(old.owner)
        self.hire(slot, owner)

    def found(self, page: int, depth: int) -> Found:
        """Pages of one host lie in one chunk and have ranks of their own, so that every claim has one right answer."""
        host = page % HOSTS
        return self.bench.found(f"https://h{host}.test/{page}", index=host, rank=page, depth=depth)

    def judge(self, worker: Worker, moves: Sequence[str], links: Sequence[int], wait_s: int) -> list[Verdict]:
        """One verdict per move on what is in hand, by URL; the first one also finds the links."""
        hand = sorted(worker.hand.values(), key=lambda here: here.url)
        made = [self._verdict(here, move, wait_s) for here, move in zip(hand, moves, strict=False)]
        found = tuple(self.found(page, 1) for page in links)
        skipped = self.bench.found("https://h0.test/deep", index=0, rank=99, disposition="excluded", rule="depth")
        return [_with_found(made[0], (*found, skipped)), *made[1:]] if made else []

    def _verdict(self, here: Claimed, move: str, wait_s: int) -> Verdict:
        if move == "retry" and wait_s:
            return verdicts.retry(here, wait_ms=wait_s * 1000, hold_host_ms=700)
        if move == "hand_back" and wait_s:
            return verdicts.hand_back(here, wait_ms=wait_s * 1000)
        make: dict[str, Callable[[Claimed], Verdict]] = {
            "succeed": verdicts.unchanged if here.before else verdicts.page,
            "skip": verdicts.skip,
            "fail": verdicts.fail,
            "retry": verdicts.retry,
            "hand_back": verdicts.hand_back,
        }
        return make[move](here)

    def reopen(self) -> None:
        """Close the connection and open another one; workers go on over it."""
        self.bench.reopen()
        for worker in [*self.workers.values(), *self.zombies]:
            worker.ledger = self.bench.ledger

    # Answers without ids

    def place(self, job: int, chunk: int) -> int:
        return chunk - self.controls[job]

    def lease_seen(self, item: Lease) -> tuple[Any, ...]:
        place = self.place(item.job, item.chunk)
        return (place, item.kind, item.index, item.epoch, item.no, item.phase, item.requested)

    def leases_seen(self, leases: Sequence[Lease]) -> list[tuple[Any, ...]]:
        return sorted(self.lease_seen(item) for item in leases)

    def claimed_seen(self, claimed: Sequence[Claimed]) -> list[tuple[Any, ...]]:
        return sorted(
            (c.url, c.host, c.depth, c.hops, c.attempts, c.generation, c.alone, c.epoch, c.before) for c in claimed
        )

    def settled_seen(self, job: int, settled: Settled, wish: Wish | None) -> dict[str, Any]:
        """What both ledgers must answer alike. How soon to look again is a hint; that there is something is not."""
        answers = {self.place(job, chunk): _answer_seen(a) for chunk, a in settled.answers.items()}
        whole = wish is not None and all(settled.answers[item.chunk].kind == "settled" for item in wish.leases)
        idle = settled.next_due_ms is None if whole and not settled.claimed else None
        return {
            "answers": answers,
            "claimed": self.claimed_seen(settled.claimed),
            "suspects": settled.suspects if whole else None,
            "idle": idle,
            "checkpoint": settled.checkpoint,
        }

    # Everything that a reader sees

    def visible(self) -> dict[str, Any]:
        return {name: self._job_seen(job) for name, job in self.jobs.items()}

    def _job_seen(self, job: int) -> dict[str, Any]:
        ledger = self.bench.ledger
        row, counts, point = ledger.books(job)
        events = ledger.history(job)[0]
        control, targets = self.controls[job], self.bench.targets(job)
        urls = {target.id: target.url for target in targets}
        commits = {int(chunk) - control: no for chunk, no in point.commits.items()} if point else None
        return {
            "job": replace(row, id=0, uid="", last_error=None, because=""),
            "counts": counts,
            "point": (point.number, point.reason, point.at, point.cursor, point.counts, commits) if point else None,
            "plan": (*ledger.plan(job), ledger.mode(job)),
            "targets": {
                t.url: (
                    t.status, t.disposition, t.rule, t.code if t.status == "failed" else None, t.depth, t.attempts,
                    urls.get(t.parent or 0), t.host, t.chunk - control, t.generation, self._wait(t), t.found_at,
                    t.settled_at, t.sha256,
                )
                for t in targets
            },
            "attempts": {t.url: self._attempts_seen(job, t.id) for t in targets if t.attempts},
            "pages": sorted((p.url, p.parent_url or "", p.run, p.sha256) for p in ledger.pages(job)),
            "holders": sorted(
                (h.chunk - control, h.kind, h.epoch, str(h.owner), h.lapsed) for h in ledger.holders(job)
            ),
            "events": sorted(
                (e.chunk - control, e.seq, e.at, e.actor, e.thing, e.verb, e.source, e.target) for e in events
            ),
            "entries": [(e.chunk - control, e.no, e.epoch, e.verb) for e in self.bench.probe.entries(job)],
        }  # fmt: skip

    def _wait(self, row: TargetRow) -> int | None:
        """Until when a target waits. A time that has come may be kept or dropped: the target is ready either way."""
        return row.not_before if (row.not_before or 0) > self.bench.clock.wall_ms() else None

    def _attempts_seen(self, job: int, target: int) -> list[tuple[Any, ...]]:
        rows = self.bench.ledger.history(job, target=target)[1]
        return [(a.n, a.worker, a.ended_at, a.outcome, a.code, a.status_code, a.bytes) for a in rows]


def _answer_seen(answer: SettleAnswer) -> tuple[Any, ...]:
    return ("lost",) if answer.kind == "lost" else (answer.kind, answer.no, answer.requested)


def _with_found(verdict: Verdict, found: tuple[Found, ...]) -> Verdict:
    return msgspec.structs.replace(verdict, found=found) if verdict.move in ("succeed", "skip") else verdict


def outcome(side: Side, do: Callable[[Side], Any], fault: str = "") -> tuple[str, Any]:
    """What a call came to: its answer, or the kind of its refusal."""
    faults.arm(fault)
    try:
        return "answer", do(side)
    except HoldfastError as refused:
        return "refused", type(refused).__name__
    finally:
        faults.arm("")

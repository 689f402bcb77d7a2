"""T1: the SQL ledgers against the one in memory, in lockstep, over drawn sequences of everything that can happen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from conformance.bench import Bench, memory_bench, postgres_bench, sqlite_bench
from conformance.lockstep import NAMES, Side, outcome
from conformance.worker import Worker
from holdfast.clock import ManualClock
from holdfast.model.edit import MODES
from servers import fresh_schema

SLOTS = st.sampled_from([0, 1, 2])  # slots 0 and 2 work the first job, slot 1 the second
JOBS = st.sampled_from(NAMES)
MOVES = st.lists(st.sampled_from(["succeed", "skip", "fail", "retry", "hand_back"]), min_size=1, max_size=6)
PAGES = st.lists(st.integers(0, 23), max_size=5, unique=True)
LIFE_S = 30.0

OpenSubject = Callable[[ManualClock], AbstractContextManager[Bench]]


class Lockstep(RuleBasedStateMachine):
    """The same calls to both sides; the same answers, and then the same visible rows."""

    open_subject: ClassVar[OpenSubject]
    examples: ClassVar[int]
    steps: ClassVar[int]

    def __init__(self) -> None:
        super().__init__()
        clock = ManualClock()
        self.clock = clock
        self._opened = type(self).open_subject(clock)
        subject = self._opened.__enter__()
        self.sides = [Side(memory_bench(clock, subject.ledger.salt())), Side(subject)]
        type(self).examples += 1

    def teardown(self) -> None:
        try:
            for side in self.sides:
                side.bench.check()
        finally:
            for side in self.sides:
                side.bench.close()
            self._opened.__exit__(None, None, None)

    def both(self, do: Callable[[Side], Any], fault: str = "") -> tuple[str, Any]:
        """Tell both sides, compare what they answer."""
        type(self).steps += 1
        model, subject = (outcome(side, do, fault) for side in self.sides)
        assert differences(dict([model]), dict([subject])) == []
        return model

    def send(self, slot: int, do: Callable[[Side, Worker], Any], fault: str = "") -> tuple[str, Any]:
        return self.both(lambda side: do(side, side.workers[slot]), fault)

    @initialize()
    def begin(self) -> None:
        for name in NAMES:
            self.both(lambda side, name=name: side.submit(name))
        for name in NAMES:
            self._move(name, "start")
        for slot in (0, 1, 2):
            owner = self.sides[0].bench.owner()
            self.both(lambda side, slot=slot, owner=owner: side.hire(slot, owner))
            self.send(slot, lambda side, worker: side.leases_seen(worker.lease(6)))
        for slot in (0, 1):
            self._enqueue(slot, list(range(12)), done=False)

    # People

    @rule(name=JOBS)
    def submit_again(self, name: str) -> None:
        self.both(lambda side: side.submit(name))

    @rule(name=JOBS, verb=st.sampled_from(["start", "resume", "resume"]))
    def move(self, name: str, verb: str) -> None:
        self._move(name, verb)

    def _move(self, name: str, verb: str) -> None:
        self.both(lambda side: side.bench.ledger.move(side.jobs[name], verb, actor="ann", because="go").status)

    @rule(name=JOBS, action=st.sampled_from(["pause", "pause", "pause", "cancel"]))
    def request(self, name: str, action: str) -> None:
        self.both(
            lambda side: side.bench.ledger.request(side.jobs[name], action, actor="ann", because="enough").requested
        )

    @rule(name=JOBS)
    def pause_and_resume(self, name: str) -> None:
        """Everybody lets go, so that the drawn sequences do not end in a paused job."""
        self.request(name, "pause")
        for slot in (0, 1, 2):
            if NAMES[slot % len(NAMES)] == name:
                self.release(slot)
        self.clock.advance(LIFE_S)
        self.acknowledge(name)
        self._move(name, "resume")

    @rule(name=JOBS, verb=st.sampled_from(["retry", "retry", "rescan", "restart"]), mode=st.sampled_from(MODES))
    def open_again(self, name: str, verb: str, mode: str) -> None:
        def ask(side: Side) -> int:
            return side.bench.ledger.reopen(side.jobs[name], verb, mode=mode, actor="ann", because="again").generation

        self.both(ask)

    @rule(name=JOBS, limit=st.sampled_from([1, 3, 1000]))
    def walk(self, name: str, limit: int) -> None:
        self.both(lambda side: side.bench.ledger.walk(side.jobs[name], limit=limit))

    @rule(name=JOBS, number=st.integers(1, 6))
    def roll_back(self, name: str, number: int) -> None:
        """Foretold and done; the workers of the job are zombies from here on, and it goes on."""

        def ask(side: Side) -> Any:
            job, is_dead = side.jobs[name], side.bench.is_dead
            told = side.bench.ledger.foretell_rollback(job, number, is_dead=is_dead)
            assert side.bench.ledger.rollback(job, number, actor="ann", is_dead=is_dead) == told
            return told

        if self.both(ask)[0] == "answer":
            self._move(name, "resume")

    @rule(name=JOBS)
    def acknowledge(self, name: str) -> None:
        def ask(side: Side) -> str | None:
            job = side.bench.ledger.acknowledge(side.jobs[name], is_dead=side.bench.is_dead)
            return None if job is None else job.status

        self.both(ask)

    @rule(name=JOBS)
    def cancel_rest(self, name: str) -> None:
        """All at once: which targets a slice takes is each ledger's own affair."""
        self.both(lambda side: side.bench.ledger.cancel_rest(side.jobs[name]))

    @rule(name=JOBS)
    def open_run(self, name: str) -> None:
        self.both(lambda side: side.bench.ledger.open_run(side.jobs[name], mode="full", trigger="cli"))

    # Workers

    @rule(slot=SLOTS, want=st.sampled_from([0, 1, 4, 16]))
    def lease(self, slot: int, want: int) -> None:
        self.send(slot, lambda side, worker: side.leases_seen(worker.lease(want)))

    @rule(slot=SLOTS, pages=PAGES, done=st.booleans(), unknown=st.booleans())
    def enqueue(self, slot: int, pages: list[int], done: bool, unknown: bool) -> None:
        self._enqueue(slot, pages, done, unknown)

    def _enqueue(self, slot: int, pages: list[int], done: bool, unknown: bool = False) -> None:
        if not self.sides[0].workers[slot].of_kind("plan"):
            return
        cursor = self.sides[0].bench.ledger.plan(self.sides[0].workers[slot].job)[0]
        batches = {
            id(side): side.workers[slot].plan_batch([side.found(page, 0) for page in pages], cursor=cursor, done=done)
            for side in self.sides
        }

        def ask(side: Side, worker: Worker) -> Any:
            lease = worker.ledger.enqueue(worker.job, batches[id(side)])
            worker.leases[lease.chunk] = lease
            return side.lease_seen(lease)

        if unknown:
            self.send(slot, ask, "enqueue.after_commit:1:unknown")
        self.send(slot, ask)

    @rule(
        slot=SLOTS,
        room=st.sampled_from([1, 3, 100, 100]),
        delay_ms=st.sampled_from([0, 0, 500, 3000]),
        per_host=st.sampled_from([1, 2, 100]),
        alone=st.booleans(),
        unknown=st.booleans(),
    )
    def claim(self, slot: int, room: int, delay_ms: int, per_host: int, alone: bool, unknown: bool) -> None:
        """Little room only in one chunk: which of several lanes gives first is each ledger's own affair."""
        self.clock.advance(1)  # a lane that was looked at in vain may be left alone for a moment

        def ask(side: Side, worker: Worker) -> Any:
            wish = self._wish(worker, room, delay_ms, per_host, alone)
            return side.settled_seen(worker.job, worker.send([], wish), wish)

        if unknown:
            self.send(slot, ask, "claim.after_commit:1:unknown")
            self.adopt(slot)
        else:
            self.send(slot, ask)

    def _wish(self, worker: Worker, room: int, delay_ms: int, per_host: int, alone: bool) -> Any:
        only = worker.work if alone or room == 100 else worker.work[:1]
        return worker.wish(room, delay_ms=delay_ms, per_host=per_host, alone=alone, only=only, compared=True)

    @rule(
        slot=SLOTS,
        moves=MOVES,
        links=PAGES,
        wait_s=st.sampled_from([0, 2, 20]),
        claims=st.booleans(),
        checkpoint=st.sampled_from([None, "targets"]),
        unknown=st.booleans(),
    )
    def settle(
        self,
        slot: int,
        moves: list[str],
        links: list[int],
        wait_s: int,
        claims: bool,
        checkpoint: str | None,
        unknown: bool,
    ) -> None:
        """With an unknown outcome the same frozen batches are sent once more, blindly."""
        self._take_up(slot)
        self.clock.advance(1)
        for side in self.sides:
            worker = side.workers[slot]
            side.sent[slot] = worker.batches(*side.judge(worker, moves, links, wait_s))

        def ask(side: Side, worker: Worker) -> Any:
            wish = self._wish(worker, 100, 0, 2, alone=False) if claims else None
            return side.settled_seen(worker.job, worker.send(side.sent[slot], wish, checkpoint), wish)

        if unknown and self.sides[0].sent[slot]:
            self.send(slot, ask, "settle.after_commit:1:unknown")
            self.send(slot, ask)
            self.adopt(slot)
        else:
            self.send(slot, ask)

    def _take_up(self, slot: int) -> None:
        """Lease and claim where there is nothing in hand: left to chance, most settles would settle nothing."""
        if not self.sides[0].workers[slot].work:
            self.lease(slot, 4)
        if not self.sides[0].workers[slot].hand:
            self.claim(slot, 100, 0, 3, alone=False, unknown=False)
        if not self.sides[0].workers[slot].hand:
            self.claim(slot, 100, 0, 3, alone=True, unknown=False)

    @rule(slot=SLOTS, others=st.integers(0, 2))
    def die_at_work(self, slot: int, others: int) -> None:
        """A worker dies with targets in hand, and others after it, each with what it then had."""
        for _ in range(1 + others):
            self._take_up(slot)
            self.give_up(slot, dead=True)
            self.lease(slot, 16)

    @rule(slot=SLOTS)
    def replay(self, slot: int) -> None:
        """The last batches of this worker once more, however long ago that was."""

        def ask(side: Side, worker: Worker) -> Any:
            settled = worker.ledger.settle(worker.job, side.sent.get(slot, []))
            return side.settled_seen(worker.job, settled, None)

        self.send(slot, ask)

    @rule(moves=MOVES, claims=st.booleans())
    def zombie_acts(self, moves: list[str], claims: bool) -> None:
        """One that was given up settles what it still believes to hold, and asks for more."""
        if not self.sides[0].zombies:
            return
        self.clock.advance(1)

        def ask(side: Side) -> Any:
            zombie = side.zombies[-1]
            batches = zombie.batches(*side.judge(zombie, moves, [], 0))
            wish = self._wish(zombie, 100, 0, 2, alone=False) if claims else None
            return side.settled_seen(zombie.job, zombie.send(batches, wish, "targets"), wish)

        self.both(ask)

    @rule()
    def zombie_renews(self) -> None:
        """It does not heed the answer."""
        if not self.sides[0].zombies:
            return

        def ask(side: Side) -> Any:
            zombie = side.zombies[-1]
            leases = list(zombie.leases.values())
            return side.leases_seen(zombie.ledger.renew(leases, life_s=LIFE_S, active_ms=10))

        self.both(ask)

    @rule(slot=SLOTS)
    def adopt(self, slot: int) -> None:
        def ask(side: Side, worker: Worker) -> Any:
            return side.claimed_seen(worker.adopt()), side.leases_seen(list(worker.leases.values()))

        self.send(slot, ask)

    @rule(slot=SLOTS, active_ms=st.integers(0, 5000))
    def renew(self, slot: int, active_ms: int) -> None:
        self.send(slot, lambda side, worker: side.leases_seen(worker.renew(active_ms)))

    @rule(slot=SLOTS)
    def release(self, slot: int) -> None:
        self.send(slot, lambda side, worker: worker.release())

    @rule(slot=SLOTS, dead=st.booleans())
    def give_up(self, slot: int, dead: bool) -> None:
        """A worker is not heard of again: it died, or only seems to have."""
        owner = self.sides[0].bench.owner()
        self.both(lambda side: side.replace_worker(slot, owner, dead=dead))

    @rule(name=JOBS)
    def rescue(self, name: str) -> None:
        self.both(lambda side: side.bench.ledger.rescue(side.jobs[name], is_dead=side.bench.is_dead))

    @rule(slot=SLOTS)
    def finish(self, slot: int) -> None:
        if not self.sides[0].workers[slot].of_kind("control"):
            return

        def ask(side: Side, worker: Worker) -> tuple[str, str | None] | None:
            job = worker.ledger.advance(worker.job, worker.control)
            return None if job is None else (job.status, job.health)

        self.send(slot, ask)

    @rule(slot=SLOTS)
    def work_to_the_end(self, slot: int) -> None:
        """Plan nothing more, settle everything that can be had, and say the word: drawn by chance it is rare."""
        self._enqueue(slot, [], done=True)
        self.lease(slot, 16)
        for _ in range(6):
            self.clock.advance(7)
            self.settle(slot, ["succeed"] * 40, [], 0, claims=False, checkpoint=None, unknown=False)
        self.finish(slot)

    @rule(
        slot=SLOTS,
        verb=st.sampled_from(["retry", "rescan"]),
        mode=st.sampled_from(MODES),
        limit=st.sampled_from([2, 1000]),
    )
    def open_again_after_the_end(self, slot: int, verb: str, mode: str, limit: int) -> None:
        """A completed job once more, its walk cut into slices with work in between: drawn by chance it is rare."""
        name = NAMES[slot % len(NAMES)]
        self.settle(slot, ["succeed", "fail"] * 3, [], 0, claims=False, checkpoint=None, unknown=False)
        self.work_to_the_end(slot)
        self.open_again(name, verb, mode)
        self.walk(name, limit)
        self.lease(slot, 16)
        self.settle(slot, ["succeed", "fail"], [], 0, claims=True, checkpoint="targets", unknown=False)
        self.walk(name, limit)

    # The world

    @rule(seconds=st.sampled_from([0.05, 1, 7, LIFE_S, 61]))
    def tick(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule()
    def reopen(self) -> None:
        self.both(lambda side: side.reopen())

    @invariant()
    def the_sides_agree(self) -> None:
        model, subject = (side.visible() for side in self.sides)
        assert differences(model, subject) == []


def differences(model: Any, subject: Any, at: str = "") -> list[str]:
    """Where two trees of dicts differ, one line per leaf."""
    if isinstance(model, dict) and isinstance(subject, dict):
        keys = sorted({*model, *subject}, key=str)
        return [line for key in keys for line in differences(model.get(key), subject.get(key), f"{at}/{key}")]
    return [] if model == subject else [f"{at}: {subject} instead of {model}"]


@contextmanager
def sqlite_subject(clock: ManualClock) -> Iterator[Bench]:
    with TemporaryDirectory() as folder:
        yield sqlite_bench(Path(folder) / "ledger.db", clock)


def run(subject: OpenSubject, examples: int, steps: int) -> str:
    """Run that many drawn sequences; what was really run, for the record."""

    class Machine(Lockstep):
        open_subject = staticmethod(subject)
        examples = 0
        steps = 0

    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Machine.examples >= examples
    return f"{Machine.examples} examples, {Machine.steps} calls compared"


@pytest.mark.timeout(900)
def test_sqlite_and_memory_never_differ(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run(sqlite_subject, examples=100, steps=50)
    with capsys.disabled():
        print(f"\nT1 sqlite: {ran}")


@pytest.mark.timeout(900)
def test_postgres_and_memory_never_differ(pg_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    @contextmanager
    def postgres_subject(clock: ManualClock) -> Iterator[Bench]:
        with fresh_schema(pg_url) as url:
            yield postgres_bench(url, clock)

    ran = run(postgres_subject, examples=30, steps=30)
    with capsys.disabled():
        print(f"\nT1 postgres: {ran}")


@pytest.mark.timeout(900)
def test_memory_never_differs_from_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """The machine itself: what it compares must not depend on ids, salts or chance."""

    @contextmanager
    def memory_subject(clock: ManualClock) -> Iterator[Bench]:
        yield memory_bench(clock)

    ran = run(memory_subject, examples=40, steps=40)
    with capsys.disabled():
        print(f"\nT1 memory: {ran}")

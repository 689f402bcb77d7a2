"""A simulated process: it leases, plans, claims, fetches, settles, renews and lets go as the engine does, one call at a
time. What goes wrong with it is decided elsewhere; here is what it then does about it.
"""

from __future__ import annotations

from conformance import verdicts
from conformance.worker import LIFE_S
from crash.storm.around import Around, Lost
from crash.storm.session import IDLE_MS, RENEW_MS, Session
from crash.storm.site import PLANNED
from crash.storm.zombie import act_as_zombie
from holdfast.errors import LostLease
from holdfast.model.claim import Wish
from holdfast.model.job import WORK_CHUNKS
from holdfast.model.outcome import Batch
from holdfast.ports import Ledger

ROOM = 3
PLAN_BATCH = 2
OVER = ("completed", "cancelled")
PROVEN_SHARE = 0.6  # of the deaths: others can see them; the rest are only silent


class Process:
    """`at` is its session. `rude`: what it does after its sleep before it looks at the clock."""

    def __init__(self, around: Around, ledger: Ledger) -> None:
        self._around, self._ledger = around, ledger
        self.is_dead = self.is_doomed = False
        self.asleep_until_ms = 0
        self.rude: list[str] = []
        self.at = Session(around, ledger)

    @property
    def pid(self) -> int:
        return self.at.worker.owner.pid

    def believes(self) -> dict[int, int]:
        return {} if self.is_dead else self.at.holds()

    def act(self) -> float:
        """Do the first thing that is to be done; how many seconds to rest then."""
        if self.asleep_until_ms > self.at.now:
            return (self.asleep_until_ms - self.at.now) / 1000
        self.asleep_until_ms = 0
        if self._around.witness.last.status in OVER and not self.rude:
            return IDLE_MS / 1000
        deeds = (
            self._be_rude, self._let_go, self._renew, self._repeat, self._adopt, self._lease, self._plan, self._settle,
            self._stop, self._claim, self._finish,
        )  # fmt: skip
        try:
            is_busy = any(deed() for deed in deeds)
        except Lost:
            is_busy = True
        self.at.forget_what_is_lost()
        return float(self._around.choose(0.01, 0.05, 0.4)) if is_busy else self.at.rests_s()

    def sleep(self, ms: int, rude: list[str]) -> None:
        """Stopped; when it wakes up it may first do some things without a look at the clock."""
        self.asleep_until_ms, self.rude = self.at.now + ms, rude
        self._around.note(f"sleeps for {ms / 1000:.0f} s", self)

    def die(self, why: str) -> None:
        self.is_dead = True
        if self._around.draw(PROVEN_SHARE):
            self._around.bench.dead.add(self.at.worker.owner)
        self._around.note(why, self)
        self._around.bury(self)

    # Its deeds, in the order in which it thinks of them: each tells whether it had something to do

    def _be_rude(self) -> bool:
        if not self.rude or not self.at.worker.leases:
            self.rude.clear()
            return False
        deed = self.rude.pop()
        self._around.note(f"zombie: {deed}", self)
        if self.at.unanswered is not None or self.at.must_adopt:
            return self._repeat()  # whoever waits for an answer sends nothing else
        act_as_zombie(self._around, self.at, deed)
        return True

    def _let_go(self) -> bool:
        """The self-fence: by its own count a lease has run out, so it may neither fetch nor settle."""
        if len(self.at.holds()) < len(self.at.worker.leases):
            self._around.note("lets go", self)
            self.at = Session(self._around, self._ledger)
        return False

    def _renew(self) -> bool:
        at = self.at
        if not at.worker.leases or at.now < at.renew_at_ms:
            return False
        if self._around.is_rough and self._around.draw(0.1):
            at.worker.ledger.renew(list(at.worker.leases.values()), life_s=LIFE_S, active_ms=10)
            self._around.note("the answer to a renewal is lost", self)
            at.renew_at_ms = at.now + RENEW_MS // 5
            return True
        at.keep(at.worker.renew(active_ms=10), at.now)
        return True

    def _repeat(self) -> bool:
        """An unknown outcome: the same frozen batches once more, blindly and without a claim."""
        at, batches = self.at, self.at.unanswered
        if batches is None:
            return False
        at.learn(self._around.call(self, "settle", lambda: at.worker.send(batches)))
        at.unanswered = None
        return True

    def _adopt(self) -> bool:
        """What the ledger says is ours may be more than we were told."""
        at = self.at
        if not at.must_adopt:
            return False
        known = set(at.hand)
        at.fetch(here for here in at.worker.adopt() if here.id not in known)
        at.must_adopt = False
        return True

    def _lease(self) -> bool:
        at = self.at
        if at.worker.leases or at.now < at.idle_until_ms:
            return False
        if not self._around.witness.last.is_open and self._around.draw(0.7):
            at.idle(IDLE_MS, had=False)  # it looked at the job first: nothing can be had now
            return False
        want = WORK_CHUNKS // self._around.size + self._around.choose(1, 2, 4)
        at.asked_ms = at.asked_ms or at.now  # where the answer is lost, it counts from the first time on
        taken = self._around.call(self, "lease", lambda: at.worker.lease(want))
        at.keep(taken, at.asked_ms)
        at.asked_ms = 0
        at.idle(IDLE_MS, had=bool(taken))
        return True

    def _plan(self) -> bool:
        at = self.at
        if at.is_planned or at.is_stopping or not at.worker.of_kind("plan"):
            return False
        if at.unplanned is None:
            cursor, at.is_planned, _ = at.worker.ledger.plan(at.worker.job)
            if at.is_planned:
                return False
            pages = PLANNED[cursor : cursor + PLAN_BATCH]
            found = [self._around.site.found(self._around.bench, page, 0) for page in pages]
            at.unplanned = at.worker.plan_batch(found, cursor=cursor, done=pages[-1] == PLANNED[-1])
        batch = at.unplanned
        try:
            lease = self._around.call(self, "enqueue", lambda: at.worker.ledger.enqueue(at.worker.job, batch))
            at.worker.leases[lease.chunk] = lease
        except LostLease:
            at.worker.leases.pop(batch.chunk)
        at.unplanned = None
        return True

    def _settle(self) -> bool:
        at, draw = self.at, self._around.draw
        self._gather()
        if not at.done or (len(at.done) < len(at.hand) and draw(0.4)):
            return False
        wish = None if at.is_stopping or at.is_alone or draw(0.4) else self._wish()
        self._send(at.worker.batches(*at.done.values()), wish, "targets" if draw(0.15) else None)
        return True

    def _gather(self) -> None:
        """Fetches that have come to their end. One page may take its process with it."""
        at, site = self.at, self._around.site
        for target, ends_ms in list(at.running.items()):
            if ends_ms <= at.now and target in at.hand:
                here = at.hand[target]
                if site.kills(here):
                    self.die("is killed by its page")
                    raise Lost
                del at.running[target]
                at.done[target] = site.verdict(self._around.bench, here)

    def _stop(self) -> bool:
        """Asked to stop: what is in hand is finished or handed back, then the chunks are released."""
        at = self.at
        if not at.is_stopping or not at.worker.leases:
            return False
        if at.hand:
            if not at.running or self._around.draw(0.5):
                return False
            back = [verdicts.hand_back(at.hand[target]) for target in at.running]
            self._send(at.worker.batches(*back, *at.done.values()), None, None)
            return True
        self._leave()
        self._ledger.acknowledge(self._around.job, is_dead=self._around.bench.is_dead)
        return True

    def _claim(self) -> bool:
        at = self.at
        if at.is_stopping or at.is_alone or not at.worker.work or len(at.hand) >= ROOM or at.now < at.idle_until_ms:
            return False
        if at.suspects and at.hand and self._around.draw(0.5):
            return False  # draining, so that a suspect can be tried alone
        self._send([], at.worker.wish(1, alone=True) if at.suspects and not at.hand else self._wish(), None)
        return True

    def _wish(self) -> Wish:
        choose = self._around.choose
        return self.at.worker.wish(choose(1, 2, ROOM), delay_ms=choose(0, 0, 500), per_host=choose(1, 2))

    def _finish(self) -> bool:
        """Nothing in hand and nothing to be had: perhaps that was all."""
        at, ledger, job = self.at, self._ledger, self._around.job
        if at.hand or not at.worker.leases or at.suspects or at.now < at.finish_at_ms:
            return False
        at.finish_at_ms = at.now + self._around.choose(3_000, 9_000)
        if at.worker.of_kind("control"):
            if ledger.walking(job) is not None:
                ledger.walk(job, limit=self._around.choose(3, 100))
            if ledger.advance(job, at.worker.control) is None or self._around.draw(0.3):
                return True
        elif self._around.draw(0.8):
            at.must_adopt = self._around.draw(0.2)
            return False
        self._leave()
        return True

    def _leave(self) -> None:
        self.at.worker.release()
        self.at = Session(self._around, self._ledger)

    def _send(self, batches: list[Batch], wish: Wish | None, checkpoint: str | None) -> None:
        at, verb = self.at, "settle" if batches else "claim"
        try:
            settled = self._around.call(self, verb, lambda: at.worker.send(batches, wish, checkpoint))
        except Lost:
            at.unanswered, at.must_adopt = batches or None, True
            raise
        at.learn(settled)
        if wish is not None:
            at.idle(settled.next_due_ms or IDLE_MS, had=bool(settled.claimed))

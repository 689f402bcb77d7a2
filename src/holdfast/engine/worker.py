"""The worker loop: claim, execute, judge, settle, in groups, until the job is drained or told to stop.

All state lives on the event loop's thread. Between two commits a worker's death loses nothing that was acked.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.clock import Clock, jittered
from holdfast.engine import joblog
from holdfast.engine.blocks import Blocks
from holdfast.engine.bodies import named, pack_ahead, stored
from holdfast.engine.checkpointer import Checkpointer
from holdfast.engine.execute import Executor, Finished, handed_back
from holdfast.engine.group import Committed, Group
from holdfast.engine.heartbeat import Heartbeat
from holdfast.engine.ledger_thread import LedgerThread
from holdfast.engine.pace import Pace
from holdfast.engine.planner import Planner
from holdfast.errors import LostLease
from holdfast.model.claim import Wish
from holdfast.model.job import Job, Options
from holdfast.model.target import Claimed
from holdfast.policy.blocking import blocking
from holdfast.policy.politeness import FORBIDDEN
from holdfast.ports import Blobs, Files, Journal, Ledger

if TYPE_CHECKING:
    from random import Random

log = logging.getLogger(__name__)

GROUP_MAX = 256
LINGER_S = 0.005
IDLE_WAIT_S = 0.25
CATCH_UP_S = 0.05
SUSPECT_REST_MS = 500
PLAN_REST_MS = 1_000
SWEEP_EVERY_MS = 5_000
TURN_KEPT_MS = 50  # a delay runs from the claim; a fetch that begins later than this takes another turn
LIMIT_POLL_MS = 50  # at the page limit, a page in hand that is to be tried again makes room for another
BLOCKED = "blocked"
LIMIT_GRACE_S = 1.0  # a time limit is kept to about a second: pages in hand get no more


@dataclass(slots=True)
class Orders:
    """What the worker was told from outside: stop claiming, why, and until when pages in hand may go on."""

    stop: str | None = None  # "pause", "cancel", "time_out", "drain", "disk_full", "blocked", "lost"
    deadline_ms: int | None = None
    because: str = ""  # where that is not told by the word


@dataclass(slots=True)
class Worker:
    """One process's work on one job. `run` returns when nothing is in hand and there is nothing to do or a stop."""

    job: Job
    options: Options
    clock: Clock
    thread: LedgerThread
    group: Group
    blobs: Blobs
    executor: Executor
    heartbeat: Heartbeat
    checkpointer: Checkpointer
    planner: Planner | None
    has_room: Callable[[], bool]
    on_commit: Callable[[Committed, int], None]
    on_idle: Callable[[Ledger], None]
    stop_deadline_s: float
    in_levels: bool
    random: Random
    pace: Pace
    blocks: Blocks | None = None
    named: bool = False  # whether targets may have names and params
    compared: bool = False  # whether only what is new or changed is wanted
    made: tuple[str, ...] = ()  # types of targets that stand for no request
    pages_max: int | None = None  # the job's page limit, over all workers
    in_hand_max: int = 0  # claims at once, those in the queue included; 0: twice what may be in flight
    journal: Journal | None = None
    files: Files | None = None
    orders: Orders = field(default_factory=Orders)
    taken: int = 0  # targets that were ever claimed
    _queue: deque[Claimed] = field(default_factory=deque)
    _running: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _begun: dict[int, Claimed] = field(default_factory=dict)  # what is running
    _waiting: list[Finished] = field(default_factory=list)  # worked, nothing of it is saved
    _linger: asyncio.TimerHandle | None = None
    _carrying: asyncio.Task[None] | None = None
    _packing: asyncio.Task[None] | None = None
    _sent: Sequence[Finished] = ()  # on the way to the disk and the ledger, not yet settled
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _turn: int = 0
    _idle_until_ms: int = 0
    _suspects: int = 0
    _alone: set[int] = field(default_factory=set)
    _plan_rest_ms: int = 0
    _swept_ms: int = 0
    _suspect_rest_ms: int = 0
    _drained: bool = False
    _asked_ms: dict[int, int] = field(default_factory=dict)  # when the claim was asked for, of hosts with a delay
    _lost_chunks: set[int] = field(default_factory=set)
    _failure: BaseException | None = None

    async def run(self) -> bool:
        """Work until drained (True) or stopped (False). Nothing is in hand afterwards."""
        self._drained, self._idle_until_ms = False, 0
        try:
            while not self._is_over():
                if self._failure is not None:
                    raise self._failure
                await self._plan()
                await self._obey()
                self._start_tasks()
                self._send()
                if self._should_sweep():
                    await self.thread.insist(self.on_idle)
                    await self._give_up_blocked()
                else:
                    await self._rest()
        finally:
            await self._abandon()
        return self._drained

    async def _give_up_blocked(self) -> None:
        """Nothing is in hand, and what is left may be of hosts that block us only."""
        if self.blocks is not None and (because := await self.blocks.pausing()):
            self.stop(BLOCKED, because)

    def stop(self, why: str, because: str = "") -> None:
        """Claim nothing more; pages in hand get a deadline. A second order does not lengthen the first's."""
        grace_s = min(LIMIT_GRACE_S, self.stop_deadline_s) if why == "time_out" else self.stop_deadline_s
        deadline_ms = self.clock.monotonic_ms() + round(grace_s * 1000)
        if self.orders.stop is None:
            self.orders.stop, self.orders.because = why, because
            self.orders.deadline_ms = deadline_ms
        elif self.orders.deadline_ms is not None:
            self.orders.deadline_ms = min(self.orders.deadline_ms, deadline_ms)
        self._wake.set()

    def heard(self, lost: set[int], requested: str | None) -> None:
        """From the heartbeat: chunks that are no longer ours, and a request that stands on one that is."""
        self._lost_chunks |= lost
        if requested is not None:
            self.stop(requested)
        self._wake.set()

    async def wait(self, seconds: float) -> None:
        """Between two runs. An order to stop ends it at once."""
        self._wake.clear()
        if self.orders.stop is not None:
            return
        resting = asyncio.ensure_future(self.clock.wait(seconds))
        woken = asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait((resting, woken), return_when=asyncio.FIRST_COMPLETED)
        finally:
            resting.cancel()
            woken.cancel()
            await asyncio.gather(resting, woken, return_exceptions=True)

    @property
    def in_flight(self) -> int:
        return len(self._running)

    def worked_by(self, task: asyncio.Task[Any] | None) -> str | None:
        """The URL that this task works. May be asked from another thread."""
        working = next((target for target, each in list(self._running.items()) if each is task), None)
        claimed = None if working is None else self._begun.get(working)
        return None if claimed is None else claimed.url

    @property
    def not_saved(self) -> int:
        """Pages that were worked and whose results no commit has taken."""
        return sum(item.verdict.move != "hand_back" for item in self._unsettled())

    @property
    def held_bytes(self) -> tuple[int, int]:
        """Of answers: what steps hold, and what waits for its commit."""
        bodies = (item.body for item in self._unsettled() if item.body is not None)
        return self.executor.held_bytes, sum(len(body.content) for body in bodies)

    def _unsettled(self) -> list[Finished]:
        return [*self._waiting, *self._sent]

    def _in_hand(self) -> int:
        return len(self._queue) + len(self._running) + len(self._waiting) + len(self._sent)

    def _is_over(self) -> bool:
        return self._in_hand() == 0 and self._carrying is None and (self.orders.stop is not None or self._drained)

    async def _plan(self) -> None:
        """The next batch of the plan, unless enough is pending: then it is asked again in a while."""
        planner, now = self.planner, self.clock.monotonic_ms()
        if planner is None or planner.done or self.orders.stop is not None or now < self._plan_rest_ms:
            return
        try:
            if await self.thread.insist(planner.advance):
                self._idle_until_ms = 0
            else:
                self._plan_rest_ms = now + PLAN_REST_MS
        except LostLease:
            self.stop("lost")

    async def adopt(self) -> None:
        """What the ledger says we hold and we do not know of: a claim whose answer was lost and came true later."""
        self._take(await self.thread.call(self.group.adopt))

    async def _obey(self) -> None:
        """Self-fence and stop orders: hand back what was not begun; after the deadline also what was."""
        if self._lost_chunks:
            lost, self._lost_chunks = self._lost_chunks, set()
            await self.thread.call(lambda _: self.group.drop(lost))
            self._drop_lost(set(self.group.leases))
        while self.heartbeat.is_behind() and not self.heartbeat.usable():
            await self.clock.wait(CATCH_UP_S)  # we stood still; perhaps our leases were not taken meanwhile
        if not self.heartbeat.usable() and self.orders.stop is None:
            self.stop("lost")
            self.orders.deadline_ms = self.clock.monotonic_ms()
        if self.orders.stop is None:
            return
        now = self.clock.wall_ms()
        while self._queue:
            self._add_waiting(handed_back(self._queue.popleft(), now, f"stopped: {self.orders.stop}"))
        if self.orders.deadline_ms is not None and self.clock.monotonic_ms() >= self.orders.deadline_ms:
            for task in self._running.values():
                task.cancel()

    def _start_tasks(self) -> None:
        """Self-fenced: no fetch begins under a lease that may have lapsed."""
        now = self.clock.monotonic_ms()
        for _ in range(len(self._queue)):
            if len(self._running) >= self.options.concurrency or not self.heartbeat.usable():
                return
            claimed = self._queue.popleft()
            if self.pace.is_held(claimed.host, now):
                self._add_waiting(handed_back(claimed, self.clock.wall_ms(), "the host asked for patience"))
            elif self.pace.wait_ms(claimed.host, now) > 0:
                self._queue.append(claimed)
            else:
                self.pace.started(claimed.host, now, claimed.delay_ms)
                self._begun[claimed.id] = claimed
                late = self._is_late(claimed, now)
                self._running[claimed.id] = asyncio.get_running_loop().create_task(self._work(claimed, late))

    def _is_late(self, claimed: Claimed, now_ms: int) -> bool:
        """Whether the turn that the claim took is over: a commit that lasted, a place in the queue."""
        asked_ms = self._asked_ms.pop(claimed.id, None)
        return asked_ms is not None and now_ms - asked_ms > TURN_KEPT_MS

    async def _work(self, claimed: Claimed, late: bool) -> None:
        if self.journal is not None and self.journal.debug:
            joblog.target_started(self.journal, claimed)
        try:
            finished = await self.executor.work(claimed, late=late)
        except asyncio.CancelledError:
            finished = handed_back(claimed, self.clock.wall_ms(), "interrupted at the deadline")
        except BaseException as failure:  # noqa: BLE001 - ours, not the page's: the loop raises it and stops
            self._failure = failure
            self._wake.set()
            return
        finally:
            self._running.pop(claimed.id, None)
            self._begun.pop(claimed.id, None)
        if self.orders.stop == BLOCKED and finished.verdict.code == FORBIDDEN:
            finished = handed_back(claimed, self.clock.wall_ms(), self.orders.because)  # not the page's fault
        if finished.verdict.hold_host_ms:
            self.pace.hold(claimed.host, finished.verdict.hold_host_ms, self.clock.monotonic_ms())
        if finished.ran_short and (rest_ms := self.pace.run_short(self.clock.monotonic_ms())):
            log.warning("%s; nothing is fetched for %g s", finished.verdict.because, rest_ms / 1000)
        if self.journal is not None and (finished.verdict.move in joblog.LOUD or self.journal.debug):
            joblog.target_worked(self.journal, finished)
        self._add_waiting(finished)
        if finished.pauses_job:
            self.stop(finished.pauses_job, finished.verdict.because.removeprefix(f"{finished.pauses_job}: "))
        if self.orders.stop is None:
            self._start_tasks()  # do not wait for a commit that is under way
        self._send()
        self._pack_ahead()

    def _pack_ahead(self) -> None:
        """Where everything in hand waits for the commit that is under way, the next one is made shorter meanwhile."""
        waiting = self._waiting
        if self._running or self._queue or self._carrying is None or (self._packing and not self._packing.done()):
            return

        def is_idle() -> bool:
            return self._waiting is waiting and not self._running

        self._packing = asyncio.get_running_loop().create_task(pack_ahead(self.blobs, waiting, is_idle))

    def _add_waiting(self, finished: Finished) -> None:
        if not self._waiting and self._linger is None:
            self._linger = asyncio.get_running_loop().call_later(LINGER_S, self._lingered)
        self._waiting.append(finished)

    def _lingered(self) -> None:
        self._linger = None
        self._send()

    def _stop_lingering(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None

    def _send(self) -> None:
        """Send a group on its way when half of what is in flight waits, or something waited long enough.

        Without one, a claim goes alone as soon as it is worth asking. One at a time: several were tried, and smaller
        groups cost more than their overlap brought.
        """
        if self._failure is not None or self._carrying is not None:
            return
        waiting = len(self._waiting)
        ripe = waiting >= GROUP_MAX or waiting >= len(self._running) or self._linger is None
        group: Sequence[Finished] = ()
        if waiting and ripe:
            group, self._waiting = self._waiting[:GROUP_MAX], self._waiting[GROUP_MAX:]
            self._stop_lingering()
        wish = self._wish(group)
        if group or wish is not None:
            self._sent = group
            self._carrying = asyncio.get_running_loop().create_task(self._carry(group, wish))

    def _should_sweep(self) -> bool:
        """With nothing to do, now and then: perhaps a dead worker of another job keeps our host's slots."""
        now = self.clock.monotonic_ms()
        if self._in_hand() or now - self._swept_ms < SWEEP_EVERY_MS:
            return False
        self._swept_ms = now
        return True

    def _wish(self, group: Sequence[Finished]) -> Wish | None:
        """What to claim in the commit that settles this group, if anything. Suspects are claimed alone, with nothing
        else in hand.

        A commit that settles claims whatever there is room for; only for a claim, none is made while enough is in hand,
        nor while nothing is due: but what was just worked may have found something that is.
        """
        now = self.clock.monotonic_ms()
        worked = any(item.verdict.move != "hand_back" for item in group)
        if self.orders.stop is not None or (now < self._idle_until_ms and not worked) or not self.group.leases:
            return None
        if self._alone and self._alone - {item.claimed.id for item in group}:
            return None  # a suspect is tried alone: nothing joins it before it is settled
        keep = self._in_hand()  # the group, which this commit settles, is not among it
        alone = self._suspects > 0 and now >= self._suspect_rest_ms
        room = (1 if keep == 0 else 0) if alone else (self.in_hand_max or 2 * self.options.concurrency) - keep
        if room <= 0 or (not alone and keep >= self.options.concurrency and not group):
            return None
        if not self.has_room():
            self.stop("disk_full")
            return None
        leases = tuple(lease for lease in list(self.group.leases.values()) if lease.kind == "work")
        self._turn = (self._turn + 1) % max(1, len(leases))
        delay = jittered(self.options.delay_ms, self.options.jitter, self.random)
        return Wish(
            leases=leases[self._turn :] + leases[: self._turn],
            room=room,
            delay_ms=round(delay),
            per_host=self.options.per_host,
            alone=alone,
            in_levels=self.in_levels,
            named=self.named,
            compared=self.compared,
            pages_max=self.pages_max,
            made=self.made,
        )

    async def _carry(self, group: Sequence[Finished], wish: Wish | None) -> None:
        """A group on its way. Until its commit is answered it is in hand, whatever happens."""
        asked_ms, kept = 0, group

        def commit(ledger: Ledger) -> Committed:
            nonlocal asked_ms
            nonlocal kept
            kept = stored(self.blobs, group)
            if self.files is not None:
                kept = named(self.files, kept, self.executor.not_kept)
            reason = self.checkpointer.reason(ledger, len(group))
            asked_ms = self.clock.monotonic_ms()
            return self.group.commit(ledger, kept, wish, reason)

        try:
            committed = await self.thread.call(commit)
        except BaseException as failure:  # noqa: BLE001 - ours, not a page's: the loop raises it and stops
            self._failure = self._failure or failure
            return
        finally:
            self._wake.set()
        self._sent, self._carrying = (), None
        for before, item in zip(group, kept, strict=True):
            if self.journal is not None and item.verdict.move != before.verdict.move:
                joblog.target_worked(self.journal, item)
        self._after(committed, wish, asked_ms)

    def _after(self, committed: Committed, wish: Wish | None, asked_ms: int) -> None:
        settled = committed.settled
        if committed.adopted is None:
            self._take(settled.claimed, asked_ms)
        else:
            self._take(committed.adopted)
        self._drop_lost(set(self.group.leases))
        for answer in settled.answers.values():
            if answer.requested is not None:
                self.stop(answer.requested)
        if self.options.detect_blocks and (because := blocking(settled.forbade)):
            self.stop(BLOCKED, because)
        if wish is not None and committed.adopted is None:
            self._plan_next_claim(committed, wish)
        if self.orders.stop is None:
            self._start_tasks()
        self._send()
        self.on_commit(committed, len(self._running))

    def _take(self, claimed: tuple[Claimed, ...], asked_ms: int = 0) -> None:
        """Put claimed targets into the queue; adopted ones may be in hand already, and were claimed whenever."""
        in_hand = {item.id for item in self._queue} | set(self._running)
        in_hand |= {item.claimed.id for item in self._unsettled()}
        new = [item for item in claimed if item.id not in in_hand]
        self._queue.extend(new)
        self.taken += len(new)
        if self.options.delay_ms or any(item.delay_ms for item in new):
            self._asked_ms = {target: ms for target, ms in self._asked_ms.items() if target in in_hand}
            self._asked_ms.update((item.id, asked_ms) for item in new)
        self._alone |= {item.id for item in claimed if item.alone and item.id not in in_hand}

    def _drop_lost(self, chunks: set[int]) -> None:
        """Work of a lost chunk is abandoned: its new owner has it."""
        self._queue = deque(item for item in self._queue if item.chunk in chunks)
        self._waiting = [item for item in self._waiting if item.claimed.chunk in chunks]
        self._alone &= {item.id for item in self._queue} | set(self._running)
        self._alone |= {item.claimed.id for item in self._unsettled() if item.claimed.alone}
        for target, claimed in self._begun.items():
            if claimed.chunk not in chunks:
                self._running[target].cancel()
        if not chunks:
            self.stop("lost")

    def _plan_next_claim(self, committed: Committed, wish: Wish) -> None:
        settled, now = committed.settled, self.clock.monotonic_ms()
        self._suspects = settled.suspects
        if settled.claimed:
            self._idle_until_ms, self._drained = 0, False
            return
        if settled.pages_left is not None and settled.pages_left <= 0:
            self._idle_until_ms = now + LIMIT_POLL_MS
            walked = self.planner is None or not self.planner.walks  # what a walk puts back leaves the count
            self._drained = walked and self._in_hand() == 0
            return
        if wish.alone:  # the suspect's host is not ready: do other work meanwhile
            self._suspect_rest_ms = now + SUSPECT_REST_MS
            return
        wait_ms = IDLE_WAIT_S * 1000 if settled.next_due_ms is None else min(settled.next_due_ms, IDLE_WAIT_S * 1000)
        self._idle_until_ms = now + max(1, round(wait_ms))
        planned = self.planner is None or self.planner.done
        self._drained = planned and settled.next_due_ms is None and settled.suspects == 0 and self._in_hand() == 0

    async def _rest(self) -> None:
        """Wait for a finished page, an order, the linger, or the next moment a lane may be due."""
        timeout = IDLE_WAIT_S
        if self._idle_until_ms:
            timeout = max(0.001, min(timeout, (self._idle_until_ms - self.clock.monotonic_ms()) / 1000))
        self._wake.clear()
        if self._is_over():
            return
        if self._queue and len(self._running) < self.options.concurrency:  # only hosts that must wait are left
            now = self.clock.monotonic_ms()
            waits = [self.pace.wait_ms(item.host, now) for item in self._queue]
            timeout = max(0.001, min(timeout, min(waits) / 1000))
            self.pace.forget((item.host for item in self._queue), now)
        try:
            async with asyncio.timeout(timeout):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _abandon(self) -> None:
        """Leave no task adrift, whatever ended the loop."""
        self._stop_lingering()
        for task in self._running.values():
            task.cancel()
        # A group on its way cannot be stopped: it is waited for.
        others = [task for task in (self._carrying, self._packing) if task is not None]
        await asyncio.gather(*self._running.values(), *others, return_exceptions=True)

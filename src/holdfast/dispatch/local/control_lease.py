"""The control chunk of a job that a worker pool works: taken, kept alive, taken again after a sleep, given back."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from contextlib import suppress

import msgspec

from holdfast import wiring
from holdfast.clock import Clock
from holdfast.config import Settings
from holdfast.engine.heartbeat import Heartbeat
from holdfast.engine.liveness import is_dead, is_here, this_process
from holdfast.engine.patience import Patience
from holdfast.errors import LedgerUnavailable
from holdfast.model.job import Job
from holdfast.model.lease import Lease
from holdfast.ports import Ledger


class ControlLease:
    """Its holder says "finished" for the job. `asked_ms`: the monotonic moment just before it was asked for."""

    def __init__(self, job: Job, ledger: Ledger, patience: Patience, settings: Settings, clock: Clock) -> None:
        self._job, self._ledger, self._patience, self._clock = job, ledger, patience, clock
        self._settings, self._life_s = settings, settings.lease_s
        self._owner = msgspec.structs.replace(this_process(), session=secrets.token_hex(4))
        self._lease: Lease | None = None
        self._is_lost = False  # by the word of the last beat
        self._heartbeat: Heartbeat
        self.asked_ms = 0

    @property
    def lease(self) -> Lease:
        """The one we had last; the ledger knows whether it still counts."""
        assert self._lease is not None
        return self._lease

    def take(self) -> bool:
        """Whether it was free. The plan is for whichever worker comes first."""
        asked_ms = self._clock.monotonic_ms()
        leases = self._patience.insist(
            lambda: self._ledger.lease(self._job.id, self._owner, life_s=self._life_s, want=0, is_dead=is_dead)
        )
        control = next((lease for lease in leases if lease.kind == "control"), None)
        self._patience.insist(lambda: self._ledger.release([lease for lease in leases if lease is not control]))
        if control is not None:
            self._lease, self.asked_ms = control, asked_ms
        return control is not None

    def keep(self, job: Job) -> None:
        """Renewed from now on, until `let_lapse`: the job as opened says how often."""
        self._heartbeat = Heartbeat(
            lambda: wiring.open_ledger(self._settings),
            self._clock,
            life_s=self._life_s,
            on_beat=self._on_beat,
            time_is_limited=job.options.time_limit_s is not None,
        )
        self._heartbeat.start((self.lease,), asked_ms=self.asked_ms)

    def usable(self) -> Lease | None:
        return self._lease if self._heartbeat.usable() else None

    def is_written(self) -> bool:
        """Whether the ledger takes our beats."""
        return self._heartbeat.is_written()

    def is_ours(self, pool: Collection[int]) -> bool:
        """False once it is a stranger's: then the job is too.

        We, or the ledger, may have slept past it. If it is free we take it; if one of our workers (`pool`, their pids)
        took it, that worker finishes the job and we look on.
        """
        if not self._is_lost:
            return True
        taken = self.take()
        self._is_lost = False  # the next beat says it again
        if taken:
            self._heartbeat.renew_instead((self.lease,), asked_ms=self.asked_ms)
            return True
        holders = self._patience.insist(lambda: self._ledger.holders(self._job.id))
        ours = [holder for holder in holders if is_here(holder.owner) and holder.owner.pid in pool]
        return any(holder.kind == "control" for holder in ours)

    def let_lapse(self) -> None:
        self._heartbeat.stop()

    def give_back(self) -> None:
        """With the last of the active time."""
        with suppress(LedgerUnavailable):  # repeated, it might be counted twice
            self._ledger.renew([self.lease], life_s=self._life_s, active_ms=self._heartbeat.active_ms())
        self._patience.insist(lambda: self._ledger.release([self.lease]))

    def _on_beat(self, asked: tuple[Lease, ...], kept: tuple[Lease, ...]) -> None:
        """From the heartbeat's thread."""
        self._is_lost = not kept

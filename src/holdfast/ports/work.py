"""What workers do: lease, claim, settle, plan, finish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.model.claim import Holding, Settled, Wish
from holdfast.model.job import ONE_PHASE, Job, Phases
from holdfast.model.lease import Lease, Owner, Rescued
from holdfast.model.outcome import Batch, PlanBatch
from holdfast.ports.jobs import IsDead


class Work(Protocol):
    """What workers do. Every write is fenced by (chunk, epoch) inside its transaction."""

    def lease(self, job: int, owner: Owner, *, life_s: float, want: int, is_dead: IsDead) -> tuple[Lease, ...]:
        """Take up to `want` free work chunks, and the control and plan chunks where free, of an in_progress job.

        Free is: never leased, released, lapsed by the store's clock, or owned by a process proven dead. Taking a
        chunk raises its epoch and puts back what its last owner held. Asked again by the same owner, its leases are
        answered as they are, so an unknown outcome may be repeated. Empty: all are held by other live owners, the
        job is not in_progress, or a request or a changed scope stands.
        """

    def renew(self, leases: Sequence[Lease], *, life_s: float, active_ms: int) -> tuple[Lease, ...]:
        """Prolong what is still ours; a lease that is missing from the answer is lost. Adds active time to the job."""

    def release(self, leases: Sequence[Lease]) -> None:
        """Give chunks back with nothing held; a lost lease is ignored."""

    def rescue(self, job: int, *, is_dead: IsDead) -> Rescued:
        """Free the chunks of dead or lapsed owners and put back what they held."""

    def held(self, leases: Sequence[Lease]) -> Holding:
        """Which of these leases still hold, their commit numbers, and every target held under them (to adopt)."""

    def settle(
        self,
        job: int,
        batches: Sequence[Batch],
        wish: Wish | None = None,
        checkpoint: str | None = None,
        per_host_max: int = 0,
    ) -> Settled:
        """Settle frozen batches, claim as wished, and write a checkpoint row where a reason is given: one commit.

        Per chunk: the key is looked up, then the epoch tested, then the entry stored. A chunk that was lost or
        replayed gets no claim. A requested pause is read from the chunk row just fenced, and then nothing is claimed.
        Of a host that has `per_host_max` targets (0: any number), what is found is stored as skipped under `limit`.
        """

    def enqueue(self, job: int, batch: PlanBatch) -> Lease:
        """Store planned targets with their cursor; answers the plan lease with its new number. Raises LostLease."""

    def acknowledge(self, job: int, *, is_dead: IsDead) -> Job | None:
        """Carry out what was requested once no live owner holds a chunk; None if one still does."""

    def advance(
        self,
        job: int,
        lease: Lease,
        *,
        phases: Phases = ONE_PHASE,
        plan_failed: str = "",
        pages_max: int | None = None,
        stale: str = "",
    ) -> Job | None:
        """Open the next phase of a job whose phase is drained; behind the last one complete it (or fail it, if no seed
        gave anything) when its books balance. None: work is left in this phase.

        A phase that opens has a plan of its own, from its first target on. `plan_failed`: its plan raised and gives
        nothing more, so what is planned is all; then the job is failed for that.
        Work that is left under `pages_max`, the limit that its workers claim by, times the job out once nothing more
        may be claimed and nothing is in hand. `stale`: nothing moved for too long, it is failed for that.
        """

"""Which runner works a job: a session in this process, a pool supervised by it, or a pool with a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from holdfast import wiring
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.config.headers import with_secrets
from holdfast.errors import LedgerUnavailable
from holdfast.model.job import Job
from holdfast.ports import ProgressListener, Runner
from holdfast.recipes.catalogue import kind_of

if TYPE_CHECKING:
    from holdfast.dispatch.local.fork_server import ForkServer


def runner_here(
    settings: Settings,
    job: Job,
    *,
    progress: ProgressListener,
    say: Callable[[str], None],
    trigger: str,
    fork_server: ForkServer | None = None,
) -> Runner:
    """A session, or with a fork server the supervisor of its workers. Secrets that cannot be read are refused."""
    tell_need(settings, job, say)
    if fork_server is None:
        session = wiring.open_session(settings, with_secrets(job), progress=progress, trigger=trigger)
        session.patience.say = say
        return session
    from holdfast.dispatch.local.supervisor import Supervisor

    wiring.make_room(fork_server.size, workers=True)
    with_secrets(job)  # complained of here, once, and not by each worker
    return Supervisor(settings, SystemClock(), say, job, progress, fork_server, trigger=trigger)


def tell_need(settings: Settings, job: Job, say: Callable[[str], None]) -> None:
    """Say and log that what is still to come may not fit on the disk (DOC-22). The run begins all the same: it is an
    estimate, and a job that finds the disk full pauses."""
    needs = kind_of(job).needs
    if needs is None:
        return
    with suppress(LedgerUnavailable), closing(wiring.open_ledger(settings)) as ledger:  # the run itself waits for it
        needed_mb = needs(ledger, job) / wiring.MEGABYTE
        usable_mb = max(wiring.free_mb(settings.data) - settings.min_free_mb, 0)
        if needed_mb <= usable_mb:
            return
        said = f"what is still to come may take {needed_mb:.1f} MB, and {usable_mb:.1f} MB of the disk may be used"
        say(f"{job.name}: {said}; it pauses when the disk is full")
        sizes = {"needed_mb": round(needed_mb), "usable_mb": round(usable_mb)}
        with closing(wiring.journal(settings, job)) as journal:
            journal("warning", "RUN", event="room_short", **sizes, message=said)


def runner_apart(
    settings: Settings,
    job: Job,
    processes: int,
    *,
    progress: ProgressListener,
    say: Callable[[str], None],
    trigger: str,
) -> Runner:
    """For a program that must not fork: it may have threads, or a ledger open."""
    from holdfast.dispatch.local.pool_process import PoolProcess

    with_secrets(job)
    return PoolProcess(settings, job, processes, progress=progress, say=say, trigger=trigger)

"""Which runner works a job: a session in this process, a pool supervised by it, or a pool with a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast import wiring
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.config.headers import with_secrets
from holdfast.model.job import Job
from holdfast.ports import ProgressListener, Runner

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
    if fork_server is None:
        session = wiring.open_session(settings, with_secrets(job), progress=progress, trigger=trigger)
        session.patience.say = say
        return session
    from holdfast.dispatch.local.supervisor import Supervisor

    wiring.make_room(fork_server.size, workers=True)
    with_secrets(job)  # complained of here, once, and not by each worker
    return Supervisor(settings, SystemClock(), say, job, progress, fork_server, trigger=trigger)


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

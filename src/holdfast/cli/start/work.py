"""Working one job in this process or in several, or watching another process work it; screen and signals around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from holdfast import wiring
from holdfast.cli.call import Call
from holdfast.cli.screen.feed import Feed
from holdfast.cli.screen.job_events import events_of
from holdfast.cli.screen.progress import Screen
from holdfast.cli.screen.screens import screen_for
from holdfast.cli.screen.summary import disk_low, missing_mb
from holdfast.cli.signals import SignalHandlers
from holdfast.dispatch.driver import look_on
from holdfast.dispatch.local import garbage_collector
from holdfast.dispatch.runners import runner_here
from holdfast.engine.waits import waited_for
from holdfast.errors import DiskFull
from holdfast.model.job import Counts, Job
from holdfast.model.lease import Owner
from holdfast.model.spread import Spread
from holdfast.ports import Ledger

if TYPE_CHECKING:
    from holdfast.dispatch.local.fork_server import ForkServer

WATCH_EVERY_S = 0.5
PAUSES = "Ctrl-C pauses safely; the same command continues"
ONLY_WATCHES = "Ctrl-C only stops watching"


class Result(msgspec.Struct, frozen=True):
    """How a job stands when this command is through with it. `how` as in engine.session.Ended, or `watched`."""

    job: Job
    counts: Counts
    checkpoint: int | None
    how: str
    interrupted: bool = False
    worked: bool = False  # by this command, not only looked at
    left: bool = False  # nothing is done to it, by this command or another
    lock_waits: Spread | None = None  # of several worker processes


def work(call: Call, job: Job, head: str, handlers: SignalHandlers, fork_server: ForkServer | None = None) -> Result:
    """Work the job until it ends, is paused, or this process is told to stop."""
    with events_of(call, job) as read_events:
        return _work(call, job, screen_for(call.console, head, PAUSES, read_events), handlers, fork_server)


def _work(call: Call, job: Job, screen: Screen, handlers: SignalHandlers, fork_server: ForkServer | None) -> Result:
    feed = Feed(screen, call.console, call.clock)
    say = call.console.say
    runner = runner_here(
        call.settings,
        job,
        progress=feed,
        say=say,
        trigger=getattr(call.options, "trigger", "cli"),
        fork_server=fork_server,
    )
    feed.session = runner
    garbage_collector.rest()
    with screen:
        handlers.attach(runner, screen, feed)
        try:
            ended = runner.run()
        except DiskFull as error:
            raise DiskFull(f"{error.message}. {_free(call)} Then: holdfast resume {job.word}") from error
        finally:
            handlers.detach()
        feed.tell_rescue(ended.job)
        if ended.how != "lost":
            feed(ended.job, ended.counts, 0, ended.checkpoint)
    if ended.how == "disk_full":
        _tell_disk(call, ended.job, runner.not_saved)
    return Result(
        ended.job,
        ended.counts,
        ended.checkpoint,
        ended.how,
        interrupted=handlers.stopped,
        worked=True,
        lock_waits=runner.lock_waits,
    )


def _free(call: Call) -> str:
    """Where not even the pause could be saved, the last commit is what stands."""
    free = wiring.free_mb(call.settings.data)
    stands = "what was committed stands, but the pause could not be written, so the job counts as interrupted"
    return f"{free:.0f} MB free; {stands}. Free {missing_mb(free, wiring.wanted_mb(call.settings))} MB."


def _tell_disk(call: Call, job: Job, not_saved: int) -> None:
    settings = call.settings
    free = wiring.free_mb(settings.data)
    call.console.insist(disk_low(job, free_mb=free, wanted_mb=wiring.wanted_mb(settings), not_saved=not_saved))


def watch(call: Call, ledger: Ledger, job: Job, owner: Owner, handlers: SignalHandlers) -> Result:
    """Show what another process does, until the job is over, its worker is gone, or Ctrl-C."""
    call.console.say(f"{job.name} is being worked by {owner}; watching.")
    head = f"{job.name}  {job.recipe}  worked by {owner}"
    with events_of(call, job) as read_events:
        return _watch(call, ledger, job, owner, handlers, screen_for(call.console, head, ONLY_WATCHES, read_events))


def _watch(call: Call, ledger: Ledger, job: Job, owner: Owner, handlers: SignalHandlers, screen: Screen) -> Result:
    feed = Feed(screen, call.console, call.clock)
    with screen:
        while True:
            now = look_on(ledger, job)
            waiting = waited_for(ledger, now.job, now.counts, call.clock.wall_ms())
            feed(now.job, now.counts, now.counts.in_progress, now.checkpoint, waiting)
            if now.is_over:
                return Result(now.job, now.counts, now.checkpoint, now.job.status)
            if handlers.stopped:
                call.console.say(f"Stopped watching; {job.name} goes on in {now.owner or owner}.")
                return Result(now.job, now.counts, now.checkpoint, "watched", interrupted=True)
            if now.owner is None:
                return Result(now.job, now.counts, now.checkpoint, "interrupted")
            handlers.wait(WATCH_EVERY_S)

"""A session: everything that a process needs to work one job."""

from __future__ import annotations

import logging
import random
from functools import partial

import msgspec

from holdfast.blobs.artifacts import ArtifactFiles
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.engine.liveness import boot_id
from holdfast.engine.session import Parts, Session
from holdfast.errors import Refused
from holdfast.model.artifact import below
from holdfast.model.job import Job
from holdfast.policy.leasing import options_of
from holdfast.ports import ProgressListener
from holdfast.recipe import AnyRecipe
from holdfast.recipes import catalogue
from holdfast.wiring.archives import open_archive
from holdfast.wiring.browsers import check_browser
from holdfast.wiring.fetchers import ArchiveFactory, FetcherFactory, language_model_of, refuse_private_seed
from holdfast.wiring.folders import blobs_of, free_mb, journal, recorder_of, reserve_of
from holdfast.wiring.ledgers import open_ledger

log = logging.getLogger(__name__)


def recipe_of(name: str) -> AnyRecipe:
    """A recipe that comes with Holdfast."""
    return catalogue.built_in(name)


def jitter() -> random.Random:
    """Where a command outside of any session draws the jitter of its waits from."""
    return random.Random()


def open_session(
    settings: Settings,
    job: Job,
    *,
    progress: ProgressListener | None,
    trigger: str = "cli",
    workers: int = 1,
    place: int = 0,
) -> Session:
    """Everything a process needs to work this job, alone or as one of several workers."""
    options = options_of(job.options, workers=workers, place=place)
    options = msgspec.structs.replace(options, concurrency=make_room(options.concurrency))
    check_browser(options, settings.browser)
    archive, recorder = open_archive(settings, job), recorder_of(settings, job)
    reserve = reserve_of(settings)
    reserve.keep()
    session = Session(
        job,
        Parts(
            open_ledger=lambda: open_ledger(settings),
            open_fetcher=FetcherFactory(job, options, lambda: session.held_bytes, settings.browser, recorder)
            if archive is None
            else ArchiveFactory(archive, options),
            blobs=blobs_of(settings, job),
            recipe=catalogue.recipe_for(job),
            clock=SystemClock(),
            progress=progress,
            has_room=lambda: free_mb(settings.data) >= settings.min_free_mb,
            make_room=reserve.give_up,
            random=random.Random(),
            lease_s=settings.lease_s,
            stop_deadline_s=settings.pause_deadline_s,
            stale_after_s=settings.stale_after_s,
            outage_s=settings.outage_s,
            trigger=trigger,
            workers=workers,
            place=place,
            claims_ahead=catalogue.kind_of(job).claims_ahead,
            files=ArtifactFiles(settings.artifacts, job.uid, boot_id()),
            kept=partial(below, settings.artifacts),
            journal=journal(settings, job),
            open_model=lambda: language_model_of(options),
            refusal=lambda url: refuse_private_seed(options, url) if archive is None else None,
            archived=None if archive is None else archive.pages,
        ),
    )
    return session


def make_room(slots: int, *, workers: bool = False) -> int:
    """For so many fetches at once, or `workers` to supervise: how many this process may have descriptors for."""
    from holdfast.fetch.http import descriptors

    room = descriptors.make_room(slots)
    if not room:
        least = descriptors.BASE + descriptors.PER_FETCH
        raise Refused(
            f"this process may open only {descriptors.limit()} files and connections at once, and needs at least "
            f"{least}; nothing was fetched, and the same command goes on",
            hint="ulimit -n 1024",
        )
    if room < slots and workers:
        log.warning(
            "this process may open only %d files and connections at once (ulimit -n): that may be too few to supervise "
            "%d worker processes",
            descriptors.limit(),
            slots,
        )
    elif room < slots:
        log.warning(
            "this process may open only %d files and connections at once (ulimit -n): it fetches %d pages at once, "
            "not %d",
            descriptors.limit(),
            room,
            slots,
        )
    return room

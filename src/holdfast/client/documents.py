"""Documents jobs from Python: their list is looked at when the job is asked for, and again when it is run."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast import wiring
from holdfast.client.asking import ACTOR
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.control.documents import TRIGGERS, ListAccess, followed_list, grow, limited, meant_list, synced
from holdfast.control.list_store import ListStore
from holdfast.control.submit import JobRequest
from holdfast.control.webhook import WEBHOOK, bounded, clamped, log_clamped
from holdfast.errors import BadParams, Refused
from holdfast.model.job import Job, Options
from holdfast.ports import Ledger
from holdfast.recipes.catalogue import is_of

ENDED = ("completed", "cancelled")


def with_list(
    settings: Settings,
    ledger: Ledger,
    wanted: JobRequest,
    *,
    limit: int | None = None,
    require_fresh: bool = False,
    accept_jump: bool = False,
) -> JobRequest:
    """The request with the newest version of its list. A job that is there grows by it, unless it has ended: then
    `run(mode="new")` looks."""
    place = wanted.given["list"]
    meant = meant_list(place, settings.sites, must=False) or followed_list(ledger, place, wanted.name)
    wanted = replace(wanted, given={**wanted.given, **(meant or {})})
    known = None if wanted.new else wanted.known(ledger)
    if known is None and meant is None:
        meant_list(place, settings.sites)  # raises
    params = wanted.params(known)
    if known is not None:
        if is_of(known, wanted.recipe.name) and known.params["list"] != params["list"]:
            raise Refused(f"{known.name} has another list: {known.params['list']}")
        if known.status in ENDED:
            return _limited(ledger, replace(wanted, given=params), known, limit)
    access = access_to(settings, ledger, wanted.options(known), require_fresh=require_fresh, accept_jump=accept_jump)
    params = synced(access, params, known)[0]
    if known is not None:
        known = grow(ledger, known, params, mode="full", artifacts=settings.artifacts, actor=ACTOR)
        params = known.params
    return _limited(ledger, replace(wanted, given=params), known, limit)


def look_again(
    settings: Settings, ledger: Ledger, job: Job, mode: str | None, *, trigger: str = ACTOR, limit: int | None = None
) -> Job:
    """Before a run: what the list says now. A job that has ended is only looked at for `full` and `new`."""
    if trigger not in (ACTOR, *TRIGGERS):
        raise BadParams(f"there is no trigger {trigger!r}; there are: {', '.join((ACTOR, *TRIGGERS))}")
    told = ""
    if trigger == WEBHOOK:
        log_clamped(wiring.journal(settings, job), limit)
        told, limit = clamped(limit), bounded(limit)
    job = _looked(settings, ledger, job, mode)
    if limit is None:
        return job
    options = msgspec.structs.replace(job.options, max_pages=limited(ledger, job, limit))
    because = told or f"at most {limit} more in this run"
    return ledger.amend(job, options=options, actor=ACTOR, because=because)


def _looked(settings: Settings, ledger: Ledger, job: Job, mode: str | None) -> Job:
    if mode == "resume" or job.status == "cancelled" or (job.status == "completed" and mode is None):
        return job
    params = synced(access_to(settings, ledger, job.options), job.params, job)[0]
    return grow(ledger, job, params, mode=mode or "full", artifacts=settings.artifacts, actor=ACTOR)


def access_to(settings: Settings, ledger: Ledger, options: Options, **rules: Any) -> ListAccess:
    return ListAccess(
        store=ListStore(settings.artifacts, wiring.storage(settings).write_file),
        open_fetcher=lambda url: wiring.list_fetcher(options, url),
        clock=SystemClock(),
        hosts=ledger,
        options=options,
        random=wiring.jitter,
        **rules,
    )


def _limited(ledger: Ledger, wanted: JobRequest, known: Job | None, limit: int | None) -> JobRequest:
    pages = limited(ledger, known, limit)
    if pages is None and (known is None or known.options.max_pages is None or "max_pages" in wanted.pace):
        return wanted
    return replace(wanted, pace={**wanted.pace, "max_pages": pages})

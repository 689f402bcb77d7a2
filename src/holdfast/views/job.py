"""How far a job is: the job document that every surface shows, and the rate of a running one. Reads values only."""

from __future__ import annotations

from collections import deque
from typing import Any

from holdfast.clock import iso
from holdfast.model.job import Counts, Job
from holdfast.model.record import Checkpoint
from holdfast.model.states import JOB, allowed
from holdfast.policy.limits import pages_of
from holdfast.views.past import Past

SCHEMA = "holdfast.job/1"
WINDOW_MS = 30_000
SAMPLE_MS = 500
SPAN_MS_MIN = 1_000
AVERAGE_MS_MIN = 60_000  # active time is stored when leases are renewed: up to ten seconds late


def job_document(
    job: Job,
    counts: Counts,
    checkpoint: Checkpoint | None,
    *,
    rate_per_second: float | None = None,
    is_worked: bool | None = None,
    waiting: str = "",
    now_ms: int | None = None,
    past: Past | None = None,
) -> dict[str, Any]:
    """The document of ux 3.4; keys and their order are a contract. `is_worked`: whether a live process holds it.

    `waiting`: what it waits for (engine/waits.py), where nothing is fetched. `now_ms`: to tell when it will end.
    `past`: what its history says (views/past.py); a list of jobs does without.
    """
    return {
        "schema": SCHEMA,
        "id": job.uid,
        "name": job.name,
        "kind": job.recipe,
        "status": job.status,
        "requested": job.requested,
        "paused_by": job.paused_by,
        "because": because(job, counts, is_worked, waiting),
        "since": iso(job.since),
        "phase": job.phase,
        "run": f"R-{job.run}" if job.run else None,
        "health": job.health,
        "stop_reason": job.stop_reason,
        "counts": counts.seven(),
        "failed_by": counts.failed_by,
        "skipped_by": counts.skipped_by,
        "counts_by_type": counts.by_type,
        "rate_per_second": None if rate_per_second is None else round(rate_per_second, 1),
        "planned_total": job.planned_total,
        "percent": percent(job, counts),
        "eta": None if now_ms is None else iso(eta_ms(job, counts, now_ms)),
        "active_seconds": round(job.active_ms / 1000, 1),
        "limits": {"max_pages": job.options.max_pages, "time_seconds": job.options.time_limit_s},
        "checkpoint": None if checkpoint is None else {"number": checkpoint.number, "at": iso(checkpoint.at)},
        "allowed_actions": list(allowed(JOB, job.status, by="user")),
        "recoveries": job.recoveries,
        "refetched_after_crash": job.refetched,
        "output": {"path": job.options.output, "format": job.options.output_form} if job.options.output else None,
        "links": {"ui": f"/jobs/{job.uid}"},
        "params": job.params,
        "created_at": iso(job.created_at),
        "started_at": iso(job.started_at),
        "paused_at": iso(job.paused_at),
        "finished_at": iso(job.finished_at),
        "total_paused_duration": None if past is None else past.paused_ms,
        "last_error": _last_error(job, past),
        "auto_resume": job.options.auto_resume,
    }


def _last_error(job: Job, past: Past | None) -> dict[str, Any] | None:
    """Why the job failed; it is said until it ends in another way."""
    if job.last_error is None:
        return None
    at, what_for = (job.finished_at, job.stop_reason) if past is None else (past.failed_at, past.failed_for)
    return {"type": what_for or "job_failed", "message": job.last_error, "ts": iso(at)}


def because(job: Job, counts: Counts, is_worked: bool | None = None, waiting: str = "") -> str:
    """Why the job is as it is; a running one says what it does at this instant, a forsaken one that nobody works it."""
    if job.status == "in_progress" and is_worked is False:
        return f"no process works it; to go on: holdfast resume {job.word}"
    if job.status != "in_progress" or not counts.in_progress:
        return waiting or job.because
    pages = "1 page" if counts.in_progress == 1 else f"{counts.in_progress} pages"
    return f"{job.because}: finishing {pages}" if job.requested else f"fetching {pages}"


def percent(job: Job, counts: Counts) -> float | None:
    """Only where the whole is known: an open crawl has no percentage, nor has a plan that turned out too small."""
    if not job.planned_total or counts.discovered > job.planned_total:
        return None
    return round(100 * counts.settled / job.planned_total, 1)


def eta_ms(job: Job, counts: Counts, now_ms: int) -> int | None:
    """When the job will end at the pace of its active time so far, in wall ms; None where that cannot be told.

    Only of a job whose whole is known, or that has more to do than its page limit leaves; never of one that is scanned
    again, of which nobody knows how much of its time was the new scan's.
    """
    if job.status != "in_progress" or job.active_ms < AVERAGE_MS_MIN or job.generation > 1:
        return None
    if percent(job, counts) is not None:
        done, left = counts.settled, (job.planned_total or 0) - counts.settled
    elif job.options.max_pages is not None and job.options.max_pages - pages_of(counts) <= counts.left:
        done, left = pages_of(counts), job.options.max_pages - pages_of(counts)
    else:
        return None
    return now_ms + round(left * job.active_ms / done) if done and left > 0 else None


def average_rate(job: Job, counts: Counts) -> float | None:
    """Pages per second of active time, for a reader who was not there; None for a job that does not run, or is scanned
    again: nobody knows how much of its time was the new scan's."""
    if job.status != "in_progress" or job.active_ms < AVERAGE_MS_MIN or job.generation > 1:
        return None
    return (counts.succeeded + counts.failed) * 1000 / job.active_ms


class Rate:
    """Pages per second over the last half minute; its memory does not grow with the crawl.

    It adds up what was settled: pages that a rescan or a retry puts back are not pages undone.
    """

    def __init__(self) -> None:
        self._settled: int | None = None  # as last told
        self._done = 0  # since the first that was told
        self._samples: deque[tuple[int, int]] = deque(maxlen=WINDOW_MS // SAMPLE_MS + 1)

    def add(self, counts: Counts, now_ms: int) -> None:
        self._add_up(counts)
        if not self._samples or now_ms - self._samples[-1][0] >= SAMPLE_MS:
            self._samples.append((now_ms, self._done))

    def per_second(self, counts: Counts, now_ms: int) -> float | None:
        """None until there is a second to look back on; never below 0."""
        self._add_up(counts)
        while len(self._samples) > 1 and now_ms - self._samples[1][0] > WINDOW_MS:
            self._samples.popleft()
        if not self._samples or now_ms - self._samples[0][0] < SPAN_MS_MIN:
            return None
        began_ms, before = self._samples[0]
        return (self._done - before) * 1000 / (now_ms - began_ms)

    def _add_up(self, counts: Counts) -> None:
        settled = counts.succeeded + counts.failed
        if self._settled is not None:
            self._done += max(0, settled - self._settled)
        self._settled = settled

"""What a session writes into its job's log (LOG-02): runs, recoveries, failures; at debug level every target."""

from __future__ import annotations

from holdfast.engine.execute import Finished
from holdfast.model.job import Counts, Job
from holdfast.model.lease import Rescued
from holdfast.model.target import Claimed
from holdfast.ports import Journal

LOUD = {"fail": "warning", "retry": "info"}


def run_started(journal: Journal, job: Job, *, mode: str, trigger: str, worker: str, alone: bool) -> None:
    """One of several workers joins a run that another worker began."""
    event = "start" if alone else "join"
    journal("info", "RUN", event=event, name=job.name, run=f"R-{job.run}", mode=mode, trigger=trigger, worker=worker)


def recovered(journal: Journal, job: Job, rescued: Rescued) -> None:
    """How many chunks its worker held, the events say: one each."""
    journal(
        "warning", "RECOVERY", event="rescued", run=f"R-{job.run}", targets=rescued.targets,
        poisoned=rescued.poisoned, lost=0,
    )  # fmt: skip


def run_ended(
    journal: Journal, job: Job, counts: Counts, *, how: str, checkpoint: int | None, peak: int, alone: bool
) -> None:
    journal(
        "info", "RUN", event="end" if alone else "leave", run=f"R-{job.run}", how=how, status=job.status,
        because=job.because, checkpoint=checkpoint, peak_in_flight=peak, **counts.seven(),
    )  # fmt: skip


def target_started(journal: Journal, here: Claimed) -> None:
    """At debug level only; the caller asks for it first, since every target comes by."""
    journal("debug", "STATE", event="start", target=f"T-{here.id:x}", url=here.url, attempt=here.attempts)


def target_worked(journal: Journal, finished: Finished) -> None:
    """A failure or a retry is always told, anything else at debug level only."""
    verdict, here = finished.verdict, finished.claimed
    level = LOUD.get(verdict.move, "debug")
    if level == "debug" and not journal.debug:
        return
    journal(
        level, "ERROR" if verdict.move == "fail" else "DECISION", event="retry_decision" if finished.kind else None,
        target=f"T-{here.id:x}", url=here.url, decision=verdict.move, kind=finished.kind or None, attempt=here.attempts,
        code=verdict.code or None, disposition=verdict.disposition or None, status_code=verdict.status_code,
        ms=verdict.ended_at - verdict.began_at, message=verdict.because or None,
    )  # fmt: skip


def robots_cut(journal: Journal, origin: str, cut: str) -> None:
    """Part of a robots.txt does not count, because it is too long."""
    journal("warning", "DECISION", event="robots_cut", origin=origin, message=f"robots.txt of {origin}: {cut}")


def pattern_untried(journal: Journal, said: str) -> None:
    """A pattern of the job, or an exclusion, is not tried on long paths: they are fetched."""
    journal("warning", "DECISION", event="pattern_untried", message=said)

"""Jobs with a past, written by the verbs a worker uses: many pages failed, without a site to ask."""

from __future__ import annotations

from pathlib import Path

from cli.commands import ledger_in, submit
from conformance.verdicts import fail, succeed
from conformance.worker import Worker
from holdfast.engine.liveness import this_process
from holdfast.model.keys import seed_address
from holdfast.model.outcome import Verdict
from holdfast.model.target import Claimed
from holdfast.ports import Ledger
from holdfast.recipe import Context

SITE = "https://marsh.test"
MANY = 10_000
CODES = ("http_404", "http_403", "body_too_large")  # none of them opens the host's breaker


def write_many_failed(folder: Path, failed: int, name: str = "frogs") -> int:
    """A completed job: its seed succeeded, and so many pages /frog/N failed, with three codes in turn."""
    with ledger_in(folder) as ledger:
        worker = planned(ledger, name, ["/", *(f"/frog/{n}" for n in range(1, failed + 1))])
        _settle_all(worker)
        ended = ledger.advance(worker.job, worker.control)
        assert ended is not None
        assert ended.status == "completed"
        worker.release()
        return worker.job


def write_many_pending(folder: Path, frogs: int, tags: int, name: str = "frogs") -> int:
    """A job in progress that nobody works: pages /frog/N and /tags/N are pending, and its seed succeeded."""
    with ledger_in(folder) as ledger:
        paths = [*(f"/frog/{n}" for n in range(1, frogs + 1)), *(f"/tags/{n}" for n in range(1, tags + 1))]
        worker = planned(ledger, name, ["/", *paths])
        while here := worker.claim(room=1, per_host=MANY):
            if here[0].url == f"{SITE}/":
                worker.settle(succeed(here[0], disposition="no_record"))
                break
        worker.release()
        return worker.job


def planned(ledger: Ledger, name: str, paths: list[str]) -> Worker:
    job = submit(ledger, name=name)
    ledger.move(job.id, "start", actor="test", because="test")
    ledger.open_run(job.id, mode="full", trigger="cli")
    worker = Worker(ledger, job.id, this_process(), lambda owner: False)
    worker.lease()
    context = Context(params=job.params, salt=ledger.salt(), chunking="key")
    worker.enqueue(*(context.found(seed_address(f"{SITE}{path}"), depth=int(path != "/")) for path in paths))
    return worker


def _settle_all(worker: Worker) -> None:
    while hand := worker.claim(room=500, per_host=500):
        worker.settle(
            *(succeed(here, disposition="no_record") if here.url == f"{SITE}/" else _failed(here) for here in hand)
        )


def _failed(here: Claimed) -> Verdict:
    number = int(here.url.rpartition("/")[2])
    return fail(here, code=CODES[number % len(CODES)])


def failed_urls(ledger: Ledger, job: int, status: str = "failed") -> set[str]:
    found: set[str] = set()
    after = 0
    while rows := ledger.targets(job, where=[("status", True, (status,))], after=after, limit=500):
        found |= {row.url for row in rows}
        after = rows[-1].id
    return found

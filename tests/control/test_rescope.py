"""A changed scope decides about everything that is to be fetched, also about what a walk has not put back yet, and
whoever is killed or comes between: a target is never left out by a scope that the job does not have.

Of two people who change it at once, one is refused, and the targets are judged by the other's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.bench import MARSH, sqlite_bench
from conformance.verdicts import page
from engine.desk import FAST
from engine.test_session import Marsh, serve_ponds
from holdfast.audit.verify import verify
from holdfast.clock import ManualClock
from holdfast.control.reopen import rescan
from holdfast.control.rescope import update_scope
from holdfast.errors import Refused
from holdfast.recipes import catalogue


def test_pages_that_a_rescan_puts_back_are_judged_by_the_new_scope(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    worker = bench.working(pages=1)
    links = tuple(bench.found(f"{MARSH}/{name}", depth=1) for name in ("newt", "toad"))
    for here in worker.claim():
        worker.settle(page(here, found=links))
    worker.settle(*(page(here) for here in worker.claim()))
    assert bench.ledger.advance(worker.job, worker.control) is not None
    worker.release()
    job = rescan(bench.ledger, bench.job(worker.job), mode="full", actor="ann")
    params = catalogue.built_in("site").check({"seeds": [MARSH], "exclude": ["/toad"]})
    after, told = update_scope(bench.ledger, job, params, actor="ann", because="no toads")
    assert (told.excluded, told.requeued, after.params["exclude"]) == (1, 0, ["/toad"])
    assert bench.ledger.walking(job.id) is None
    statuses = {row.url.removeprefix(MARSH): row.status for row in bench.targets(job.id)}
    assert statuses == {"/frog/1": "pending", "/newt": "pending", "/toad": "skipped"}
    bench.close()


def test_of_two_scopes_at_once_the_one_that_stands_has_judged_last(tmp_path: Path) -> None:
    marsh = Marsh(tmp_path, serve_ponds, msgspec.structs.replace(FAST, max_pages=1))
    job = marsh.run().job
    update_scope(marsh.ledger, job, {**job.params, "exclude": ["/pond/1"]}, actor="ann", because="no ones")
    with pytest.raises(Refused, match="changed by another process"):
        update_scope(marsh.ledger, job, {**job.params, "exclude": ["/pond/2"]}, actor="ben", because="no twos")
    rows = {row.url.removeprefix(MARSH): (row.status, row.rule) for row in marsh.ledger.targets(job.id)}
    assert rows == {
        "/pond/0": ("succeeded", None),
        "/pond/1": ("skipped", "exclude"),
        "/pond/2": ("pending", None),
        "/pond/3": ("pending", None),
    }
    assert marsh.ledger.books(job.id)[0].params["exclude"] == ["/pond/1"]


@pytest.mark.parametrize(("verb", "told"), [("rescope", "is being worked"), ("walk", "")])
def test_a_worker_that_comes_between_works_under_the_scope_that_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, told: str
) -> None:
    """Before the new scope stands, its asker is refused and nothing is left out; after that, the worker has to wait."""
    bench = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    first = bench.working(pages=1)
    links = tuple(bench.found(f"{MARSH}/{name}", depth=1) for name in ("newt", "toad"))
    first.settle(*(page(here, found=links) for here in first.claim()))
    first.release()
    job, other, do = bench.job(first.job), bench.worker(first.job), getattr(bench.ledger, verb)

    def interrupted(*args: Any, **kwargs: Any) -> Any:
        assert (other.lease() == ()) == (verb == "walk")
        return do(*args, **kwargs)

    monkeypatch.setattr(bench.ledger, verb, interrupted)
    params = catalogue.built_in("site").check({"seeds": [MARSH], "exclude": ["/toad"]})
    if told:
        with pytest.raises(Refused, match=told):
            update_scope(bench.ledger, job, params, actor="ann", because="no toads")
    else:
        update_scope(bench.ledger, job, params, actor="ann", because="no toads")
    other.lease()
    other.settle(*(page(here) for here in other.claim()))
    ended = bench.ledger.advance(job.id, other.control)
    assert ended is not None
    skipped = [row.url.removeprefix(MARSH) for row in bench.targets(job.id) if row.status == "skipped"]
    assert (ended.params, skipped) == ((job.params, []) if told else (params, ["/toad"]))
    assert list(verify(bench.ledger.query, job.id)) == []
    bench.close()


class Killed(BaseException):
    """The process that changes the scope is gone."""


@pytest.mark.parametrize(("verb", "left_out"), [("rescope", []), ("walk", ["/pond/1"])])
def test_a_change_that_is_killed_is_carried_out_by_whoever_works_the_job_or_was_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, left_out: list[str]
) -> None:
    marsh = Marsh(tmp_path, serve_ponds, msgspec.structs.replace(FAST, max_pages=1))
    job = marsh.ledger.amend(marsh.run().job, options=FAST, actor="ann", because="all of it")

    def killed(*args: Any, **kwargs: Any) -> Any:
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(marsh.ledger, verb, killed)
        with pytest.raises(Killed):
            update_scope(marsh.ledger, job, {**job.params, "exclude": ["/pond/1"]}, actor="ann", because="no ones")
    ended = marsh.run()
    assert (ended.job.status, ended.job.health, ended.job.params["exclude"]) == ("completed", "ok", left_out)
    skipped = marsh.ledger.targets(job.id, where=[("status", True, ("skipped",))])
    assert [(row.url.removeprefix(MARSH), row.rule) for row in skipped] == [(path, "exclude") for path in left_out]
    assert [path for path in left_out if MARSH + path in marsh.fetcher.asked] == []
    assert list(verify(marsh.ledger.query, job.id)) == []

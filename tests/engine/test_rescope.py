"""A changed scope decides about everything that is to be fetched, also about what a walk has not put back yet.

Of two people who change it at once, one is refused, and the targets are judged by the other's.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine.desk import FAST
from engine.test_session import Marsh, serve_ponds
from holdfast.clock import ManualClock
from holdfast.engine.control import rescan
from holdfast.engine.rescope import update_scope
from holdfast.errors import Refused
from holdfast.recipes import catalogue
from holdfast.testing.conformance.bench import MARSH, sqlite_bench
from holdfast.testing.conformance.verdicts import page


def test_pages_that_a_rescan_puts_back_are_judged_by_the_new_scope(tmp_path: Path) -> None:
    bench = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    worker = bench.working(pages=1)
    links = tuple(bench.found(f"{MARSH}/{name}", depth=1) for name in ("newt", "toad"))
    for here in worker.claim():
        worker.settle(page(here, found=links))
    worker.settle(*(page(here) for here in worker.claim()))
    assert bench.ledger.finish(worker.job, worker.control) is not None
    worker.release()
    job = rescan(bench.ledger, bench.job(worker.job), mode="full", actor="ann")
    params = catalogue.built_in("site").check({"seeds": [MARSH], "exclude": ["/toad"]})
    after, told = update_scope(bench.ledger, job, params, actor="ann", because="no toads")
    assert (told.excluded, told.readmitted, after.params["exclude"]) == (1, 0, ["/toad"])
    assert bench.ledger.walking(job.id) is None
    statuses = {row.url.removeprefix(MARSH): row.status for row in bench.targets(job.id)}
    assert statuses == {"/frog/1": "pending", "/newt": "pending", "/toad": "skipped"}
    bench.close()


def test_of_two_scopes_at_once_the_one_that_stands_has_judged_last(tmp_path: Path) -> None:
    marsh = Marsh(tmp_path, serve_ponds, msgspec.structs.replace(FAST, max_pages=1))
    job = marsh.run().job
    update_scope(marsh.ledger, job, {**job.params, "exclude": ["/pond/1"]}, actor="ann", because="no ones")
    with pytest.raises(Refused, match="changed by somebody else"):
        update_scope(marsh.ledger, job, {**job.params, "exclude": ["/pond/2"]}, actor="ben", because="no twos")
    rows = {row.url.removeprefix(MARSH): (row.status, row.rule) for row in marsh.ledger.targets(job.id)}
    assert rows == {
        "/pond/0": ("succeeded", None),
        "/pond/1": ("skipped", "exclude"),
        "/pond/2": ("pending", None),
        "/pond/3": ("pending", None),
    }
    assert marsh.ledger.books(job.id)[0].params["exclude"] == ["/pond/1"]

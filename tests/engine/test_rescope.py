"""A changed scope decides about everything that is to be fetched, also about what a walk has not put back yet."""

from __future__ import annotations

from pathlib import Path

from holdfast.clock import ManualClock
from holdfast.engine.control import rescan
from holdfast.engine.rescope import update_scope
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

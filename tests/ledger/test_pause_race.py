"""ledger.md g5, scripted: a pause is acked only after every claim that was under way has committed (L11)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from conformance.bench import postgres_bench
from holdfast import faults
from holdfast.clock import ManualClock


def test_race_g5_a_pause_waits_for_the_claim_that_holds_the_chunk_row(pg_schema_url: str) -> None:
    bench = postgres_bench(pg_schema_url, ManualClock())
    worker = bench.working(pages=8)
    faults.arm("claim.before_commit:1:delay")
    try:
        with ThreadPoolExecutor(1) as pool:
            claiming = pool.submit(worker.claim, room=8)
            while not faults.hits.get("claim.before_commit"):
                threading.Event().wait(0.001)
            other = bench.open()
            other.request(worker.job, "pause", actor="ann", because="enough")
            at_the_ack = bench.open().books(worker.job)[1].in_progress
            claimed = claiming.result()
    finally:
        faults.arm("")
        bench.close()
    assert len(claimed) == 8
    assert at_the_ack == 8, "the pause was acked while a claim was still to commit"

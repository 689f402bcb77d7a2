"""Two processes claim under one page limit, scripted: the second waits for the first, and counts what it claimed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from conformance.bench import MARSH, postgres_bench
from holdfast import faults
from holdfast.clock import ManualClock


def test_a_claim_that_is_still_to_commit_counts_against_the_limit(pg_schema_url: str) -> None:
    """PAU-08."""
    bench = postgres_bench(pg_schema_url, ManualClock())
    first = bench.worker(bench.started().id)
    first.lease(want=8)
    second = bench.worker(first.job)
    second.lease()
    first.enqueue(*(bench.found(f"{MARSH}/{n}", index=n % 16) for n in range(64)))
    faults.arm("claim.before_commit:1:delay")
    try:
        with ThreadPoolExecutor(1) as pool:
            claiming = pool.submit(first.take, first.wish(room=8, pages_max=10))
            while not faults.hits.get("claim.before_commit"):
                threading.Event().wait(0.001)
            later = second.take(second.wish(room=8, pages_max=10))
            earlier = claiming.result()
    finally:
        faults.arm("")
        bench.close()
    assert (len(earlier), len(later)) == (8, 2)

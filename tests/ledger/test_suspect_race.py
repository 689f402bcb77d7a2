"""A suspect is about to be claimed alone when an operator's exclusion settles it, scripted on PostgreSQL."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.bench import MARSH, postgres_bench
from holdfast.clock import SystemClock
from holdfast.ledger.verbs import claim as claim_verbs


def test_a_suspect_that_was_excluded_since_it_was_seen_is_not_counted_twice(
    pg_schema_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = postgres_bench(pg_schema_url, SystemClock())
    dead = bench.worker(bench.started().id)
    dead.lease()
    dead.enqueue(bench.found(f"{MARSH}/tags/1"), done=False)  # the first of both, whatever the ledger's salt
    dead.enqueue(bench.found(f"{MARSH}/keep"), cursor=1)
    assert len(dead.claim()) == 2
    bench.dead.add(dead.owner)
    bench.ledger.rescue(dead.job, is_dead=bench.is_dead)
    worker = bench.worker(dead.job)
    worker.lease()
    operator = bench.open()
    exclusion = operator.exclude(dead.job, "/tags/*", actor="operator")
    [(excluded,)] = bench.ledger.query("SELECT id FROM target WHERE path = '/tags/1'")
    seen = claim_verbs.Claim._candidates

    def seen_then_swept(claim: claim_verbs.Claim, *asked: Any) -> Any:
        rows = seen(claim, *asked)
        if excluded in [row[0] for row in rows]:
            monkeypatch.undo()
            assert operator.sweep(dead.job, exclusion.n).changed == 1
        return rows

    monkeypatch.setattr(claim_verbs.Claim, "_candidates", seen_then_swept)
    urls = [each.url for _ in range(2) for each in worker.claim(alone=True)]
    todo = bench.ledger.query("SELECT sum(todo), sum(held) FROM lane")
    bench.close()
    assert urls == [f"{MARSH}/keep"]
    assert [tuple(map(int, row)) for row in todo] == [(0, 1)]

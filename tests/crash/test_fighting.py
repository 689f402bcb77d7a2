"""Leases of a second between real processes: who is alive keeps its job, however long it takes."""

from __future__ import annotations

from crash.scene import CONCURRENCY, PAGES, Calm, Scene
from holdfast.audit.witness import doubled

SHORT_LEASE = {"HOLDFAST_LEASE_S": "1"}
LEASES_LONG = 3


def test_a_job_is_not_taken_from_a_live_worker_whose_lease_would_be_over_without_renewal(
    scene: Scene, calm: Calm
) -> None:
    """PAU-15, L3: the second process finds a live owner again and again, and only watches."""
    scene.slow_down(1000)
    worker = scene.crawl(SHORT_LEASE)
    scene.await_asks(10)
    watcher = scene.crawl(SHORT_LEASE)
    watcher.wait_for(lambda: "watching" in watcher.err, seconds=60)
    scene.slow_down(LEASES_LONG * 1000 * CONCURRENCY // PAGES)
    assert (worker.wait(60), watcher.wait(60)) == (0, 0), watcher.err
    assert f"is being worked by pid {worker.pid}" in watcher.err
    assert scene.look().job.recoveries == 0
    assert not doubled(ask["key"] for ask in scene.asks())
    calm.assert_equal_to(scene)

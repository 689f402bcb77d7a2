"""Two processes and one job: one works, the other watches; and one that slept past its lease changes nothing."""

from __future__ import annotations

import signal

from crash.scene import PAGES, Calm, Scene
from holdfast.audit.witness import doubled
from holdfast.demo.command import ChildCommand
from waiting import wait_until

SHORT_LEASE = {"HOLDFAST_LEASE_S": "1"}
UNTIL_SEEN_MS = 1000  # from when on the job must not end before something was seen, however slow the machine


def test_a_second_process_says_who_works_the_job_and_watches(scene: Scene, calm: Calm) -> None:
    """A job is worked once: every page is asked for once, and both come to the same end (ux 3.3)."""
    scene.slow_down()
    first = scene.crawl()
    scene.await_asks(10)
    scene.slow_down(UNTIL_SEEN_MS)
    second = scene.crawl()
    second.wait_for(lambda: "watching" in second.err, seconds=30)
    scene.world.set_faults()
    assert (first.wait(60), second.wait(60)) == (0, 0)
    assert f"is being worked by pid {first.pid}" in second.err
    assert not doubled(ask["key"] for ask in scene.asks())
    assert len(scene.asks()) == PAGES
    calm.assert_equal_to(scene)


def test_a_process_that_slept_past_its_lease_changes_nothing(scene: Scene, calm: Calm) -> None:
    """E3, E4: SIGSTOP longer than the lease, another process takes over and finishes, then SIGCONT."""
    zombie = asleep(scene)
    held = scene.look().held
    scene.world.set_faults()
    assert scene.crawled(SHORT_LEASE).code == 0
    calm.assert_equal_to(scene)
    before, asked = scene.look(), len(scene.asks())
    zombie.send(signal.SIGCONT)
    assert zombie.wait(30) == 0, zombie.err
    assert scene.look() == before
    assert {ask["key"] for ask in scene.asks()[asked:]} <= held  # at most what it had begun before it slept
    calm.assert_equal_to(scene)


def test_a_process_that_wakes_up_while_another_works_gives_way(scene: Scene, calm: Calm) -> None:
    """The zombie wakes in the middle of the other's work: its late results are dropped, and it only watches."""
    zombie = asleep(scene)
    other = scene.crawl(SHORT_LEASE)
    scene.await_asks(len(scene.asks()) + 20)
    scene.slow_down(UNTIL_SEEN_MS)
    zombie.send(signal.SIGCONT)
    zombie.wait_for(lambda: "watching" in zombie.err, seconds=30)
    scene.world.set_faults()
    assert (other.wait(60), zombie.wait(60)) == (0, 0)
    assert f"is being worked by pid {other.pid}" in zombie.err
    calm.assert_equal_to(scene)


def asleep(scene: Scene) -> ChildCommand:
    """A crawl that was stopped in its middle, until the ledger itself says that its leases have lapsed.

    Not inside a write: a stopped process keeps SQLite's lock, and then nobody can take over until it goes on.
    """
    scene.slow_down()
    zombie = scene.crawl(SHORT_LEASE)
    scene.await_asks(20)
    scene.stop(zombie.pid)
    wait_until(lambda: "no process works it" in scene.run("status", scene.job_name).out, 30, "lapsed leases")
    return zombie

"""Ctrl-C, twice Ctrl-C, SIGTERM: each is answered as promised, and the crawl goes on afterwards (ux 3.4, 3.5)."""

from __future__ import annotations

import json
import signal

import pytest

from crash.scene import CONCURRENCY, PAGES, Calm, Scene
from holdfast.demo.command import ChildCommand

SOME_ASKS = 20
UNTIL_SEEN_MS = 1000  # from when on the job must not end before something was seen, however slow the machine
LONG_MS = 3000
NEVER_MS = 60_000  # longer than the pages in hand get of a pause
ONE_PAGE = ["--max-depth", "0"]


def crawling(scene: Scene, *, page_ms: int = 50) -> ChildCommand:
    """A crawl in its middle, slow enough to be interrupted there."""
    scene.slow_down(page_ms)
    crawl = scene.crawl()
    scene.await_asks(SOME_ASKS)
    return crawl


def test_one_interrupt_pauses_and_the_same_command_goes_on(scene: Scene, calm: Calm) -> None:
    """C2: to the end, which is that of an undisturbed crawl."""
    crawl = crawling(scene)
    crawl.send(signal.SIGINT)
    assert crawl.wait(30) == 11
    assert "Pausing" in crawl.err
    left = scene.look()
    assert (left.job.status, left.job.paused_by, left.counts.in_progress) == ("paused", "interrupt", 0)
    scene.world.set_faults()
    assert scene.crawled().code == 0
    calm.assert_equal_to(scene)
    assert len(scene.asks()) == PAGES


def test_resume_without_a_name_takes_up_what_an_interrupt_paused(scene: Scene, calm: Calm) -> None:
    crawl = crawling(scene)
    crawl.send(signal.SIGINT)
    assert crawl.wait(30) == 11
    scene.world.set_faults()
    assert scene.run("resume").code == 0
    calm.assert_equal_to(scene)


def test_a_second_interrupt_exits_at_once_and_loses_nothing(scene: Scene, calm: Calm) -> None:
    """C2: this one, too."""
    crawl = crawling(scene)
    scene.slow_down(NEVER_MS)
    scene.await_asks(len(scene.asks()) + CONCURRENCY)
    crawl.send(signal.SIGINT)
    crawl.wait_for(lambda: "Pausing" in crawl.err, seconds=30)
    scene.await_request("pause")
    crawl.send(signal.SIGINT)
    assert crawl.wait(20) == 130
    assert scene.look().counts.in_progress > 0, "it has waited for its pages, or handed them back"
    scene.world.set_faults()
    assert scene.crawled().code == 0
    calm.assert_equal_to(scene)


def test_sigterm_drains_and_leaves_the_job_running(scene: Scene, calm: Calm) -> None:
    crawl = crawling(scene)
    crawl.send(signal.SIGTERM)
    assert crawl.wait(30) == 11
    left = scene.look()
    assert (left.job.status, left.job.requested, left.counts.in_progress) == ("in_progress", None, 0)
    scene.world.set_faults()
    assert scene.run("resume").code == 0
    calm.assert_equal_to(scene)
    assert len(scene.asks()) == PAGES


def test_the_last_page_that_comes_in_its_grace_completes_the_job_and_that_is_said(scene: Scene) -> None:
    scene.slow_down(LONG_MS)
    crawl = scene.crawl(more=ONE_PAGE)
    scene.await_asks(1)
    crawl.send(signal.SIGTERM)
    assert crawl.wait(30) == 0, crawl.err
    assert "Interrupted" not in crawl.err
    assert scene.look().job.status == "completed"


@pytest.mark.parametrize("processes", [1, 2])
def test_a_list_ends_with_the_job_that_sigterm_met_though_that_is_completed(scene: Scene, processes: int) -> None:
    (scene.folder / "ponds.csv").write_text("pond,page\nnorth,1\nsouth,2\n")
    template = f'name = "{{pond}}"\nseeds = ["{scene.world.url}/p/{{page}}"]\nmax_depth = 0\n'
    (scene.folder / "pond.toml").write_text(template)
    scene.slow_down(LONG_MS)
    words = ("run", str(scene.folder / "ponds.csv"), "--template", str(scene.folder / "pond.toml"), "--json")
    batch = scene.start(*words, "--processes", str(processes), environ={"HOLDFAST_HTTP__ALLOW": scene.world.address})
    scene.await_asks(1)
    batch.send(signal.SIGTERM)
    assert batch.wait(30) == 11, batch.err
    assert [(job["name"], job["exit_code"]) for job in json.loads(batch.out)["jobs"]] == [("north", 0)]
    assert "1 of 2 rows not begun. To go on with all of them: holdfast run " in batch.err
    assert len(scene.asks()) == 1


def test_resume_ends_with_the_job_that_sigterm_met_though_that_is_completed(scene: Scene) -> None:
    for name in ("north", "south"):
        begun = scene.run(
            *scene.crawler.order, *ONE_PAGE, "--name", name, environ={"HOLDFAST_MIN_FREE_MB": "999999999"}
        )
        assert begun.code == 14, begun.err  # paused before its first page
    scene.slow_down(LONG_MS)
    resume = scene.start("resume", "--all")
    scene.await_asks(1)
    resume.send(signal.SIGTERM)
    assert resume.wait(30) == 11, resume.err
    assert len(scene.asks()) == 1


def test_a_job_paused_by_its_user_stays_paused_until_it_is_named(scene: Scene, calm: Calm) -> None:
    """PAU-05: neither a restart nor `resume` without a name takes it up."""
    crawl = crawling(scene)
    scene.slow_down(UNTIL_SEEN_MS)
    assert scene.run("pause", scene.job_name).code == 0
    assert crawl.wait(30) == 10
    scene.world.set_faults()
    asked = len(scene.asks())
    nothing = scene.run("resume")
    assert (nothing.code, len(scene.asks())) == (0, asked)
    assert "Nothing to resume" in nothing.err
    assert scene.look().job.status == "paused"
    assert scene.run("resume", scene.job_name).code == 0
    calm.assert_equal_to(scene)
    assert len(scene.asks()) == PAGES

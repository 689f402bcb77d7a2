"""kill -9 at every named fault point, an unknown outcome after every commit: the crawl ends like an undisturbed one.

The list is the program's own (`faults.POINTS`): a point that no scene here reaches fails its test.
"""

from __future__ import annotations

import signal

import pytest

from crash.scene import PAGES, Calm, Scene
from holdfast.demo.command import ChildCommand
from holdfast.faults import POINTS

FEW_ASKS = 20
EXPORT = "export.before_rename"
ASKED_FOR_A_PAUSE = "pause.after_commit"
DURING_A_CRAWL = sorted(set(POINTS) - {EXPORT, ASKED_FOR_A_PAUSE})
AFTER_COMMIT = [name for name in DURING_A_CRAWL if name.endswith(".after_commit")]
IN_MID_CRAWL = ("settle.", "segment.")  # hit often: not the first time


def armed(name: str, action: str) -> dict[str, str]:
    return {"HOLDFAST_FAULT": f"{name}:{5 if name.startswith(IN_MID_CRAWL) else 1}:{action}"}


@pytest.mark.parametrize("name", DURING_A_CRAWL)
def test_a_crawl_killed_at_a_fault_point_goes_on_with_the_same_command(scene: Scene, calm: Calm, name: str) -> None:
    killed = scene.crawled(armed(name, "kill"))
    assert killed.code == -signal.SIGKILL, f"{name} was not hit: {killed.err}"
    resumed = scene.crawled()
    assert resumed.code == 0, resumed.err
    calm.assert_equal_to(scene)


@pytest.mark.parametrize("name", AFTER_COMMIT)
def test_an_unknown_outcome_changes_nothing(scene: Scene, calm: Calm, name: str) -> None:
    """E8: committed, and the reply lost. The same call again, and no page is fetched twice for it."""
    crawl = scene.crawled(armed(name, "unknown"))
    assert crawl.code == 0, crawl.err
    calm.assert_equal_to(scene)
    assert len(scene.asks()) == PAGES


def paused_by_interrupt(scene: Scene, action: str) -> ChildCommand:
    scene.slow_down(20)
    crawl = scene.crawl(armed(ASKED_FOR_A_PAUSE, action))
    scene.await_asks(FEW_ASKS)
    crawl.send(signal.SIGINT)
    crawl.wait(30)
    scene.world.set_faults()
    return crawl


def test_a_pause_survives_a_kill_right_after_its_request(scene: Scene, calm: Calm) -> None:
    assert paused_by_interrupt(scene, "kill").code == -signal.SIGKILL
    left = scene.look().job
    assert (left.requested, left.paused_by) == ("pause", "interrupt")
    assert scene.crawled().code == 0
    calm.assert_equal_to(scene)


def test_a_pause_whose_request_was_unknown_is_taken_once(scene: Scene, calm: Calm) -> None:
    assert paused_by_interrupt(scene, "unknown").code == 11
    assert scene.look().job.status == "paused"
    assert scene.crawled().code == 0
    calm.assert_equal_to(scene)


def test_an_export_killed_before_its_rename_leaves_the_old_file_whole(scene: Scene, calm: Calm) -> None:
    assert scene.crawled().code == 0
    path = scene.folder / "old.jsonl"
    path.write_text("old")
    words = ("export", scene.look().job.uid, "-o", str(path), "--format", "jsonl")
    killed = scene.run(*words, environ=armed(EXPORT, "kill"))
    assert killed.code == -signal.SIGKILL
    assert path.read_text() == "old"
    assert scene.run(*words).code == 0
    assert path.read_text().count("\n") == PAGES

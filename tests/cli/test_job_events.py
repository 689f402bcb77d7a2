"""`--jsonl` while a job is worked or watched: every event of ux 3.4 once, read as it was committed."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cli.commands import Running, crawl_words, holdfast
from holdfast.demo.serving import WorldServer
from holdfast.testing.fake_web import FakeWeb
from waiting import wait_until


def events_of(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_target_is_told_by_its_end_with_the_reason(tmp_path: Path) -> None:
    """ux 3.4: succeeded, failed and skipped by a try; what a rule left out was never tried."""
    pages = {"/": '<a href="/a">a</a><a href="/gone">gone</a><a href="/tags/x">x</a>', "/a": "a"}
    with FakeWeb(pages) as web:
        words = ["crawl", f"{web.url}/", "--name", "frogs", "--exclude", "/tags/*", *web.options, "--jsonl"]
        events = events_of(holdfast(*words, cwd=tmp_path).out)
    told = {event["url"].removeprefix(web.url): event for event in events if event["type"].startswith("target.")}
    assert {path: event["type"] for path, event in told.items()} == {
        "/": "target.succeeded", "/a": "target.succeeded", "/gone": "target.failed",
    }  # fmt: skip
    gone = told["/gone"]
    assert (gone["code"], gone["status_code"], gone["attempt"], gone["name"]) == ("http_404", 404, 1, "frogs")
    finished = next(event for event in events if event["type"] == "run.finished")
    assert (finished["to"], finished["job"]) == ("completed", gone["job"])


@pytest.mark.parametrize("processes", ["1", "2"])
def test_who_stops_reading_at_the_end_of_the_run_or_at_the_final_status_has_read_every_event(
    tmp_path: Path, processes: str
) -> None:
    pages = {"/": "".join(f'<a href="/{n}">{n}</a>' for n in range(60)), **{f"/{n}": "a" for n in range(60)}}
    with FakeWeb(pages) as web:
        words = ["crawl", f"{web.url}/", "--delay", "0", "--processes", processes, *web.options, "--jsonl"]
        done = holdfast(*words, cwd=tmp_path)
    events = events_of(done.out)
    assert [event["type"] for event in events[-3:]] == ["run.finished", "job.status", "progress"]
    assert [event["type"] for event in events[-2:]] == ["job.status", "progress"]
    assert [event["status"] for event in events[-2:]] == ["completed", "completed"]
    kinds = Counter(event["type"] for event in events[:-2])
    assert (kinds["target.succeeded"], kinds["run.finished"]) == (61, 1)
    types = [event["type"] for event in events]
    assert types.index("run.started") < types.index("target.succeeded")


def test_a_crash_is_told_by_the_command_that_goes_on_and_nothing_comes_twice(
    slow_tree: WorldServer, tmp_path: Path
) -> None:
    words = crawl_words(slow_tree, "--jsonl", "--max-pages", "60")
    killed = Running(*words, cwd=tmp_path)
    killed.wait_for("Starting")
    slow_tree_has_answered(slow_tree, 20)
    killed.send(signal.SIGKILL)
    killed.end()
    done = holdfast(*words, cwd=tmp_path)
    assert done.code == 13, done.err
    events = events_of(done.out)
    kinds = Counter(event["type"] for event in events)
    assert (kinds["run.started"], kinds["run.finished"]) == (1, 2)  # the one that was cut off is closed, too
    assert kinds["lease.rescued"] > 0
    ids = [event["id"] for event in events if "id" in event]
    assert len(ids) == len(set(ids))
    counts = events[-1]["counts"]
    assert 0 < kinds["target.succeeded"] < counts["succeeded"] == 60


def slow_tree_has_answered(world: WorldServer, pages: int) -> None:
    wait_until(lambda: len(world.asks()) > pages, 30, "pages were asked for")


def test_who_watches_is_told_the_same(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    try:
        crawl.wait_for(" crawling succeeded=")
        watch = Running("watch", "frogs", "--jsonl", cwd=tmp_path)
        watch.wait_for("watching")
        slow_tree_has_answered(slow_tree, len(slow_tree.asks()) + 40)
        assert holdfast("exclude", "frogs", "/none/*", cwd=tmp_path).code == 0
        assert holdfast("pause", "frogs", cwd=tmp_path).code == 0
        events = events_of(watch.end().out)
    finally:
        crawl.stop()
    kinds = Counter(event["type"] for event in events)
    assert kinds["target.succeeded"] >= 20
    assert [(event["type"], event.get("status")) for event in events[-3:]] == [
        ("run.finished", None),
        ("job.status", "paused"),
        ("progress", "paused"),
    ]
    assert {"exclusion.added", "checkpoint.written", "run.finished", "job.status", "progress"} <= set(kinds)

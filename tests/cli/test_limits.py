"""Limits as typed: pages and active time, what is said when one is reached, and the ways on (PAU-07, PAU-08, C8)."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

from cli.commands import Done, Running, crawl_words, holdfast, ledger_in, put_into, submit
from holdfast.audit.verify import verify
from holdfast.control import reopen
from holdfast.demo.serving import WorldServer
from holdfast.testing.fake_web import FakeWeb

PAUSE_S = 3.0
LATE_S_MAX = 3.0  # a limit is kept to about a second, by a machine that does nothing else


def pages_asked(world: WorldServer) -> int:
    """By the site's own log; robots.txt is no target."""
    return sum(not ask["key"].endswith("/robots.txt") for ask in world.asks())


def status(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = holdfast("status", "frogs", "--json", cwd=folder).json()
    return document


def assert_books_hold(folder: Path) -> None:
    with ledger_in(folder) as ledger:
        assert list(verify(ledger.query, ledger.job("frogs").id)) == []


def test_ten_pages_are_fetched_then_ten_more(slow_tree: WorldServer, tmp_path: Path) -> None:
    """C8, PAU-08, CHK-02: by the site's own log."""
    done = holdfast(*crawl_words(slow_tree, "--max-pages", "10", "-o", "frogs.jsonl", "--json"), cwd=tmp_path)
    assert done.code == 13, done.err
    assert pages_asked(slow_tree) == 10
    job = done.json()
    assert (job["status"], job["stop_reason"], job["health"]) == ("timeout", "page_limit", "partial")
    assert " frogs page_limit succeeded=" in done.err
    assert job["limits"] == {"max_pages": 10, "time_seconds": None}
    assert job["counts"]["succeeded"] + job["counts"]["failed"] == 10
    assert job["counts"]["pending"] > 0
    assert len((tmp_path / "frogs.jsonl").read_text().splitlines()) == job["counts"]["succeeded"]
    assert "Stopped at its page limit  frogs  R-1   discovered " in done.err
    assert "continue: holdfast resume frogs --extend-pages 500" in done.err
    more = holdfast("resume", "frogs", "--extend-pages", "10", cwd=tmp_path)
    assert more.code == 13, more.err
    assert "frogs: max pages 10 -> 20" in more.err
    assert "Resuming frogs: " in more.err
    assert pages_asked(slow_tree) == 20
    assert_books_hold(tmp_path)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_the_limit_holds_however_many_work_and_whatever_is_killed(
    slow_tree: WorldServer, tmp_path: Path, processes: str
) -> None:
    """PAU-08: exact with concurrency, with two processes and across kill -9."""
    words = crawl_words(
        slow_tree, "--max-pages", "150", "--processes", processes, "--concurrency", "16", "--per-host", "16"
    )
    crawl = Running(*words, cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    crawl.stop()
    done = holdfast(*words, "--json", cwd=tmp_path)
    assert done.code == 13, done.err
    counts = done.json()["counts"]
    assert (counts["succeeded"] + counts["failed"], counts["in_progress"]) == (150, 0)
    assert_books_hold(tmp_path)


def test_the_limit_holds_for_two_processes_on_postgresql(
    slow_tree: WorldServer, tmp_path: Path, pg_schema_url: str
) -> None:
    """PAU-08: their claims take turns there."""
    words = crawl_words(slow_tree, "--processes", "2", "--per-host", "8", "--database", pg_schema_url)
    done = holdfast(*words, "--max-pages", "60", cwd=tmp_path)
    assert done.code == 13, done.err
    assert pages_asked(slow_tree) == 60
    more = ["resume", "frogs", "--extend-pages", "30", "--processes", "2", "--database", pg_schema_url]
    assert holdfast(*more, cwd=tmp_path).code == 13
    assert pages_asked(slow_tree) == 90
    assert holdfast("verify", "frogs", "--database", pg_schema_url, cwd=tmp_path).code == 0


@pytest.mark.parametrize("processes", ["1", "2"])
def test_time_runs_while_the_job_is_worked_and_not_while_it_is_paused(
    slow_tree: WorldServer, tmp_path: Path, processes: str
) -> None:
    """PAU-07, PAU-08: three seconds of active time, a pause in between, and then half a second more."""
    words = crawl_words(slow_tree, "--time-limit", "3s", "--processes", processes, "--delay", "20ms")
    began = time.monotonic()
    crawl = Running(*words, cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    crawl.send(signal.SIGINT)
    assert crawl.end().code == 11
    first_s = time.monotonic() - began
    before = status(tmp_path)
    assert before["status"] == "paused"
    time.sleep(PAUSE_S)
    began = time.monotonic()
    done = holdfast(*words, "-o", "frogs.jsonl", "--json", cwd=tmp_path)
    second_s = time.monotonic() - began
    assert done.code == 12, done.err
    job = done.json()
    assert (job["status"], job["stop_reason"]) == ("timeout", "time_limit")
    assert job["limits"] == {"max_pages": None, "time_seconds": 3.0}
    assert 2.9 <= job["active_seconds"] <= min(first_s + second_s, 3 + LATE_S_MAX)
    assert job["active_seconds"] - before["active_seconds"] <= second_s, "the pause was counted"
    assert job["counts"]["pending"] > 0
    assert len((tmp_path / "frogs.jsonl").read_text().splitlines()) == job["counts"]["succeeded"] > 0
    assert "because: the time limit is reached" in done.err
    began = time.monotonic()
    more = holdfast("resume", "frogs", "--extend", "500ms", "--json", cwd=tmp_path)
    third_s = time.monotonic() - began
    assert more.code == 12, more.err
    extended = more.json()
    assert extended["counts"]["succeeded"] > job["counts"]["succeeded"]
    assert 0 < extended["active_seconds"] - job["active_seconds"] <= min(third_s, 0.5 + LATE_S_MAX)
    assert_books_hold(tmp_path)


def test_a_time_limit_reached_before_anything_is_fetched_is_said_so(slow_tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast(*crawl_words(slow_tree, "--time-limit", "1ms"), cwd=tmp_path)
    assert done.code == 12, done.err


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_rescan_of_as_many_pages_as_the_limit_fetches_them_again(tmp_path: Path, processes: str) -> None:
    """TGT-04, PAU-08: what is asked for again leaves the count, and two pages are within a limit of two once more."""
    with FakeWeb({"/": '<a href="/b">b</a>', "/b": "b"}.get) as web:
        words = ["crawl", f"{web.url}/", "--name", "frogs", "--max-pages", "2", *web.options]
        assert holdfast(*words, cwd=tmp_path).code == 0
        done = holdfast("crawl", "frogs", "--mode", "full", "--processes", processes, "--json", cwd=tmp_path)
        assert done.code == 0, done.err
        assert (done.json()["status"], done.json()["counts"]["succeeded"]) == ("completed", 2)
        assert (web.asked.count("/"), web.asked.count("/b")) == (2, 2)
    assert_books_hold(tmp_path)


def test_a_job_that_was_timed_out_while_pages_were_asked_for_again_is_resumed(tmp_path: Path) -> None:
    """C4: at its page limit it only seems to be."""
    with FakeWeb({"/": '<a href="/b">b</a>', "/b": "b"}.get) as web:
        assert (
            holdfast("crawl", f"{web.url}/", "--name", "frogs", "--max-pages", "2", *web.options, cwd=tmp_path).code
            == 0
        )
        with ledger_in(tmp_path) as ledger:
            job = reopen.rescan(ledger, ledger.job("frogs"), mode="full", actor="test")
            ledger.request(job.id, "time_out", actor="test", because="enough")
            ended = ledger.acknowledge(job.id, is_dead=lambda owner: True)
            assert ended is not None
            assert ended.status == "timeout"
        assert holdfast("resume", "frogs", cwd=tmp_path).code == 0
        assert web.asked.count("/b") == 2


def _at_its_limit(world: WorldServer, folder: Path) -> Done:
    return holdfast(*crawl_words(world, "--max-pages", "5"), cwd=folder)


def test_the_same_command_at_its_limit_says_which_and_fetches_nothing(slow_tree: WorldServer, tmp_path: Path) -> None:
    """C4: timeout, not raised."""
    assert _at_its_limit(slow_tree, tmp_path).code == 13
    for words in (crawl_words(slow_tree, "--max-pages", "5"), ["crawl", "frogs"], ["resume", "frogs"]):
        done = holdfast(*words, cwd=tmp_path)
        assert done.code == 13
        assert (
            "frogs has reached its page limit of 5; nothing is fetched. "
            "To go on: holdfast resume frogs --extend-pages 500. --new starts over." in done.err
        )
    told = holdfast("crawl", "frogs", "--mode", "new", cwd=tmp_path).err
    assert "nothing is fetched. --mode new is for a complete job. To go on: holdfast resume frogs" in told
    assert pages_asked(slow_tree) == 5


def test_the_same_command_with_a_raised_limit_resumes(slow_tree: WorldServer, tmp_path: Path) -> None:
    """C4: timeout, raised; the change is printed and an event."""
    assert _at_its_limit(slow_tree, tmp_path).code == 13
    done = holdfast(*crawl_words(slow_tree, "--max-pages", "8"), cwd=tmp_path)
    assert done.code == 13
    assert "frogs: max pages 5 -> 8" in done.err
    assert "Resuming frogs: " in done.err
    assert pages_asked(slow_tree) == 8
    with ledger_in(tmp_path) as ledger:
        events = ledger.history(ledger.job("frogs").id)[0]
    assert [event.because for event in events if event.verb == "amend"] == ["max pages 5 -> 8"]


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_job_in_which_nothing_moves_is_failed_as_stale(tmp_path: Path, processes: str) -> None:
    """PAU-09: exit 8, and the same command goes on after the fix."""
    with WorldServer("tree", pages=3, delay_ms=20_000, log_path=tmp_path / "requests.jsonl") as world:
        words = crawl_words(world, "--processes", processes)
        done = holdfast(*words, cwd=tmp_path, HOLDFAST_STALE_AFTER="2s", HOLDFAST_PAUSE_DEADLINE="1s")
    assert done.code == 8, done.err
    assert "because: stale: nothing moved for 2 s while it was worked" in done.err
    job = status(tmp_path)
    assert (job["status"], job["stop_reason"], job["health"]) == ("failed", "stale", "failed")
    assert_books_hold(tmp_path)


def test_a_site_within_its_limit_is_complete(tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast(*crawl_words(tree, "--max-pages", "1000", "--time-limit", "1h", "--json"), cwd=tmp_path)
    assert (done.code, done.json()["status"]) == (0, "completed")
    assert done.json()["limits"] == {"max_pages": 1000, "time_seconds": 3600.0}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["frogs", "--extend", "30m"], "frogs has no time limit that could be extended"),
        (["frogs", "--extend-pages", "3"], "frogs has no page limit that could be extended"),
        (["--extend", "30m"], "--extend, --extend-pages and --strategy are about one job"),
        (["frogs", "--extend-pages", "0"], "--extend-pages"),
        (["frogs", "--extend", "soon"], "--extend"),
    ],
)
def test_a_limit_that_cannot_be_extended_is_refused(tmp_path: Path, words: list[str], sentence: str) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger), "paused")
    done = holdfast("resume", *words, cwd=tmp_path)
    assert done.code == 2
    assert sentence in done.err


@pytest.mark.parametrize("words", [["--max-pages", "0"], ["--max-pages", "many"], ["--time-limit", "0"]])
def test_a_limit_that_cannot_be_is_refused(tree: WorldServer, tmp_path: Path, words: list[str]) -> None:
    assert holdfast(*crawl_words(tree, *words), cwd=tmp_path).code == 2

"""Starting again: every row of ux 3.3 through the real command, by `crawl` and by `resume` (C4)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from cli.commands import Running, crawl_words, holdfast, ledger_in, put_into, submit
from holdfast.clock import SystemClock
from holdfast.demo.serving import WorldServer
from holdfast.engine.liveness import boot_id
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.job import Job
from holdfast.ports import Ledger

TWO_HOURS_MS = 2 * 3_600_000
DIFFERENT = "max pages none -> 200, delay 0s -> 1ms, ignore_robots False -> True"
BOTH = pytest.mark.parametrize("verb", ["crawl", "resume"])


class TwoHoursAgo(SystemClock):
    def wall_ms(self) -> int:
        return super().wall_ms() - TWO_HOURS_MS


@contextmanager
def ledger_two_hours_ago(folder: Path) -> Iterator[Ledger]:
    (folder / "holdfast-data").mkdir()
    ledger = SqliteLedger.open(folder / "holdfast-data" / "ledger.db", TwoHoursAgo(), boot_id())
    try:
        yield ledger
    finally:
        ledger.close()


def left_two_hours_ago(folder: Path, world: WorldServer, status: str) -> Job:
    with ledger_two_hours_ago(folder) as ledger:
        return put_into(ledger, submit(ledger, world), status)


@BOTH
def test_a_pending_job_is_started(verb: str, tree: WorldServer, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        job = submit(ledger, tree)
    done = holdfast(verb, "frogs", cwd=tmp_path)
    assert (done.code, done.err.splitlines()[0]) == (0, f"Starting {job.uid} frogs")


def test_a_job_that_is_not_there_is_started_by_crawl_and_unknown_to_resume(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).err.startswith("Starting J-")
    assert holdfast("resume", "toads", cwd=tmp_path).code == 5


@pytest.mark.parametrize("mode", ["new", "resume"])
def test_a_mode_for_a_job_that_has_another_name_begins_no_second_crawl(
    mode: str, tree: WorldServer, tmp_path: Path
) -> None:
    left_two_hours_ago(tmp_path, tree, "completed")
    unnamed = ["crawl", *tree.oracle()["seeds"], "--allow", tree.address, "--delay", "0"]
    for words in (unnamed, [*unnamed, "--name", "toads"]):
        done = holdfast(*words, "--mode", mode, cwd=tmp_path)
        assert done.code == 6
        assert "There is no such job yet, and frogs works the same inputs" in done.err
        assert f"did you mean: holdfast crawl frogs --mode {mode}" in done.err
    with ledger_in(tmp_path) as ledger:
        assert [job.name for job in ledger.jobs()] == ["frogs"]


def test_a_second_job_of_the_same_inputs_is_begun_and_the_first_is_named(tree: WorldServer, tmp_path: Path) -> None:
    left_two_hours_ago(tmp_path, tree, "completed")
    done = holdfast(*crawl_words(tree, "--max-pages", "3", "--name", "toads"), cwd=tmp_path)
    assert done.code == 13
    told = "A second job of the same inputs is begun beside frogs. To go on with that: holdfast crawl frogs"
    assert done.err.splitlines()[0] == told
    again = holdfast(*crawl_words(tree, "--max-pages", "3", "--name", "toads"), cwd=tmp_path)
    assert "second job" not in again.err


def test_the_first_run_of_a_job_says_that_it_is_full_whatever_its_mode(tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast(*crawl_words(tree, "--max-pages", "3", "--mode", "new"), cwd=tmp_path)
    assert done.code == 13
    assert done.err.startswith(
        "There is no earlier run to compare with (--mode new): this first one fetches everything."
    )


@BOTH
@pytest.mark.parametrize("status", ["paused", "in_progress"])
def test_a_job_that_nobody_works_is_resumed(verb: str, status: str, tree: WorldServer, tmp_path: Path) -> None:
    left_two_hours_ago(tmp_path, tree, status)
    done = holdfast(verb, "frogs", cwd=tmp_path)
    assert done.code == 0
    assert done.err.splitlines()[0] == "Resuming frogs: 0 done, 0 left, stopped 2 h ago. --new starts over."


@BOTH
def test_a_job_that_a_live_process_works_is_watched(verb: str, slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    watching = Running(verb, "frogs", cwd=tmp_path)
    said = watching.wait_for("; watching.")
    assert said.startswith(f"frogs is being worked by pid {crawl.pid} on ")
    assert holdfast("pause", "frogs", cwd=tmp_path).code == 0
    assert (crawl.end().code, watching.end().code) == (10, 10)


@BOTH
def test_a_complete_job_says_so_and_fetches_nothing(verb: str, tree: WorldServer, tmp_path: Path) -> None:
    left_two_hours_ago(tmp_path, tree, "completed")
    asked = len(tree.asks())
    done = holdfast(verb, "frogs", cwd=tmp_path)
    assert (done.code, len(tree.asks())) == (0, asked)
    assert done.err.splitlines()[0] == (
        "frogs is complete: 0 done, 0 failed, 2 h ago. --mode new looks for changes; --new starts over."
    )


def test_a_complete_job_with_failures_exits_as_it_did(tree: WorldServer, tmp_path: Path) -> None:
    words = [
        "crawl",
        f"{tree.url}/p/59",
        f"{tree.url}/p/60",
        "--allow",
        tree.address,
        "--delay",
        "0",
        "--name",
        "frogs",
    ]
    assert [holdfast(*words, cwd=tmp_path).code for _ in range(2)] == [3, 3]


@BOTH
@pytest.mark.parametrize(("field", "value", "code", "sentence"), [
    ("max_pages", 0, 13, "frogs has reached its page limit of 0; nothing is fetched. "
                         "To go on: holdfast resume frogs --extend-pages 500. --new starts over."),
    ("time_limit_s", 0.0, 12, "frogs has reached its time limit of 0s of active time; nothing is fetched. "
                              "To go on: holdfast resume frogs --extend 30m. --new starts over."),
])  # fmt: skip
def test_a_job_at_its_limit_says_which(
    verb: str, field: str, value: float, code: int, sentence: str, tree: WorldServer, tmp_path: Path
) -> None:
    """PAU-08, PAU-14."""
    with ledger_in(tmp_path) as ledger:
        job = put_into(ledger, submit(ledger, tree), "timeout")
        options = msgspec.structs.replace(job.options, **{"max_pages": None, field: value})
        ledger.amend(job, options=options, actor="test", because="test")
    asked = len(tree.asks())
    done = holdfast(verb, "frogs", cwd=tmp_path)
    assert done.err.splitlines()[0] == sentence
    assert (done.code, len(tree.asks())) == (code, asked)


@BOTH
def test_a_failed_job_says_why_and_resumes(verb: str, tree: WorldServer, tmp_path: Path) -> None:
    left_two_hours_ago(tmp_path, tree, "failed")
    done = holdfast(verb, "frogs", cwd=tmp_path)
    assert done.err.splitlines()[:2] == [
        "frogs failed: no seed could be fetched.",
        "Resuming frogs: 0 done, 0 left, stopped 2 h ago. --new starts over.",
    ]
    assert done.code == 0


@BOTH
def test_a_cancelled_job_only_starts_over(verb: str, tree: WorldServer, tmp_path: Path) -> None:
    left_two_hours_ago(tmp_path, tree, "cancelled")
    done = holdfast(verb, "frogs", cwd=tmp_path)
    assert done.code == 6
    assert "frogs was cancelled for good. Allowed: holdfast crawl frogs --new." in done.err
    assert holdfast("crawl", "frogs", "--new", cwd=tmp_path).code == 0


def test_another_limit_or_pace_is_applied_printed_and_an_event(tree: WorldServer, tmp_path: Path) -> None:
    left_two_hours_ago(tmp_path, tree, "paused")
    done = holdfast("crawl", "frogs", "--max-pages", "7", "--time-limit", "90s", "--per-host", "3", cwd=tmp_path)
    assert done.code == 13
    assert done.err.splitlines()[0] == "frogs: max pages none -> 7, time limit none -> 90s, per_host 2 -> 3"
    with ledger_in(tmp_path) as ledger:
        events = ledger.history(ledger.job("frogs").id)[0]
    assert [event.because for event in events if event.verb == "amend"] == [
        "max pages none -> 7, time limit none -> 90s, per_host 2 -> 3"
    ]


@pytest.mark.parametrize(("mode", "what"), [
    ("full", "everything is fetched again"), ("new", "looking for what is new or changed"),
])  # fmt: skip
def test_a_complete_job_is_scanned_again_if_that_is_asked_for(
    mode: str, what: str, tree: WorldServer, tmp_path: Path
) -> None:
    """The rescan move, and a new run; what is kept is kept."""
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    asked = pages_asked(tree)
    done = holdfast("crawl", "frogs", "--mode", mode, "--json=status,run,counts", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.err.splitlines()[0].startswith("Scanning frogs again: 60 done, 0 failed, ")
    assert done.err.splitlines()[0].endswith(f" ago; {what}.")
    assert "Resuming" not in done.err
    assert (done.json()["status"], done.json()["run"], done.json()["counts"]["succeeded"]) == ("completed", "R-2", 60)
    assert pages_asked(tree) == asked + 60
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


@pytest.mark.parametrize("mode", ["full", "new"])
def test_another_pace_of_a_scan_is_applied_printed_and_an_event(mode: str, tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    asked = pages_asked(tree)
    words = ("--mode", mode, "--delay", "1ms", "--max-pages", "200", "--ignore-robots")
    done = holdfast("crawl", "frogs", *words, cwd=tmp_path)
    assert done.code == 0, done.err
    changes, warning, scanning = done.err.splitlines()[:3]
    assert changes == f"frogs: {DIFFERENT}"
    assert warning.startswith("Warning: frogs ignores robots.txt ")
    assert scanning.startswith("Scanning frogs again: ")
    assert pages_asked(tree) == asked + 60
    with ledger_in(tmp_path) as ledger:
        job = ledger.job("frogs")
        events = ledger.history(job.id)[0]
    assert (job.options.delay_ms, job.options.max_pages, job.options.ignore_robots) == (1, 200, True)
    assert [event.because for event in events if event.verb == "amend"] == [DIFFERENT]
    assert holdfast("verify", "frogs", cwd=tmp_path).code == 0


@pytest.mark.parametrize("mode", [(), ("--mode", "resume")])
def test_another_pace_of_a_complete_job_is_kept_for_its_next_scan_and_said_to_be(
    mode: tuple[str, ...], tree: WorldServer, tmp_path: Path
) -> None:
    """ux 3.3: as in Python, what is typed for a job is kept with it; nothing is fetched for that."""
    left_two_hours_ago(tmp_path, tree, "completed")
    typed = ("--delay", "1ms", "--concurrency", "3", "--per-host", "1", "--timeout", "9s")
    done = holdfast("crawl", "frogs", *mode, *typed, cwd=tmp_path)
    said, complete = done.err.splitlines()[:2]
    changes = said.removeprefix("frogs: ").removesuffix(" (kept for its next scan)").split(", ")
    assert sorted(changes) == ["concurrency 8 -> 3", "delay 0s -> 1ms", "per_host 2 -> 1", "timeout 60s -> 9s"]
    assert complete.startswith("frogs is complete: ")
    assert holdfast("crawl", "frogs", *mode, *typed, cwd=tmp_path).err.startswith("frogs is complete: ")
    with ledger_in(tmp_path) as ledger:
        options = ledger.job("frogs").options
        assert len([event for event in ledger.history(ledger.job("frogs").id)[0] if event.verb == "amend"]) == 1
    assert (options.delay_ms, options.concurrency, options.per_host, options.timeout_s) == (1, 3, 1, 9.0)
    assert "->" not in holdfast("crawl", "frogs", "--mode", "full", cwd=tmp_path).err
    with ledger_in(tmp_path) as ledger:
        assert ledger.job("frogs").options == options


def test_with_mode_resume_a_complete_job_stays_complete(tree: WorldServer, tmp_path: Path) -> None:
    left_two_hours_ago(tmp_path, tree, "completed")
    done = holdfast("crawl", "frogs", "--mode", "resume", cwd=tmp_path)
    assert done.err.startswith("frogs is complete: ")


def test_an_unfinished_job_is_finished_first_whatever_the_mode(tree: WorldServer, tmp_path: Path) -> None:
    left_two_hours_ago(tmp_path, tree, "paused")
    assert holdfast("crawl", "frogs", "--mode", "full", cwd=tmp_path).err.startswith("Resuming frogs: ")


def pages_asked(world: WorldServer) -> int:
    return sum(not ask["key"].endswith("/robots.txt") for ask in world.asks())

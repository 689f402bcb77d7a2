"""Commands that look into a job's past and its failures: jobs, errors, events, checkpoints, watch."""

from __future__ import annotations

import json
import signal
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cli.commands import CONTROL_CODE, Running, crawl_words, holdfast, ledger_in, put_into, submit
from cli.worked import write_many_failed
from holdfast.cli.screen.values import since
from holdfast.demo.serving import WorldServer
from holdfast.errors import BadParams
from holdfast.policy.filters import JOBS
from waiting import wait_until

NOW_MS = 1_772_373_600_000


@pytest.fixture(scope="module")
def crawled(tree: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished crawl of which one page failed and some were too deep."""
    folder = tmp_path_factory.mktemp("crawled")
    done = holdfast(*crawl_words(tree, f"{tree.url}/p/60", "--max-depth", "2"), cwd=folder)
    assert done.code == 3, done.err
    return folder


def test_errors_come_in_groups_with_an_example_and_the_retry_command(crawled: Path, tree: WorldServer) -> None:
    [group] = holdfast("errors", "frogs", "--json", cwd=crawled).json()["errors"]
    assert (group["code"], group["count"]) == ("http_404", 1)
    assert group["example"]["url"] == f"{tree.url}/p/60"
    assert group["example"]["message"] == "http_404: HTTP 404; attempt 1 failed, not tried again"
    assert group["first_at"] == group["last_at"]
    assert group["hint"] == f"holdfast retry frogs --where 'code:http_404 host:{tree.address}'"


def test_errors_are_a_table_that_says_what_to_do(crawled: Path) -> None:
    done = holdfast("errors", "frogs", cwd=crawled)
    head, row, meaning = done.out.splitlines()
    assert head.split() == ["COUNT", "CODE", "HOST", "FIRST", "LAST", "EXAMPLE"]
    assert row.startswith("1      http_404")
    assert meaning == "http_404: no such page"
    assert done.err.startswith("1 failed target. Again: holdfast retry frogs --where code:http_404   One of them: ")


@pytest.mark.parametrize("limit", [(), ("--limit", "1")])
def test_several_codes_are_retried_by_the_general_command(limit: tuple[str, ...], tmp_path: Path) -> None:
    write_many_failed(tmp_path, 6)
    done = holdfast("errors", "frogs", *limit, cwd=tmp_path)
    assert done.err.startswith("6 failed targets. Again: holdfast retry frogs   One of them: ")


def test_no_errors_are_said_with_what_was_skipped(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path).code == 0
    done = holdfast("errors", "frogs", cwd=tmp_path)
    assert done.err == "No failed targets. 9 were skipped by rule: holdfast targets frogs --where status:skipped\n"


def test_events_tell_who_did_what_when_and_why(crawled: Path) -> None:
    """LOG-04."""
    lines = holdfast("events", "frogs", "--jsonl", cwd=crawled).out.splitlines()
    told = [json.loads(line) for line in lines]
    assert list(told[0]) == ["id", "at", "type", "actor", "job", "name", "verb", "from", "to", "because"]
    assert [row["at"] for row in told] == sorted((row["at"] for row in told), key=datetime.fromisoformat)
    assert len({row["id"] for row in told}) == len(told)
    moves = [(row["verb"], row["from"], row["to"]) for row in told if row["type"] == "job.status"]
    assert moves == [
        ("submit", None, "pending"), ("start", "pending", "in_progress"), ("complete", "in_progress", "completed"),
    ]  # fmt: skip
    assert [row["type"] for row in told if row["id"].startswith("R-")] == ["run.started", "run.finished"]


def test_events_are_chosen_by_type_and_time(crawled: Path) -> None:
    chosen = holdfast("events", "--type", "run.started,run.finished", "--since", "2h", "--json", cwd=crawled).json()
    assert chosen["schema"] == "holdfast.events/1"
    assert chosen["next_cursor"] is None
    assert [row["type"] for row in chosen["events"]] == ["run.started", "run.finished"]
    assert holdfast("events", "--since", "2126-01-01", "--json", cwd=crawled).json()["events"] == []
    wrong = holdfast("events", "--type", "job.statsu", cwd=crawled)
    assert (wrong.code, "did you mean job.status?" in wrong.err) == (2, True)


def test_people_see_the_last_events(crawled: Path) -> None:
    done = holdfast("events", "frogs", "--limit", "3", cwd=crawled)
    assert len(done.out.splitlines()) == 4
    assert "complete" in done.out
    assert "chunk.lease" not in done.out
    assert "The last 3 are shown." in done.err
    assert "chunk.lease" in holdfast("events", "frogs", "-v", cwd=crawled).out


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2h", NOW_MS - 7_200_000), ("3d", NOW_MS - 259_200_000), ("500ms", NOW_MS - 500),
        ("2026-03-01T14:00Z", 1_772_373_600_000), ("2026-03-01", 1_772_323_200_000),
    ],
)  # fmt: skip
def test_a_time_is_read_as_it_is_meant(text: str, ms: int) -> None:
    assert since(text, NOW_MS) == ms


@pytest.mark.parametrize("text", ["yesterday", "", "7y", "2026-13-01"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadParams, match="is not a time"):
        since(text, NOW_MS)


def test_checkpoints_come_newest_first_and_are_chained(crawled: Path) -> None:
    rows = holdfast("checkpoints", "frogs", "--json", cwd=crawled).json()["checkpoints"]
    assert [row["number"] for row in rows] == list(range(len(rows), 0, -1))
    assert rows[0]["reason"] == "final"
    assert all(row["valid"] for row in rows)
    assert [row["previous"] for row in rows] == [*(row["checksum"] for row in rows[1:]), None]


def test_a_checkpoint_is_shown_with_all_that_was_visited_and_queued(crawled: Path) -> None:
    """CHK-03, CHK-04."""
    first = holdfast("checkpoints", "frogs", "--show", "1", "--json", cwd=crawled).json()
    counts = first["counts"]
    assert first["schema"] == "holdfast.checkpoint/1"
    assert len(first["visited"]) == counts["succeeded"] + counts["failed"] + counts["skipped"]
    assert len(first["queued"]) == counts["pending"] + counts["in_progress"] > 0
    assert {"url", "depth", "parent", "type", "priority"} <= set(first["queued"][0])
    assert holdfast("checkpoints", "frogs", "--show", "1", "--json", cwd=crawled).json() == first
    lines = holdfast("checkpoints", "frogs", "--show", "1", "--jsonl", cwd=crawled).out.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["url"] for row in rows if row["list"] == "queued"] == [row["url"] for row in first["queued"]]


def test_a_checkpoint_that_is_not_there_is_not_found(crawled: Path) -> None:
    done = holdfast("checkpoints", "frogs", "--show", "999", cwd=crawled)
    assert (done.code, "its newest is" in done.err) == (5, True)


def test_a_damaged_checkpoint_is_named_and_its_predecessor_is_used(tree: WorldServer, tmp_path: Path) -> None:
    """CHK-06."""
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    newest = holdfast("checkpoints", "frogs", "--json", cwd=tmp_path).json()["checkpoints"][0]["number"]
    with sqlite3.connect(tmp_path / "holdfast-data" / "ledger.db") as ledger:
        ledger.execute("UPDATE checkpoint SET doc = x'7b' WHERE number = ?", (newest,))
    ledger.close()
    done = holdfast("checkpoints", "frogs", "--show", str(newest), "--json", cwd=tmp_path)
    assert f"Checkpoint {newest} of frogs fails its checksum; using {newest - 1}. Rows are intact" in done.err
    assert (done.json()["number"], done.json()["instead_of"]) == (newest - 1, newest)
    listed = holdfast("checkpoints", "frogs", cwd=tmp_path).out.splitlines()[1]
    assert "damaged" in listed


def test_jobs_are_filtered_by_status_kind_and_filter(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        for status in ("pending", "paused", "completed", "in_progress"):
            put_into(ledger, submit(ledger, name=status), status)
    assert names(tmp_path) == ["pending", "paused", "completed", "in_progress"]
    assert names(tmp_path, "--status", "paused,completed") == ["paused", "completed"]
    assert names(tmp_path, "--kind", "cases") == []
    assert names(tmp_path, "--where", "kind:site -name:p*") == ["completed", "in_progress"]
    assert names(tmp_path, "--where", "stale:false", "--status", "running") == ["in_progress"]
    wrong = holdfast("jobs", "--where", "code:http_404", cwd=tmp_path)
    assert (wrong.code, f"keys: {' '.join(JOBS.keys)}" in wrong.err) == (2, True)


def test_a_running_job_without_a_commit_for_an_hour_is_stale(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger), "in_progress")
    assert names(tmp_path, "--stale") == []
    with sqlite3.connect(tmp_path / "holdfast-data" / "ledger.db") as file:
        file.execute("UPDATE job SET since = since - 3700000")
    file.close()
    assert names(tmp_path, "--stale") == ["frogs"]


def test_watching_ends_with_ctrl_c_and_changes_nothing(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    try:
        crawl.wait_for(" crawling succeeded=")
        watch = Running("watch", "frogs", cwd=tmp_path)
        watch.wait_for("watching.")
        watch.wait_for(" crawling succeeded=")
        watch.send(signal.SIGINT)
        seen = watch.end()
        assert (seen.code, "Stopped watching; frogs goes on in " in seen.err) == (0, True)
        before = succeeded(tmp_path)
        wait_until(lambda: succeeded(tmp_path) > before, 30, "the crawl goes on")
    finally:
        crawl.stop()


def test_watching_ends_with_the_job_and_has_its_exit_code(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    watch = Running("watch", "frogs", cwd=tmp_path)
    watch.wait_for("watching.")
    assert holdfast("pause", "frogs", cwd=tmp_path).code == 0
    assert crawl.end().code == 10
    seen = watch.end()
    assert seen.code == 10
    assert "Paused  frogs" in seen.err


def test_there_is_nothing_to_watch_where_nobody_works(crawled: Path) -> None:
    done = holdfast("watch", "frogs", cwd=crawled)
    assert done.code == 3
    assert done.err.startswith("No process works frogs; there is nothing to watch.\nCompleted  frogs")


@pytest.mark.parametrize(
    "words",
    [("jobs",), ("errors", "frogs"), ("events",), ("checkpoints", "frogs"), ("checkpoints", "frogs", "--show", "1")],
)
def test_off_a_terminal_no_list_has_control_codes(words: tuple[str, ...], crawled: Path) -> None:
    """C6."""
    for form in ((), ("--json",), ("--jsonl",)):
        done = holdfast(*words, *form, cwd=crawled)
        assert done.code == 0
        assert CONTROL_CODE.search(done.out + done.err) is None


def names(folder: Path, *words: str) -> list[Any]:
    return [row["name"] for row in holdfast("jobs", *words, "--json=name", cwd=folder).json()["jobs"]]


def succeeded(folder: Path) -> int:
    return int(holdfast("status", "frogs", "--json=counts", cwd=folder).json()["counts"]["succeeded"])

"""`crawl` from end to end: the same command resumes and says so; every row of ux 3.3 that applies (C1, C4)."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from cli.commands import CONTROL_CODE, Running, crawl_words, holdfast, ledger_in, put_into, submit, until_some_are_done
from holdfast.demo.serving import WorldServer

SCOPE_DIFFERS = """\
frogs has another scope:
  max_depth: none, now 2
  exclude: none, now /p/4*
Ways on: --update applies it to what is still pending; --new starts over; --name NAME makes another job.
"""


def urls_of(path: Path) -> list[str]:
    return [json.loads(line)["url"] for line in path.read_text().splitlines()]


def test_a_crawl_completes_exports_each_page_once_and_says_so_the_next_time(tree: WorldServer, tmp_path: Path) -> None:
    """C1, JOB-09."""
    first = holdfast(*crawl_words(tree, "-o", "frogs.jsonl"), cwd=tmp_path)
    assert first.code == 0, first.err
    assert first.out == ""
    assert not CONTROL_CODE.search(first.err)
    assert first.err.startswith("Starting J-")
    summary, ways = first.err.splitlines()[-2:]
    assert summary.startswith("Completed  frogs  R-1   discovered 60 = 60 succeeded + 0 failed + 0 skipped + 0 cancel")
    assert ways == "  results: frogs.jsonl"
    expected = sorted(page["url"] for page in tree.oracle()["pages"])
    assert sorted(urls_of(tmp_path / "frogs.jsonl")) == expected

    asked = len(tree.asks())
    second = holdfast(*crawl_words(tree), cwd=tmp_path)
    assert second.code == 0
    assert "frogs is complete: 60 done, 0 failed, " in second.err
    assert len(tree.asks()) == asked


def test_a_summary_names_no_file_that_its_job_did_not_write(tree: WorldServer, tmp_path: Path) -> None:
    """What lies where the results would be belongs to the job that took its place, or is not a file at all."""
    to_file = crawl_words(tree, "-o", "frogs.jsonl")
    assert holdfast(*to_file, "--start-paused", cwd=tmp_path).code == 0
    assert "  results: frogs.jsonl" in holdfast(*to_file, "--new", cwd=tmp_path).err.splitlines()
    for _ in ("worked", "complete"):
        aside = holdfast("resume", "frogs~1", cwd=tmp_path)
        assert aside.err.splitlines()[-1].startswith("  results: holdfast export frogs~1 "), aside.err

    (tmp_path / "frogs.jsonl").unlink()
    (tmp_path / "frogs.jsonl").mkdir()
    again = holdfast("crawl", "frogs", "--mode", "full", cwd=tmp_path)
    assert "Results are not written: " in again.err
    assert again.err.splitlines()[-1].startswith("  results: holdfast export frogs "), again.err


def test_a_crawl_is_the_same_on_postgresql(tree: WorldServer, tmp_path: Path, pg_schema_url: str) -> None:
    """Bytes stay in the data folder (JOB-11), the ledger does not."""
    first = holdfast(*crawl_words(tree, "--database", pg_schema_url, "-o", "frogs.jsonl"), cwd=tmp_path)
    assert first.code == 0, first.err
    assert len(set(urls_of(tmp_path / "frogs.jsonl"))) == 60
    assert not (tmp_path / "holdfast-data" / "ledger.db").exists()
    assert "frogs is complete: 60 done" in holdfast("resume", "frogs", "--database", pg_schema_url, cwd=tmp_path).err
    assert holdfast("verify", "frogs", "--deep", "--database", pg_schema_url, cwd=tmp_path).code == 0


def test_with_json_the_last_word_on_stdout_is_the_job_document(tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast("--json", *crawl_words(tree), cwd=tmp_path)
    document = done.json()
    assert (document["schema"], document["status"], document["health"]) == ("holdfast.job/1", "completed", "ok")
    assert document["counts"]["succeeded"] == 60
    assert done.err.splitlines()[-2].startswith("Completed  frogs")
    status = holdfast("status", "frogs", "--json", cwd=tmp_path)
    assert status.json() == document


def test_jsonl_gives_events_and_dash_o_dash_gives_results_and_nothing_else(tree: WorldServer, tmp_path: Path) -> None:
    events = [json.loads(line) for line in holdfast(*crawl_words(tree, "--jsonl"), cwd=tmp_path).out.splitlines()]
    assert {event["type"] for event in events} == {
        "job.status", "progress", "run.started", "run.finished", "target.succeeded", "checkpoint.written",
    }  # fmt: skip
    assert (events[0]["status"], events[-1]["status"]) == ("in_progress", "completed")
    done = [event["url"] for event in events if event["type"] == "target.succeeded"]
    assert len(done) == len(set(done)) == 60
    assert len({event["id"] for event in events if event["type"].startswith("target.")}) == 60
    points = [event["number"] for event in events if event["type"] == "checkpoint.written"]
    assert points == list(range(1, len(points) + 1))
    results = holdfast("crawl", "frogs", "-o", "-", cwd=tmp_path)
    assert len([json.loads(line)["url"] for line in results.out.splitlines()]) == 60


def test_quiet_leaves_only_the_summary(tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast("-q", *crawl_words(tree), cwd=tmp_path)
    assert [line.split()[0] for line in done.err.splitlines()] == ["Completed", "results:"]


def test_a_submitted_job_waits_for_the_same_command(tree: WorldServer, tmp_path: Path) -> None:
    asked = len(tree.asks())
    first = holdfast(*crawl_words(tree, "--start-paused"), cwd=tmp_path)
    assert (first.code, len(tree.asks())) == (0, asked)
    assert "Start it: holdfast crawl frogs" in first.err
    assert holdfast("status", "frogs", "--json=status", cwd=tmp_path).json() == {"status": "pending"}
    assert holdfast(*crawl_words(tree), cwd=tmp_path).err.startswith("Starting J-")


def test_a_paused_job_is_resumed_by_its_name(tree: WorldServer, tmp_path: Path) -> None:
    """PAU-03, PAU-06."""
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree), "paused")
    done = holdfast("crawl", "frogs", cwd=tmp_path)
    assert done.err.startswith("Resuming frogs: 0 done, 0 left, stopped ")
    assert done.err.splitlines()[0].endswith(" ago. --new starts over.")
    assert done.code == 0


def test_a_failed_job_says_why_before_it_goes_on(tree: WorldServer, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree), "failed")
    done = holdfast("crawl", "frogs", cwd=tmp_path)
    assert done.err.splitlines()[0] == "frogs failed: no seed could be fetched."
    assert done.err.splitlines()[1].startswith("Resuming frogs: ")
    assert done.code == 0


@pytest.mark.parametrize(
    ("status", "code", "sentence"),
    [
        ("timeout", 13, "frogs has reached its page limit of 0"),
        ("cancelled", 6, "frogs was cancelled for good. Allowed: holdfast crawl frogs --new."),
    ],
)
def test_a_job_that_is_over_fetches_nothing(
    status: str, code: int, sentence: str, tree: WorldServer, tmp_path: Path
) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree), status)
    asked = len(tree.asks())
    done = holdfast("crawl", "frogs", cwd=tmp_path)
    assert (done.code, len(tree.asks())) == (code, asked)
    assert sentence in done.err


def test_a_killed_crawl_goes_on_where_it_was(slow_tree: WorldServer, tmp_path: Path) -> None:
    """C1, PAU-05, PAU-10: the same command says Resuming, and nothing recorded as done is asked for again."""
    words = crawl_words(slow_tree, "--per-host", "8")
    crawl = Running(*words, cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    until_some_are_done(tmp_path, 20)
    crawl.stop()
    with ledger_in(tmp_path) as ledger:
        done_before = {row.url for row in ledger.pages(1)}
    asked_before = len(slow_tree.asks())

    again = Running(*words, cwd=tmp_path)
    resuming = again.wait_for("Resuming frogs: ")
    assert int(resuming.split()[2]) == len(done_before)
    recovered = again.wait_for("Recovered frogs: its worker died. 0 lost, ")
    assert " in flight " in recovered
    until_some_are_done(tmp_path, len(done_before) + 20)
    again.stop()
    asked_again = {ask["key"] for ask in slow_tree.asks()[asked_before:]}
    assert asked_again
    assert not asked_again & done_before


def test_a_job_that_a_live_process_works_is_watched_and_never_worked_twice(
    slow_tree: WorldServer, tmp_path: Path
) -> None:
    """PAU-04."""
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    watching = Running("crawl", "frogs", "--plain", cwd=tmp_path)
    line = watching.wait_for("is being worked by")
    assert line.startswith(f"frogs is being worked by pid {crawl.pid} on ")
    assert line.endswith("; watching.\n")
    watching.wait_for(" frogs crawling ")
    assert holdfast("pause", "frogs", cwd=tmp_path).code == 0
    assert crawl.end().code == 10
    watched = watching.end()
    assert watched.code == 10
    assert watched.err.splitlines()[-2].startswith("Paused  frogs  R-1 ")


def test_other_scope_options_are_refused_with_the_difference_and_the_ways_on(tmp_path: Path) -> None:
    words = ["crawl", "https://marsh.test/", "--name", "frogs", "--start-paused"]
    assert holdfast(*words, cwd=tmp_path).code == 0
    done = holdfast(*words, "--max-depth", "2", "--exclude", "/p/4*", cwd=tmp_path)
    assert done.code == 6
    assert sorted(done.err.splitlines()) == sorted(SCOPE_DIFFERS.splitlines())
    assert holdfast(*words, "--scope", "host", cwd=tmp_path).code == 0


def test_another_pace_is_applied_printed_and_kept(tmp_path: Path) -> None:
    words = ["crawl", "https://marsh.test/", "--name", "frogs", "--start-paused"]
    assert holdfast(*words, cwd=tmp_path).code == 0
    done = holdfast(*words, "--delay", "2s", "--concurrency", "4", cwd=tmp_path)
    assert done.err.splitlines()[0] == "frogs: concurrency 8 -> 4, delay 500ms -> 2s"
    assert holdfast(*words, cwd=tmp_path).err.startswith("Submitted")
    with ledger_in(tmp_path) as ledger:
        job = ledger.job("frogs")
        assert (job.options.delay_ms, job.options.concurrency) == (2000, 4)
        assert "amend" in [event.verb for event in ledger.history(job.id)[0]]


def test_new_starts_over_and_keeps_the_earlier_job(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    asked = len(tree.asks())
    again = holdfast("crawl", "frogs", "--new", cwd=tmp_path)
    assert again.code == 0
    assert again.err.splitlines()[0] == "The earlier frogs is kept as frogs~1."
    assert len(tree.asks()) == asked + 60
    names = [job["name"] for job in holdfast("status", "--json", cwd=tmp_path).json()["jobs"]]
    assert names == ["frogs~1", "frogs"]


def test_a_job_that_was_set_aside_half_way_is_not_taken_up_again_by_itself(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger), "in_progress")
    assert holdfast("crawl", "frogs", "--new", "--start-paused", cwd=tmp_path).code == 0
    assert "Nothing to resume" in holdfast("resume", cwd=tmp_path).err
    assert holdfast("status", "frogs~1", "--json=status", cwd=tmp_path).json() == {"status": "paused"}


def test_a_start_names_the_jobs_that_stand_still(tree: WorldServer, tmp_path: Path) -> None:
    """PAU-05: it works its own job only."""
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, name="toads"), "in_progress")
    done = holdfast(*crawl_words(tree), cwd=tmp_path)
    assert done.err.splitlines()[0] == "Standing still: toads. Take them up: holdfast resume"
    assert holdfast("status", "toads", "--json=status", cwd=tmp_path).json() == {"status": "in_progress"}


def test_the_same_urls_are_the_same_job_and_a_name_makes_another(tmp_path: Path) -> None:
    """JOB-11."""
    for words in (["marsh.test", "pond.test"], ["https://pond.test/", "https://marsh.test"], ["marsh.test/#frog"]):
        assert holdfast("crawl", *words, "--start-paused", cwd=tmp_path).code == 0
    holdfast("crawl", "marsh.test", "--name", "wet", "--start-paused", cwd=tmp_path)
    names = [job["name"] for job in holdfast("status", "--json=name", cwd=tmp_path).json()["jobs"]]
    assert names == ["marsh.test", "marsh.test-2", "wet"]


def test_seeds_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("# wet places\nhttps://pond.test/\n\nmarsh.test\n")
    assert holdfast("crawl", "--seeds", "seeds.txt", "--start-paused", cwd=tmp_path).code == 0
    with ledger_in(tmp_path) as ledger:
        assert ledger.jobs()[0].params["seeds"] == ["https://pond.test/", "https://marsh.test/"]


def test_a_seed_that_cannot_be_fetched_fails_the_job(tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast("crawl", f"{tree.url}/nowhere", "--allow", tree.address, "--delay", "0", cwd=tmp_path)
    assert done.code == 8
    assert done.err.splitlines()[-4].startswith("Failed  127.0.0.1-")
    assert "  failed: http_404 1  " in done.err


@pytest.mark.parametrize(("fail_on", "code"), [("any", 3), ("never", 0), ("50%", 0), ("1%", 3)])
def test_some_failed_pages_exit_as_fail_on_says(fail_on: str, code: int, tree: WorldServer, tmp_path: Path) -> None:
    words = ["crawl", f"{tree.url}/p/57", f"{tree.url}/p/58", f"{tree.url}/p/59", f"{tree.url}/p/60"]
    done = holdfast(*words, "--allow", tree.address, "--delay", "0", "--fail-on", fail_on, cwd=tmp_path)
    assert done.code == code, done.err
    assert "discovered 4 = 3 succeeded + 1 failed" in done.err


def test_results_are_written_however_the_command_ends(tree: WorldServer, tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        put_into(ledger, submit(ledger, tree), "timeout")
    done = holdfast("crawl", "frogs", "-o", "frogs.jsonl", cwd=tmp_path)
    assert done.code == 13
    assert (tmp_path / "frogs.jsonl").read_text() == ""


def test_a_secret_in_a_header_reaches_the_site_and_not_the_ledger(tree: WorldServer, tmp_path: Path) -> None:
    words = crawl_words(tree, "--header", "X-Key: env:FROG_KEY", "--max-depth", "0")
    assert holdfast(*words, cwd=tmp_path).code == 2
    done = holdfast(*words, cwd=tmp_path, FROG_KEY="croak")
    assert done.code == 0, done.err
    stored = sqlite3.connect(tmp_path / "holdfast-data" / "ledger.db")
    try:
        assert "croak" not in "".join(stored.iterdump())
    finally:
        stored.close()

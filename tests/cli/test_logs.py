"""`logs`: what happened to X and why did run Y stop are one search."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

from cli.commands import CONTROL_CODE, Running, crawl_words, holdfast, ledger_in, submit
from cli.schemas import validator
from holdfast.demo.serving import WorldServer


@pytest.fixture(scope="module")
def crawled(tree: WorldServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("logged")
    assert holdfast(*crawl_words(tree, f"{tree.url}/p/60", "--max-depth", "1"), cwd=folder).code == 3
    return folder


def test_a_run_is_told_from_its_beginning_to_its_end(crawled: Path) -> None:
    """JOB-07 (what started it is kept), LOG-01, LOG-02, DOC-25 (the peak in flight is logged)."""
    lines = holdfast("logs", "frogs", cwd=crawled).out.splitlines()
    assert all("[HOLDFAST][" in line for line in lines)
    assert "[HOLDFAST][RUN] job=J-" in lines[0]
    assert " event=start name=frogs run=R-1 mode=full trigger=cli " in lines[0]
    assert " free_mb=" in lines[0]
    assert " event=end run=R-1 how=completed status=completed " in lines[-1]
    assert re.search(r" peak_in_flight=[1-9]", lines[-1])


def test_a_failure_is_a_line_with_its_context(crawled: Path, tree: WorldServer) -> None:
    """LOG-03."""
    [line] = holdfast("logs", "frogs", "--level", "warning", "--jsonl", cwd=crawled).out.splitlines()
    told = json.loads(line)
    assert (told["phase"], told["level"], told["code"], told["attempt"]) == ("ERROR", "warning", "http_404", "1")
    assert (told["event"], told["kind"]) == ("retry_decision", "non_retryable")
    assert told["url"] == f"{tree.url}/p/60"
    for reference in (told["target"], told["url"], "/p/60"):
        assert holdfast("logs", "frogs", "--target", reference, "--jsonl", cwd=crawled).out.splitlines() == [line]
    answer = holdfast("logs", "frogs", "--json", cwd=crawled).json()
    validator("log").validate(answer)
    assert told in answer["log"]


def test_at_debug_level_every_target_has_its_line(tree: WorldServer, tmp_path: Path) -> None:
    """LOG-02."""
    done = holdfast(*crawl_words(tree, "--max-depth", "1"), cwd=tmp_path, HOLDFAST_LOG__DEBUG="true")
    assert done.code == 0, done.err
    rows = [json.loads(line) for line in holdfast("logs", "frogs", "--jsonl", cwd=tmp_path).out.splitlines()]
    ended = [row["target"] for row in rows if row.get("decision") == "succeed"]
    begun = [row["target"] for row in rows if (row["phase"], row.get("event")) == ("STATE", "start")]
    assert sorted(begun) == sorted(set(ended))
    assert len(begun) == 4


def test_a_recovery_is_told(slow_tree: WorldServer, tmp_path: Path) -> None:
    crawl = Running(*crawl_words(slow_tree), cwd=tmp_path)
    crawl.wait_for(" crawling succeeded=")
    crawl.send(signal.SIGKILL)
    crawl.end()
    again = Running(*crawl_words(slow_tree), cwd=tmp_path)
    again.wait_for("Recovered frogs")
    follow = Running("logs", "frogs", "-f", "--plain", cwd=tmp_path)
    again.send(signal.SIGINT)
    assert again.end().code == 11
    seen = follow.end()
    assert (seen.code, seen.err) == (0, "No process works frogs any more.\n")
    assert "[HOLDFAST][RECOVERY] job=J-" in seen.out
    assert "lost=0" in seen.out
    assert "chunks=" not in seen.out  # the events have one per chunk
    assert " event=end run=R-2 how=paused status=paused " in seen.out
    assert CONTROL_CODE.search(seen.out) is None


def test_a_job_without_a_log_says_so(tmp_path: Path) -> None:
    with ledger_in(tmp_path) as ledger:
        submit(ledger)
    assert holdfast("logs", "frogs", cwd=tmp_path).err == "frogs has no log yet.\n"


def test_several_processes_write_one_log(tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast(*crawl_words(tree, f"{tree.url}/p/60", "--max-depth", "1", "--processes", "2"), cwd=tmp_path)
    assert done.code == 3, done.err
    out = holdfast("logs", "frogs", cwd=tmp_path).out
    assert "event=join name=frogs run=R-1 " in out
    assert "event=leave run=R-1 " in out
    assert "code=http_404" in out

"""The run that a change-detection webhook starts, from Python and from the command line: NOT-05 and NOT-06 but HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast as hf
from documents.collecting import Collector
from documents.shelf import Shelf, serving
from holdfast.control.webhook import NEW_LIMIT_MAX, bounded, clamped
from holdfast.errors import BadParams

MISSING = (66, 67)  # of the rows: there are no such files


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    with serving(tmp_path / "www") as shelf:
        for n in range(70):
            if n not in MISSING:
                (shelf.root / f"{n}.txt").write_text(f"Document {n}\n")
        yield shelf


def publish(shelf: Shelf, path: Path, count: int) -> None:
    path.write_text("Link,Number\n" + "".join(f"{shelf.url}/{n}.txt,A-{n}\n" for n in range(count)))


@pytest.mark.parametrize(("asked", "limit"), [(None, 50), (1, 1), (50, 50), (51, 50), (900, 50)])
def test_a_limit_is_bounded_and_a_clamped_one_is_told(asked: int | None, limit: int) -> None:
    """NOT-05."""
    assert (bounded(asked), NEW_LIMIT_MAX) == (limit, 50)
    assert clamped(asked) == (f"limit_clamped: {asked} -> 50" if asked not in (None, limit) else "")


@pytest.mark.parametrize("asked", [0, -3])
def test_a_limit_below_one_is_refused(asked: int) -> None:
    """NOT-05."""
    with pytest.raises(BadParams, match="at least 1"):
        bounded(asked)


def test_a_webhook_takes_so_many_new_documents_and_answers_with_the_run(shelf: Shelf, tmp_path: Path) -> None:
    """NOT-05, NOT-06: the run is kept with its trigger; the limit and the event are in the job's history and log."""
    path = tmp_path / "mine.csv"
    publish(shelf, path, 3)
    data = tmp_path / "data"
    job = hf.docs(
        path,
        columns={"url": "Link", "id": "Number"},
        data=data,
        allow_private=True,
        delay=0,
        per_host=8,
        max_attempts=1,
    )
    job.run()
    publish(shelf, path, 5)  # too few to be a jump
    told = job.webhook(new_limit=1)
    assert told["summary"] == {"processed": 1, "downloaded": 1, "skipped": 0, "failed": 0}
    first = job.runs()[0]
    assert (first.trigger, first.mode, first.id) == ("webhook", "new", "R-2")
    publish(shelf, path, 66)
    told = job.webhook(new_limit=900)
    assert told == {
        "ok": True,
        "entrypoint": "webhook",
        "mode": "new",
        "target_source": told["target_source"],
        "run_id": "R-3",
        "csv_version_id": 3,
        "summary": {"processed": 50, "downloaded": 50, "skipped": 0, "failed": 0},
    }
    assert told["target_source"].startswith("mine_")
    assert (job.runs()[0].trigger, job.runs()[0].id) == ("webhook", "R-3")
    logged = "".join(path.read_text() for path in (data / "logs").iterdir())
    assert logged.count("[WEBHOOK]") == logged.count("event=limit_clamped asked=900 limit=50") == 1
    with job._ledger() as ledger:
        history = [event.because for event in ledger.events(ledger.job(job.name).id)]
    assert "limit_clamped: 900 -> 50" in history
    assert job.webhook()["summary"]["downloaded"] == 12  # what is left
    assert job.webhook()["summary"] == {"processed": 0, "downloaded": 0, "skipped": 0, "failed": 0}
    publish(shelf, path, 68)
    assert job.webhook()["summary"] == {"processed": 2, "downloaded": 0, "skipped": 0, "failed": 2}


def test_the_command_line_does_the_same(shelf: Shelf, tmp_path: Path) -> None:
    """NOT-05, NOT-06: `docs --trigger webhook`."""
    collector = Collector(tmp_path / "work")
    publish(shelf, collector.folder / "list.csv", 4)
    words = ("docs", "list.csv", "--columns", "url=Link,id=Number", "--delay", "0", "--allow-private")
    told = collector.run(*words, "--trigger", "webhook", "--limit", "60").stderr
    assert "limit_clamped: 60 -> 50" in told
    assert "webhook: 4 processed, 4 downloaded, 0 skipped, 0 failed (R-1, version 1 of the list)" in told
    assert "event=limit_clamped asked=60 limit=50" in collector.run("logs", "list").stdout
    collector.run(*words, "--trigger", "webhook", "--mode", "full", expect=2)
    report = json.loads(collector.run("report", "list", "--format", "json").stdout)
    assert report["runs"][-1]["totals"] == {"processed": 4, "downloaded": 4, "skipped": 0, "failed": 0}


def test_only_a_job_that_follows_a_list_has_one(tmp_path: Path) -> None:
    job = hf.cases("IMM-1-25..IMM-2-25", url="https://c.example/{number}", data=tmp_path / "data")
    with pytest.raises(BadParams, match="follows no list"):
        job.webhook()

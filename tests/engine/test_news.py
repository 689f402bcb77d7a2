"""What `--jsonl` tells of a job: every move once, whatever the clock says meanwhile."""

from __future__ import annotations

from pathlib import Path

from holdfast.clock import ManualClock
from holdfast.engine.liveness import boot_id
from holdfast.engine.news import News
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.job import JobSpec

HOUR_S = 3600


def test_a_clock_that_is_set_back_hides_no_move_and_repeats_none(tmp_path: Path) -> None:
    clock = ManualClock()
    ledger = SqliteLedger.open(tmp_path / "ledger.db", clock, boot_id())
    spec = JobSpec(recipe="site", name="marsh", identity="site:marsh", params={}, chunking="key")
    job = ledger.move(ledger.submit(spec)[0].id, "start", actor="user", because="test")
    ledger.open_run(job.id, mode="full", trigger="cli")
    clock.advance(HOUR_S)
    news = News(ledger, job)
    ledger.open_run(job.id, mode="resume", trigger="cli")
    assert [event["type"] for event in news.look()] == ["run.finished", "run.started"]
    clock.set_wall(clock.wall_ms() - 2 * HOUR_S * 1000)
    ledger.open_run(job.id, mode="resume", trigger="cli")
    assert sorted(event["type"] for event in news.look()) == ["run.finished", "run.started"]
    assert list(news.look()) == []
    ledger.close()

"""What `--jsonl` tells of a job: everything once and in the order of time, whatever the clock says meanwhile."""

from __future__ import annotations

from pathlib import Path

import msgspec

from conformance.bench import Bench, memory_bench
from conformance.reopening import finished
from conformance.verdicts import succeed
from conformance.worker import Worker
from holdfast.clock import ManualClock
from holdfast.engine.liveness import boot_id
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.job import JobSpec
from holdfast.model.outcome import Verdict
from holdfast.model.target import Claimed
from holdfast.views.job_events import JobEvents

HOUR_S = 3600


def test_a_clock_that_is_set_back_hides_no_move_and_repeats_none(tmp_path: Path) -> None:
    clock = ManualClock()
    ledger = SqliteLedger.open(tmp_path / "ledger.db", clock, boot_id())
    spec = JobSpec(recipe="site", name="marsh", identity="site:marsh", params={}, chunking="key")
    job = ledger.move(ledger.submit(spec)[0].id, "start", actor="user", because="test")
    ledger.open_run(job.id, mode="full", trigger="cli")
    clock.advance(HOUR_S)
    news = JobEvents(ledger, job)
    ledger.open_run(job.id, mode="resume", trigger="cli")
    assert [event["type"] for event in news.look()] == ["run.finished", "run.started"]
    clock.set_wall(clock.wall_ms() - 2 * HOUR_S * 1000)
    ledger.open_run(job.id, mode="resume", trigger="cli")
    assert sorted(event["type"] for event in news.look()) == ["run.finished", "run.started"]
    assert list(news.look()) == []
    ledger.close()


def working(bench: Bench, hosts: int, pages: int) -> Worker:
    """A run of a job with pages of several hosts, each in a chunk of its own."""
    worker = bench.worker(bench.started().id)
    worker.lease()
    found = [
        bench.found(f"https://marsh-{host}.test/{n}", index=host, rank=n) for host in range(hosts) for n in range(pages)
    ]
    worker.enqueue(*found)
    return worker


def fetched(bench: Bench, here: Claimed, *, after_ms: int = 10) -> Verdict:
    bench.clock.advance(after_ms / 1000)
    return msgspec.structs.replace(succeed(here), began_at=bench.clock.wall_ms() - 5, ended_at=bench.clock.wall_ms())


def test_what_one_look_finds_is_told_in_the_order_of_time() -> None:
    """Chunks take turns, a checkpoint and the end of a run lie between: none of it by kind, none chunk by chunk."""
    bench = memory_bench(ManualClock())
    worker = working(bench, hosts=3, pages=2)
    news = JobEvents(bench.ledger, bench.job(worker.job))
    bench.ledger.open_run(worker.job, mode="full", trigger="cli")
    by_turns = sorted(worker.claim(), key=lambda here: (here.url[-1], here.chunk))
    for n, here in enumerate(by_turns):
        if n == 4:
            bench.clock.advance(1)
            bench.ledger.open_run(worker.job, mode="resume", trigger="cli")
        worker.settle(fetched(bench, here), checkpoint="targets" if n == 1 else None)
    told = news.look()
    targets = [event["url"] for event in told if event["type"].startswith("target.")]
    assert targets == [here.url for here in by_turns]
    kinds = ["run.started", *["target"] * 2, "checkpoint.written", *["target"] * 2]
    kinds += ["run.finished", "run.started", *["target"] * 2]
    assert [event["type"].replace("target.succeeded", "target") for event in told] == kinds


def test_the_end_of_a_run_is_told_behind_its_targets_though_the_clock_was_set_back() -> None:
    bench = memory_bench(ManualClock())
    worker = working(bench, hosts=2, pages=2)
    news = JobEvents(bench.ledger, bench.job(worker.job))
    bench.ledger.open_run(worker.job, mode="full", trigger="cli")
    by_number = sorted(worker.claim(), key=lambda here: (here.url[-1], here.chunk))
    worker.settle(*(fetched(bench, here) for here in by_number[:2]))
    bench.clock.set_wall(bench.clock.wall_ms() - HOUR_S * 1000)
    worker.settle(*(fetched(bench, here) for here in by_number[2:]))
    finished(bench, worker)
    told = news.look()
    assert told[-1]["type"] == "run.finished"
    for host in ("marsh-0", "marsh-1"):
        assert [event["url"][-1] for event in told if host in event.get("url", "")] == ["0", "1"]
    assert len(told) == len(by_number) + 2 + sum(event["type"] == "checkpoint.written" for event in told)


def test_a_target_that_is_committed_during_the_look_is_told_behind_the_beginning_of_its_run() -> None:
    """Moves are read again behind the targets: whatever came in between has its beginning here."""
    bench = memory_bench(ManualClock())
    worker = working(bench, hosts=1, pages=1)
    [here] = worker.claim()
    ledger, ended = bench.open(), bench.ledger.ended

    def meanwhile(*words: object, **more: object) -> object:
        if worker.hand:
            bench.ledger.open_run(worker.job, mode="full", trigger="cli")
            worker.settle(fetched(bench, here))
        return ended(*words, **more)  # type: ignore[arg-type]

    ledger.ended = meanwhile  # type: ignore[assignment, method-assign]
    news = JobEvents(ledger, bench.job(worker.job))
    assert [event["type"] for event in news.look()] == ["run.started", "target.succeeded"]

"""Results as they are committed: every one of them at least once, whatever became of the reader before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.bench import MARSH, Bench, sqlite_bench
from conformance.verdicts import page
from conformance.worker import Worker
from holdfast.clock import ManualClock
from holdfast.model.bookmark import Bookmark
from holdfast.views.stream import SAVE_EVERY_MS, Stream

PAGES = 40


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    yield made
    made.close()


def crawled(bench: Bench, pages: int = PAGES, at_once: int = 3) -> Worker:
    """A job whose pages were settled a few at a time, in several chunks."""
    worker = bench.worker(bench.started().id)
    worker.lease()
    worker.enqueue(*(bench.found(f"{MARSH}/frog/{n}", index=n % 5) for n in range(pages)))
    while claimed := worker.claim(room=at_once):
        worker.settle(*map(page, claimed))
    return worker


def reader(bench: Bench, job: int, consumer: str | None = "embed") -> Stream:
    return Stream(bench.open(), job, bench.clock, consumer=consumer)


def over() -> bool:
    return True


@pytest.mark.parametrize("stop", range(0, PAGES + 1, 7))
def test_a_reader_that_stops_goes_on_where_it_was(bench: Bench, stop: int) -> None:
    """What it was handed last is handed out again: nobody knows whether it was done with it."""
    job = crawled(bench).job
    rows = reader(bench, job).follow(over)
    first = [next(rows).target for _ in range(stop)]
    rows.close()
    rest = [row.target for row in reader(bench, job).follow(over)]
    assert set(first) & set(rest) == set(first[-1:])
    assert len(first[:-1]) + len(rest) == PAGES
    assert set(first) | set(rest) == {row.target for row in bench.ledger.results(job)}
    assert list(reader(bench, job).follow(over)) == []


def test_a_reader_that_is_killed_gets_again_what_it_read_since_the_last_save(bench: Bench) -> None:
    job = crawled(bench).job
    rows = reader(bench, job).follow(over)
    for _ in range(10):
        next(rows)
    bench.clock.advance(SAVE_EVERY_MS / 1000)
    next(rows)  # the tenth was read, and a second has passed
    saved = bench.ledger.bookmark(job, "embed")
    assert saved != Bookmark()
    for _ in range(5):
        next(rows)
    assert bench.ledger.bookmark(job, "embed") == saved  # a kill here loses the mark of five, and no result
    rest = [row.target for row in reader(bench, job).follow(over)]
    assert len(rest) == PAGES - 10
    rows.close()


def test_two_names_are_two_readers_and_no_name_begins_anew(bench: Bench) -> None:
    job = crawled(bench).job
    for consumer in ("embed", "index", None, None):
        assert len(list(reader(bench, job, consumer).follow(over))) == PAGES


def test_what_is_committed_while_one_waits_is_read_before_the_end(bench: Bench) -> None:
    """Also what is committed at the very end, between the last look and the question whether that was all."""
    worker = bench.working(pages=3)

    def is_over() -> bool:
        claimed = worker.claim(room=1)
        worker.settle(*map(page, claimed))
        return not worker.claim(room=0) and bench.counts(worker.job)["succeeded"] == 3

    rows = reader(bench, worker.job).follow(is_over, lambda _: None)
    assert len([row.target for row in rows]) == 3

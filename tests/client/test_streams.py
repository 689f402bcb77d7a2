"""Results as they are committed: in one process with the crawl, beside it, and after any death."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import holdfast as hf
from client.test_jobs import PAGES, crawl
from holdfast import wiring
from holdfast.client.working import Halt
from holdfast.control import stopping
from holdfast.demo.serving import WorldServer
from holdfast.model.lease import LEASE_S
from waiting import stop, wait_until

READER = """
import sys, holdfast as hf
job = hf.job(sys.argv[1], data=sys.argv[2])
for page in job.stream(consumer="embed", work=False):
    print(page.url, flush=True)
"""


def test_a_stream_works_the_job_and_ends_with_it(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree)
    texts = {page.url: page.text for page in job.stream(consumer="embed")}
    assert len(texts) == PAGES
    assert all(texts.values())
    assert texts == {page.url: page.text for page in job.records()}
    assert job.status == "completed"
    assert list(job.stream(consumer="embed")) == []
    assert len(list(job.stream(consumer="another", fields="url"))) == PAGES


def test_whoever_stops_reading_stops_the_work_and_loses_nothing(client: hf.Client, slow_tree: WorldServer) -> None:
    job = crawl(client, slow_tree)
    rows = job.stream(consumer="embed")
    first = [next(rows).url for _ in range(5)]
    rows.close()  # type: ignore[attr-defined]
    assert job.status == "in_progress"
    assert "no process works it" in job.because
    again = job.stream(consumer="embed")
    rest = [next(again).url for _ in range(5)]
    again.close()  # type: ignore[attr-defined]
    assert set(first) & set(rest) <= {first[-1]}
    assert job.verify() == []


def test_a_reader_killed_again_and_again_misses_nothing(client: hf.Client, tmp_path: Path) -> None:
    """kill -9 of a consumer, while another process crawls: at least once, and hardly more."""
    with WorldServer("tree", pages=400, delay_ms=5, log_path=tmp_path / "requests.jsonl") as world:
        job = crawl(client, world, per_host=4)
        worker = start_worker(job, tmp_path)
        wait_until(lambda: job.counts.succeeded > 0, 30)
        read: list[str] = []
        for kill_after in (30, 60, 90):
            reader = start_reader(job, tmp_path)
            assert reader.stdout is not None
            read += [reader.stdout.readline().strip() for _ in range(kill_after)]
            reader.send_signal(signal.SIGKILL)
            read += reader.communicate()[0].split()
        reader = start_reader(job, tmp_path)
        read += reader.communicate(timeout=60)[0].split()
        assert reader.returncode == 0
        assert worker.wait(timeout=60) == 0
    urls = [row.url for row in job.records()]
    assert set(read) - {""} == set(urls)
    assert len(urls) == 400
    assert list(job.stream(consumer="embed")) == []


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_stream_goes_on_with_the_job_when_the_worker_that_it_watched_is_gone(
    client: hf.Client, tmp_path: Path, end: signal.Signals
) -> None:
    with WorldServer("tree", pages=400, delay_ms=5, log_path=tmp_path / "requests.jsonl") as world:
        job = crawl(client, world, per_host=4)
        worker = start_worker(job, tmp_path)
        wait_until(lambda: job.counts.succeeded > 0, 30)
        stop(worker.pid)  # so that it is not done before it is ended
        rows = job.stream()
        read = [next(rows).url]
        worker.send_signal(end)
        worker.send_signal(signal.SIGCONT)
        assert worker.wait(timeout=60) != 0
        assert job.status == "in_progress"
        read += [row.url for row in rows]
    assert len(read) == len(set(read)) == 400
    assert (job.status, job.verify()) == ("completed", [])


def stop_between_writes(worker: subprocess.Popen[bytes], ledger: Path) -> None:
    """A process that is stopped within a transaction keeps everybody else from writing."""
    with closing(sqlite3.connect(ledger, timeout=0, isolation_level=None)) as look:
        while True:
            stop(worker.pid)
            try:
                look.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                worker.send_signal(signal.SIGCONT)
                time.sleep(0.01)
            else:
                look.execute("ROLLBACK")
                return


def test_a_pause_that_a_killed_worker_did_not_carry_out_is_no_wish_of_its_reader_to_go_on(
    client: hf.Client, slow_tree: WorldServer, tmp_path: Path
) -> None:
    job = crawl(client, slow_tree)
    worker = start_worker(job, tmp_path)
    wait_until(lambda: job.counts.succeeded > 0, 30)
    rows = job.stream()
    next(rows)
    stop_between_writes(worker, client._settings.data / "ledger.db")
    with closing(wiring.open_ledger(client._settings)) as ledger:
        stopping.pause(ledger, ledger.books(job._key)[0], actor="test")
    worker.kill()
    worker.wait()
    list(rows)
    assert (job.status, job.counts.in_progress) == ("paused", 0)


def test_a_stream_that_only_follows_ends_when_nobody_works_the_job(
    client: hf.Client, slow_tree: WorldServer, tmp_path: Path
) -> None:
    job = crawl(client, slow_tree)
    assert list(job.stream(work=False)) == []
    worker = start_worker(job, tmp_path)
    wait_until(lambda: job.counts.succeeded > 0, 30)
    rows = job.stream(work=False)
    read = [next(rows).url]
    worker.kill()
    worker.wait()
    read += [row.url for row in rows]
    assert len(read) == job.counts.succeeded < 2000
    assert job.status == "in_progress"
    assert "no process works it" in job.because


def start_worker(job: hf.Job, folder: Path) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "holdfast", "--data", str(folder / "data"), "-q", "crawl", job.name]
    return subprocess.Popen(words, stderr=subprocess.DEVNULL)


def start_reader(job: hf.Job, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", READER, job.name, str(folder / "data")], stdout=subprocess.PIPE, text=True
    )


def test_an_async_program_says_the_same_words(client: hf.Client, tree: WorldServer, tmp_path: Path) -> None:
    async def program() -> None:
        async with client as here:
            job = await here.crawl(*tree.oracle()["seeds"], allow=[tree.address], delay=0)
            urls = [page.url async for page in job.stream(consumer="embed")]
            assert len(urls) == PAGES
            assert await job.status == "completed"
            assert (await job.counts).succeeded == PAGES
            assert (await job.run()).status == "completed"
            assert await job.export(tmp_path / "pages.jsonl") == PAGES
            assert [row.url async for row in job.targets("depth:0")] == tree.oracle()["seeds"]
            assert [each.id for each in await here.jobs()] == [job.id]

    asyncio.run(program())


def test_cancelling_a_run_leaves_a_job_that_goes_on(client: hf.Client, slow_tree: WorldServer) -> None:
    async def program() -> hf.AsyncJob:
        async with client as here:
            job = await here.crawl(*slow_tree.oracle()["seeds"], allow=[slow_tree.address], delay=0)
            begun = asyncio.Event()
            running = asyncio.create_task(job.run(on_progress=lambda told: told.counts.succeeded and begun.set()))
            await begun.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert "no process works it" in await job.because
            return job

    job = client.job(asyncio.run(program()).id)
    assert job.verify() == []
    assert job.counts.in_progress == 0


def test_a_stream_that_was_left_is_gone_on_with_by_the_next_one_at_once(client: hf.Client, tmp_path: Path) -> None:
    """The first one's pages in hand are still being finished when the second one begins."""

    async def program() -> list[str]:
        async with client as here:
            job = await here.crawl(*world.oracle()["seeds"], allow=[world.address], delay=0)
            async for page in job.stream(consumer="embed"):
                first = page.url
                break
            return [first, *[page.url async for page in job.stream(consumer="embed")]]

    with WorldServer("tree", pages=100, delay_ms=50, log_path=tmp_path / "requests.jsonl") as world:
        assert len(set(asyncio.run(program()))) == 100


def test_cancelling_a_run_before_its_work_has_begun_is_heard(client: hf.Client, slow_tree: WorldServer) -> None:
    async def program() -> hf.AsyncJob:
        async with client as here:
            job = await here.crawl(*slow_tree.oracle()["seeds"], allow=[slow_tree.address], delay=0)
            running = asyncio.create_task(job.run())
            await asyncio.sleep(0)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            return job

    job = client.job(asyncio.run(program()).id)
    assert job.status in ("pending", "in_progress")
    assert (job.counts.in_progress, job.verify()) == (0, [])


@pytest.mark.parametrize("processes", [1, 2])
def test_a_run_that_is_to_stop_before_it_began_begins_nothing(client: hf.Client, processes: int) -> None:
    job, halt = client.crawl("https://marsh.test"), Halt()
    halt.ask()
    with pytest.raises(hf.Refused, match="was never run"):
        job._run(None, None, halt, processes=processes)
    assert job.status == "pending"


@pytest.mark.parametrize("look", ["run", "stream", "follow"])
def test_cancelling_whoever_only_watches_ends_it_at_once(
    client: hf.Client, slow_tree: WorldServer, tmp_path: Path, look: str
) -> None:
    """Its worker stands still here, so neither its end nor another result can be what ended the watch."""
    job = crawl(client, slow_tree)
    worker = start_worker(job, tmp_path)
    wait_until(lambda: job.counts.succeeded > 0, 30)
    stop(worker.pid)
    there = job.counts.succeeded
    seen = asyncio.Event()

    async def watch(job: hf.AsyncJob) -> None:
        if look == "run":
            await job.run(on_progress=lambda _: seen.set())
        read = 0
        async for _ in job.stream(work=look == "stream"):
            read += 1
            if read == there:
                seen.set()

    async def program() -> None:
        async with client as here:
            watching = asyncio.create_task(watch(await here.job(job.id)))
            await seen.wait()
            await asyncio.sleep(0.3)  # by now its thread waits for what does not come
            watching.cancel()
            with pytest.raises(asyncio.CancelledError):
                await watching

    try:
        began = time.monotonic()
        asyncio.run(program())
        assert time.monotonic() - began < LEASE_S / 2
        assert job.status == "in_progress"
    finally:
        worker.kill()
        worker.wait()


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 101])
def test_a_consumer_needs_a_name_that_can_be_printed(client: hf.Client, tree: WorldServer, name: str) -> None:
    with pytest.raises(hf.BadParams):
        next(crawl(client, tree).stream(consumer=name))

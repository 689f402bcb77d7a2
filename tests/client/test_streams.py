"""Results as they are committed: in one process with the crawl, beside it, and after any death."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast as hf
from client.test_jobs import PAGES, crawl
from holdfast.demo.serving import WorldServer
from waiting import wait_until

READER = """
import sys, holdfast as hf
job = hf.job(sys.argv[1], data=sys.argv[2])
for page in job.stream(consumer="embed", work=False):
    print(page.url, flush=True)
"""


def test_a_stream_works_the_job_and_ends_with_it(client: hf.Client, tree: WorldServer) -> None:
    job = crawl(client, tree)
    urls = [page.url for page in job.stream(consumer="embed")]
    assert len(urls) == len(set(urls)) == PAGES
    assert job.status == "completed"
    assert list(job.stream(consumer="embed")) == []
    assert len(list(job.stream(consumer="another", fields="url"))) == PAGES


def test_whoever_stops_reading_stops_the_work_and_loses_nothing(client: hf.Client, slow_tree: WorldServer) -> None:
    job = crawl(client, slow_tree)
    rows = job.stream(consumer="embed")
    first = [next(rows).url for _ in range(5)]
    rows.close()  # type: ignore[attr-defined]
    assert job.status == "in_progress"
    assert "nobody works it" in job.because
    again = job.stream(consumer="embed")
    rest = [next(again).url for _ in range(5)]
    again.close()  # type: ignore[attr-defined]
    assert set(first) & set(rest) <= {first[-1]}
    assert job.verify() == []


def test_a_reader_killed_again_and_again_misses_nothing(client: hf.Client, tmp_path: Path) -> None:
    """kill -9 of a consumer, while another process crawls: at least once, and hardly more."""
    with WorldServer("tree", pages=400, delay_ms=5, log_path=tmp_path / "requests.jsonl") as world:
        job = crawl(client, world, per_host=4)
        words = [sys.executable, "-m", "holdfast", "--data", str(tmp_path / "data"), "-q", "crawl", job.name]
        worker = subprocess.Popen(words, stderr=subprocess.DEVNULL)
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
            assert "nobody works it" in await job.because
            return job

    job = client.job(asyncio.run(program()).id)
    assert job.verify() == []
    assert job.counts.in_progress == 0


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 101])
def test_a_consumer_needs_a_name_that_can_be_printed(client: hf.Client, tree: WorldServer, name: str) -> None:
    with pytest.raises(hf.BadParams):
        next(crawl(client, tree).stream(consumer=name))

"""A data folder that cannot be written: Python looks at its jobs as the command does, and writing is refused."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import holdfast as hf
from client.test_jobs import PAGES, crawl
from disks import mounted, sealed
from holdfast.demo.serving import WorldServer


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "disk", "size=64m")


@pytest.fixture
def client(disk: Path, tree: WorldServer, monkeypatch: pytest.MonkeyPatch) -> hf.Client:
    """Of a folder with a completed job, which was sealed then."""
    monkeypatch.setenv("HOLDFAST_MIN_FREE_MB", "0")
    client = hf.Client(data=disk / "data")
    crawl(client, tree, name="frogs").run()
    sealed(disk)
    return client


def test_jobs_are_looked_at_where_nothing_can_be_written(client: hf.Client, tmp_path: Path) -> None:
    [job] = client.jobs()
    assert client.job("frogs") == job
    assert (job.status, job.counts.succeeded, job.verify()) == ("completed", PAGES, [])
    assert len(list(job.targets(sort="depth"))) == len(list(job.records())) == PAGES
    assert len(list(job.stream(work=False))) == PAGES
    assert len(client.limits()) == 1
    assert (job.runs()[0].id, job.checkpoints() != []) == ("R-1", True)
    assert job.export(tmp_path / "pages.jsonl") == PAGES


@pytest.mark.parametrize("place", ["pages.jsonl", "pages.warc.gz", "pages.wacz", "pages.zip", "pages/"])
def test_what_an_export_holds_meanwhile_lies_beside_what_it_writes(
    place: str, client: hf.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in a data folder that can only be read, nor among temporary files, which are often in memory."""
    monkeypatch.setattr("holdfast.blobs.storage.ROWS_PER_RUN", 2)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert client.job("frogs").export(f"{tmp_path}/{place}", distinct=True) == PAGES


def test_results_that_are_written_nowhere_are_put_in_order_though_nothing_can_be_written(
    client: hf.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.blobs.storage.ROWS_PER_RUN", 2)
    assert len(list(client.job("frogs").records(distinct=True))) == PAGES


WRITES: dict[str, Callable[[hf.Client, hf.Job], object]] = {
    "label": lambda client, job: job.label("T-1", "keep"),
    "run": lambda client, job: job.run(mode="full"),
    "stream": lambda client, job: list(job.stream("reader", work=False)),
    "crawl": lambda client, job: client.crawl("https://marsh.test"),
    "limits": lambda client, job: client.limits("marsh.test", delay="2s"),
}


@pytest.mark.parametrize("verb", WRITES)
def test_whoever_would_write_is_told_that_the_folder_cannot_be_written(verb: str, client: hf.Client) -> None:
    job = client.job("frogs")
    with pytest.raises(hf.BadParams, match=r"the data folder .* cannot be written") as refused:
        WRITES[verb](client, job)
    assert "it can be looked at" in refused.value.hint

"""What users build on: a short list of names, loaded when used, typed as a strict reader wants it."""

from __future__ import annotations

import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast as hf
from holdfast import client
from holdfast.client.aio import AsyncJob
from holdfast.client.core import AsyncClient

DOCS = Path(__file__).parents[2] / "docs"
NAMES = {
    "AsyncClient", "AsyncJob", "BadParams", "Client", "Corrupt", "Counts", "CrawlOptions", "Denied", "DiskFull",
    "HoldfastError", "IllegalMove", "Job", "LedgerUnavailable", "LedgerUnfit", "NotFound", "PaceOptions", "Progress",
    "Refused", "Row", "Run", "__version__", "batch", "cases", "crawl", "docs", "doctor", "images", "job", "jobs",
    "limits", "restore", "run",
}  # fmt: skip
JOB = {
    "because", "breakdown", "cancel", "checkpoint_documents", "checkpoints", "counts", "diff", "document", "errors",
    "exclude", "explain", "export", "health", "label", "pause", "records", "report", "reprocess", "resume",
    "resume_answer", "retry", "rollback", "run", "runs", "snapshot", "status", "stream", "targets", "verify",
    "webhook",
}  # fmt: skip
USER = """
import asyncio
import holdfast as hf

def pages(url: str) -> list[str]:
    job = hf.crawl(url, max_pages=500, exclude=["/tags/*"], delay="2s", allow_private=True)
    run: hf.Run = job.run(on_progress=print)
    if run.health != "ok":
        print([target.url for target in job.targets("status:failed")], job.counts.failed)
    written: int = job.export("pages.csv", fields="url,+text")
    print(written)
    return [str(row["url"]) for row in job.records()]

async def embed(url: str) -> None:
    async with hf.Client(data="data") as client:
        job = await client.crawl(url, concurrency=4)
        async for page in job.stream(consumer="embed"):
            print(page.url, page.markdown)
        await job.pause()
        done: hf.Counts = await job.counts
        print(done.succeeded, [row.code for row in await job.errors()])

asyncio.run(embed("https://docs.example.dev"))
"""
WRONG = """
import holdfast as hf
hf.crawl("https://docs.example.dev", max_pages="many", delya=3)
async def late(job: hf.AsyncJob) -> None:
    await job.resume(extend=[])
"""


def test_no_public_name_is_also_the_name_of_a_module() -> None:
    """Python would put the module in its place as soon as anything loads it: hf.doctor() worked once, then never."""
    modules = {found.name for found in pkgutil.iter_modules(hf.__path__)}
    assert not modules & {name for name in hf.__all__ if name.islower()}


def test_the_public_names_are_these() -> None:
    assert set(hf.__all__) == set(dir(hf)) == NAMES
    assert set(client.__all__) == NAMES - {"__version__"}
    assert all(getattr(hf, name) is not None for name in NAMES)


def test_every_error_that_is_exported_is_in_the_list_of_the_docs() -> None:
    listed = (DOCS / "python.md").read_text().partition("## Errors")[2].partition("## ")[0]
    public = {name: getattr(hf, name) for name in NAMES}
    exported = {name for name, thing in public.items() if isinstance(thing, type) and issubclass(thing, Exception)}
    assert exported == set(re.findall(r"`([A-Z][A-Za-z]+)`", listed))


def test_a_database_that_does_not_answer_is_an_error_that_can_be_caught() -> None:
    with pytest.raises(hf.LedgerUnavailable, match="PostgreSQL did not answer"):
        hf.jobs(database="postgresql://frog@127.0.0.1:1/marsh")


def test_a_job_has_these_words_and_the_async_one_the_same() -> None:
    for kind in (hf.Job, AsyncJob):
        assert {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")} == JOB
    plain = {name for name, _ in inspect.getmembers(hf.Client) if not name.startswith("_")}
    assert plain == {name for name, _ in inspect.getmembers(AsyncClient) if not name.startswith("_")}


def test_an_import_loads_nothing_but_the_name() -> None:
    script = "import holdfast, sys, json; print(json.dumps(sorted(m for m in sys.modules if m.startswith('holdfast'))))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["holdfast", "holdfast.version"]


def test_a_strict_checker_agrees_with_a_users_program_and_finds_its_mistakes(tmp_path: Path) -> None:
    for name, text in (("right.py", USER), ("wrong.py", WRONG)):
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([*command, "right.py", "wrong.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "right.py" not in done.stdout, done.stdout
    assert "Found 3 errors in 1 file" in done.stdout, done.stdout

"""Holdfast as its users run it: the command in a child process. Every page is committed and its body is stored."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from bench.contestants.crawl import OUTPUT, Arena, Crawl
from bench.measure import LargestFile, cpu_s_of

PYTHON = sys.executable
MEGABYTE = 1024 * 1024


@contextmanager
def one_process(arena: Arena, more: Sequence[str] = ()) -> Iterator[Crawl]:
    data = arena.folder / "data"
    wal = LargestFile(data / "ledger.db-wal")
    where = ["--data", str(data), *more]

    def result() -> tuple[int, dict[str, Any]]:
        stored = sum(file.stat().st_size for file in (data / "segments").rglob("*") if file.is_file())
        facts = {"wal_mb_max": wal.bytes_max / MEGABYTE, "stored_mb": stored / MEGABYTE}
        return pages_of(settled_job(where)), facts

    yield Crawl(argv=crawl_argv(arena, where), result=result, watches=(wal.look,))


@contextmanager
def several_processes(arena: Arena, processes: int = 2) -> Iterator[Crawl]:
    with one_process(arena) as crawl:

        def result() -> tuple[int, dict[str, Any]]:
            pages, facts = crawl.result()
            said = json.loads((arena.folder / OUTPUT).read_text())
            return pages, {**facts, **({"lock_wait_ms": said["lock_wait_ms"]} if said.get("lock_wait_ms") else {})}

        argv = [*crawl.argv, "--processes", str(processes), "--json"]
        yield Crawl(argv=argv, result=result, watches=crawl.watches)


@contextmanager
def on_postgres(arena: Arena) -> Iterator[Crawl]:
    from holdfast.testing.postgres import temporary_postgres

    with temporary_postgres() as postgres:
        server = int((postgres.directory / "data" / "postmaster.pid").read_text().split()[0])
        before_s = cpu_s_of(server)
        with one_process(arena, ["--database", postgres.url]) as crawl:

            def result() -> tuple[int, dict[str, Any]]:
                server_s = cpu_s_of(server) - before_s
                pages, facts = crawl.result()
                del facts["wal_mb_max"]
                return pages, {**facts, "postgres_cpu_s": server_s}

            yield Crawl(argv=crawl.argv, result=result, ours=(partial(cpu_s_of, server),))


@contextmanager
def with_reader(arena: Arena) -> Iterator[Crawl]:
    with one_process(arena) as crawl:
        argv = [PYTHON, "-m", "bench.reader", str(arena.folder / "data")]
        reader = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)

        def result() -> tuple[int, dict[str, Any]]:
            reader.send_signal(signal.SIGTERM)
            said, _ = reader.communicate()
            if reader.returncode != 0:
                raise RuntimeError(f"the reader ended with {reader.returncode}: {said}")
            pages, facts = crawl.result()
            return pages, {**facts, "reader": json.loads(said)}

        try:
            yield Crawl(argv=crawl.argv, result=result, watches=crawl.watches, ours=(partial(cpu_s_of, reader.pid),))
        finally:
            reader.kill()
            reader.wait()


def crawl_argv(arena: Arena, where: Sequence[str]) -> list[str]:
    """The site of one page is asked for as such: a start page that leads nowhere is suspicious, which is exit 3."""
    where = [*where, "--max-pages", "1"] if arena.pages == 1 else where
    return [
        PYTHON, "-m", "holdfast", "crawl", arena.start, "--delay", "0", "--concurrency", "64", "--per-host", "128",
        "--allow", arena.at, "--plain", *where,
    ]  # fmt: skip


def settled_job(where: Sequence[str]) -> dict[str, Any]:
    """The only job of the ledger, as `holdfast status --json` shows it."""
    argv = [PYTHON, "-m", "holdfast", "status", "--json", *where]
    jobs: list[dict[str, Any]] = json.loads(subprocess.run(argv, check=True, capture_output=True).stdout)["jobs"]
    if len(jobs) != 1:
        raise RuntimeError(f"{len(jobs)} jobs in a ledger that should have one")
    return jobs[0]


def pages_of(job: dict[str, Any]) -> int:
    """What the ledger counts as succeeded; a job that is not completed or does not balance is an error."""
    if job["status"] != "completed" or not balances(job["counts"]):
        raise RuntimeError(f"the job is {job['status']} with {job['counts']}")
    return int(job["counts"]["succeeded"])


def balances(counts: dict[str, int]) -> bool:
    parts = ("pending", "in_progress", "succeeded", "skipped", "failed", "cancelled")
    return counts["discovered"] == sum(counts[part] for part in parts)


def knows_processes() -> bool:
    argv = [PYTHON, "-m", "holdfast", "crawl", "--help"]
    said = subprocess.run(argv, check=True, capture_output=True, text=True, env={**os.environ, "COLUMNS": "200"})
    return "--processes" in said.stdout

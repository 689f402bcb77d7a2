"""Few descriptors (`ulimit -n`): no page fails for want of them, and nothing is called complete that is not."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import DEADLINE_S, PROGRAM, Done, environment, holdfast
from holdfast.demo.serving import WorldServer

PAGES = 60


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldServer]:
    log = tmp_path_factory.mktemp("world") / "requests.jsonl"
    with WorldServer("tree", log_path=log, pages=PAGES) as running:
        yield running


def crawled(tree: WorldServer, folder: Path, limit: str, *more: str) -> Done:
    words = ["crawl", f"{tree.url}/p/0", "--allow", tree.address, "--name", "frogs", "--delay", "0", "--plain", *more]
    done = subprocess.run(
        ["bash", "-c", f'ulimit {limit}; exec "$@"', "limited", *PROGRAM, *words],
        cwd=folder, env=environment(), capture_output=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_limit_under_which_nothing_can_be_fetched_is_said_and_the_job_goes_on_without_it(
    tree: WorldServer, tmp_path: Path
) -> None:
    """D5: it ended as completed, with 2 of 60 pages and 58 that the site was blamed for."""
    refused = crawled(tree, tmp_path, "-n 18")
    assert refused.code == 6, refused.err
    assert "This process may open only 18 files and connections at once, and needs at least 45" in refused.err
    assert "ulimit -n 1024" in refused.err
    done = holdfast("resume", "frogs", cwd=tmp_path)
    assert (done.code, f"{PAGES} succeeded + 0 failed" in done.err) == (0, True), done.err


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_soft_limit_is_raised_as_far_as_fetches_need_it(tree: WorldServer, tmp_path: Path, processes: str) -> None:
    done = crawled(tree, tmp_path, "-S -n 18", "--per-host", "16", "--concurrency", "16", "--processes", processes)
    assert (done.code, f"{PAGES} succeeded + 0 failed" in done.err) == (0, True), done.err
    assert "may open only" not in done.err


def test_where_the_limit_is_low_fewer_pages_are_fetched_at_once_and_that_is_said(
    tree: WorldServer, tmp_path: Path
) -> None:
    done = crawled(tree, tmp_path, "-n 60", "--per-host", "64", "--concurrency", "64")
    assert (done.code, f"{PAGES} succeeded + 0 failed" in done.err) == (0, True), done.err
    assert "may open only 60 files and connections at once (ulimit -n): it fetches 4 pages at once, not 64" in done.err


def test_a_limit_that_is_low_for_many_workers_is_said_of_workers_and_not_of_pages(
    tree: WorldServer, tmp_path: Path
) -> None:
    done = crawled(tree, tmp_path, "-n 53", "--concurrency", "3", "--processes", "3")
    assert (done.code, f"{PAGES} succeeded + 0 failed" in done.err) == (0, True), done.err
    assert "(ulimit -n): that may be too few to supervise 3 worker processes" in done.err
    assert "pages at once" not in done.err

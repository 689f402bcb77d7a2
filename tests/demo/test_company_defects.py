"""Defects of earlier systems on a company's site, as tests: those lines of worlds 4 that concern the crawl.

`4_06` is line 6. Lines 12 to 14 are about what is made of a crawl and have their tests there.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli.commands import holdfast
from demo.proof import Proof, proving
from holdfast.model.target import TargetRow

DEPTH = 3
OPTIONS = ("--max-depth", str(DEPTH), "--name", "firm", "--delay", "50ms")  # slow enough to be paused
PAUSE_S_MAX = 20.0
RESUME_S_MAX = 10.0
DONE = ("succeeded", "skipped", "failed")


@dataclass
class Paused:
    """A crawl that was paused in the middle by a second command, looked at, and then ended."""

    proof: Proof
    pause_code: int
    pause_s: float
    status: str
    rows: dict[str, TargetRow]
    checkpoints: Any
    resumed_s: float
    end: dict[str, TargetRow]


@pytest.fixture(scope="session")
def paused(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Paused]:
    folder = tmp_path_factory.mktemp("firm")
    with proving("company", folder, options=OPTIONS) as proof:
        crawler = proof.crawler
        with crawler.start() as crawl:
            crawl.wait_for(lambda: crawler.asks.look() >= 30, seconds=60)
            began = time.monotonic()
            done = holdfast("pause", "firm", *crawler.where, cwd=folder)
            crawl.wait(PAUSE_S_MAX)
            pause_s = time.monotonic() - began
        status = holdfast("status", "firm", "--json", *crawler.where, cwd=folder).json()["status"]
        checkpoints = holdfast("checkpoints", "firm", "--json", *crawler.where, cwd=folder).json()
        rows = proof.rows()
        proof.run(0)
        resumed_s = proof.stretches[-1].first_ask_s or 0.0
        yield Paused(proof, done.code, pause_s, status, rows, checkpoints, resumed_s, proof.rows())


@pytest.mark.xdist_group("company paused")
def test_defect_4_01_a_pause_keeps_every_page_with_depth_kind_and_parent(paused: Paused) -> None:
    """FRO-04: visited and queued pages, level, kind of page; the checkpoint is no mere counter."""
    assert {row.status for row in paused.rows.values()} >= {"succeeded", "pending"}
    for url, row in paused.rows.items():
        later = paused.end[url]
        assert (row.id, row.depth, row.parent, row.type) == (later.id, later.depth, later.parent, later.type)
    assert {row.type for row in paused.rows.values()} >= {"about", "team", "products", "page"}
    assert all(row.parent for row in paused.rows.values() if row.depth)
    newest = paused.checkpoints["checkpoints"][0]
    statuses = Counter(row.status for row in paused.rows.values())
    assert newest["reason"] == "pause"
    assert {status: newest["counts"][status] for status in statuses} == statuses


@pytest.mark.xdist_group("company paused")
def test_defect_4_02_a_pause_stops_the_worker_and_stays(paused: Paused) -> None:
    assert (paused.pause_code, paused.status) == (0, "paused")
    assert paused.pause_s < PAUSE_S_MAX
    assert not [row for row in paused.rows.values() if row.status == "in_progress"]


@pytest.mark.xdist_group("company paused")
def test_defect_4_03_resume_leads_to_a_request_within_seconds(paused: Paused) -> None:
    assert 0 < paused.resumed_s < RESUME_S_MAX


@pytest.mark.xdist_group("company paused")
def test_defect_4_06_after_a_resume_no_page_is_too_deep_and_copies_are_known(paused: Paused, tmp_path: Path) -> None:
    proof = paused.proof
    assert max(row.depth for row in paused.end.values() if row.attempts) == DEPTH
    assert [row.url for row in paused.end.values() if row.rule == "depth"]
    words = ("export", "firm", "--format", "jsonl", "--fields", "+duplicate_of", "-o", str(tmp_path / "pages.jsonl"))
    assert holdfast(*words, *proof.crawler.where, cwd=tmp_path).code == 0
    rows = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    copies = {row["url"].removeprefix(proof.world.url) for row in rows if row["duplicate_of"]}
    # One of each pair is the first, the other its copy.
    assert len(copies & {"/about", "/about-us/"}) == len(copies & {"/Services/", "/services/"}) == 1


def test_defect_4_04_and_4_05_a_killed_crawl_is_crawled_on(tmp_path: Path) -> None:
    """No "already running", and what was queued is crawled before the job is called complete."""
    with proving("company", tmp_path, options=("--max-depth", "2")) as proof:
        killed = proof.crawler.stretch(lambda _: proof.crawler.asks.look() >= 30)
        assert killed.left is not None
        queued = [row.url for row in killed.left.seen if row.status == "pending"]
        proof.stretches.append(killed)
        proof.run(0)
        end = proof.rows()
        assert queued
        assert {end[url].status for url in queued} <= set(DONE)
        proof.balances()


def test_defect_4_08_a_second_process_takes_no_job_of_a_live_one(tmp_path: Path) -> None:
    """It watches; no page is asked for twice."""
    with proving("company", tmp_path, options=("--max-depth", "2", "--delay", "100ms")) as proof:
        with proof.crawler.start() as first:
            first.wait_for(lambda: proof.crawler.asks.look() >= 20, seconds=60)
            with proof.crawler.start() as second:
                assert first.wait(120) in (0, 3), first.err
                assert second.wait(60) in (0, 3), second.err
                assert f"is being worked by pid {first.pid}" in second.err + second.out
        twice = {url for url, n in proof.asked().items() if n > 1}
        assert {url.removeprefix(proof.world.url) for url in twice} <= {"/announcements"}  # heals at the third try


def test_defect_4_09_no_page_without_content_and_no_content_without_mark(tmp_path: Path) -> None:
    with proving("company", tmp_path, options=("--max-depth", "2")) as proof:
        for n in (15, 35, 60):
            killed = proof.crawler.stretch(lambda _, n=n: proof.crawler.asks.look() >= n)  # type: ignore[misc]
            assert killed.left is not None
            assert all(row.sha256 for row in killed.left.seen if row.status == "succeeded")
            assert not [row for row in killed.left.seen if row.sha256 and row.status == "pending"]
            proof.stretches.append(killed)
        proof.run(0)
        proof.balances()


def test_defect_4_10_a_time_limit_gives_timeout_with_what_there_is(tmp_path: Path) -> None:
    with proving("company", tmp_path, options=("--name", "firm", "--delay", "300ms", "--time-limit", "3s")) as proof:
        with proof.crawler.start() as crawl:
            assert crawl.wait(60) == 12, crawl.err
        said = holdfast("status", "firm", "--json", *proof.crawler.where, cwd=tmp_path).json()
        assert said["status"] == "timeout"
        assert said["counts"]["succeeded"] > 0
        assert said["counts"]["pending"] > 0


@pytest.mark.xdist_group("company paused")
def test_defect_4_11_page_2_is_a_page_of_its_own(paused: Paused) -> None:
    """FRO-06."""
    lists = {url for url in paused.end if "/news?page=" in url}
    assert len(lists) == 6
    assert len({paused.end[url].sha256 for url in lists}) == 6

"""`holdfast demo`: what it says is what happened, it leaves nothing behind unless asked to, and it can fail."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast.audit.witness import Seen
from holdfast.demo import story
from holdfast.demo.command import ChildCommand
from holdfast.demo.proofs import KilledCrawl, prove
from holdfast.demo.sighting import Sighting
from holdfast.demo.stretch import Stretch
from holdfast.errors import BadParams
from holdfast.model.job import Counts

HOME, GUIDE, API = "http://hand.test/", "http://hand.test/guide", "http://hand.test/api"


def test_the_demo_kills_a_crawl_resumes_it_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """ux rule 10, C15: under a minute, every proof held, no control codes off a terminal."""
    with ChildCommand(["demo"], said=tmp_path / "said", environ={"TMPDIR": str(emptied(tmp_path / "tmp"))}) as demo:
        assert demo.wait(60) == 0, demo.out + demo.err
    assert re.search(r"kill -9 \d+: dead in the middle of \d+ pages", demo.out)
    assert re.search(r"Resuming 127\.0\.0\.1-\d+: \d+ done, \d+ left", demo.out)
    assert "discovered 607 = 604 succeeded + 1 failed + 2 skipped + 0 cancelled + 0 pending" in demo.out
    assert demo.out.count("✓") == 6
    assert "\x1b" not in demo.out
    assert os.listdir(tmp_path / "tmp") == []


def test_a_demo_with_a_data_folder_keeps_its_results_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert story.run(data=tmp_path / "kept", delay_ms=5, plain=True) == 0
    rows = [json.loads(line) for line in (tmp_path / "kept" / "pages.jsonl").read_bytes().splitlines()]
    assert len({row["url"] for row in rows}) == len(rows) == 604
    assert f"{tmp_path / 'kept'}/pages.jsonl" in capsys.readouterr().out


def test_the_demo_of_the_company_comes_through_its_traps(tmp_path: Path) -> None:
    """Killed, resumed, every proof held, although a page is slow, one heals late and three have no end."""
    with ChildCommand(["demo", "company"], said=tmp_path / "said", environ={"TMPDIR": str(tmp_path)}) as demo:
        assert demo.wait(120) == 0, demo.out + demo.err
    assert "The website of a made-up company, 162 pages with traps" in demo.out
    assert "16 in traps, 2 beyond the depth" in demo.out
    assert demo.out.count("✓") == 7


def test_a_world_that_is_not_there_is_refused() -> None:
    there = "there are: manual, company, judgments, court, images"
    for world, guess in (("atlantis", ""), ("compny", "; did you mean company?")):
        with pytest.raises(BadParams) as refused:
            story.run(world)
        assert refused.value.message == f"there is no world {world!r}; {there}{guess}"


def test_a_data_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(BadParams, match="cannot be written"):
        story.run(data=tmp_path / "file" / "data")


def test_what_happened_as_promised_is_proven() -> None:
    assert [proof.says for proof in prove(case()) if not proof.holds] == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"verify_code": 9}, "holdfast verify ended with 9."),
        ({"end": None}, "The ledger has no job."),
        ({"exported": [(HOME, "h")] * 2}, "All 3 pages are there"),
    ],
)
def test_a_broken_promise_is_said(change: dict[str, Any], says: str) -> None:
    failed = [proof.says for proof in prove(replace(case(), **change)) if not proof.holds]
    assert any(sentence.startswith(says) for sentence in failed), failed


def test_a_page_that_is_missing_or_fetched_again_is_named() -> None:
    good = case()
    again = replace(good.resumed, asks=asks(10, HOME, GUIDE, API))
    failed = [proof.says for proof in prove(replace(good, resumed=again)) if not proof.holds]
    assert f"1 page was fetched again although done, such as {HOME}" in failed
    lost = replace(good, end=ledger([HOME, GUIDE]))
    assert f"1 of 3 pages are missing or differ, such as {API}" in [proof.says for proof in prove(lost)]


def test_a_demo_whose_proof_fails_exits_with_9(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A kill that never comes proves nothing: the demo says so instead of calling itself a success."""
    monkeypatch.setattr(story, "KILL_AT_SHARE", 2.0)
    assert story.run(data=tmp_path, delay_ms=5, plain=True) == 9
    out = capsys.readouterr().out
    assert "✗ The crawl ended by itself, with 0, before the kill." in out
    assert "1 of 1 proofs failed" in out


def emptied(folder: Path) -> Path:
    folder.mkdir()
    return folder


def case() -> KilledCrawl:
    """Three pages; the home page was done and the guide in hand when the crawl was killed, then all came."""
    killed = Stretch(pid=1, began_ns=0, ended_ns=5, asks=asks(1, HOME, GUIDE), code=-9, left=ledger([HOME], [GUIDE]))
    resumed = Stretch(pid=2, began_ns=6, ended_ns=20, asks=asks(10, GUIDE, API), code=0)
    pages = [{"url": url, "sha256": "h"} for url in (HOME, GUIDE, API)]
    return KilledCrawl(
        killed=killed,
        resumed=resumed,
        end=ledger([HOME, GUIDE, API]),
        oracle={"pages": pages, "missing": [], "redirects": []},
        exported=[(url, "h") for url in (HOME, GUIDE, API)],
        verify_code=0,
    )


def asks(at_ns: int, *urls: str) -> tuple[dict[str, Any], ...]:
    return tuple({"at_ns": at_ns + n, "key": url} for n, url in enumerate(urls))


def ledger(done: list[str], held: list[str] | None = None) -> Sighting:
    rows = [Seen(url, "succeeded", "h", 2) for url in done] + [Seen(url, "in_progress", None, 1) for url in held or ()]
    counts = Counts(discovered=len(rows), succeeded=len(done), in_progress=len(held or ()))
    job: Any = SimpleNamespace(status="in_progress" if held else "completed", name="hand.test")
    return Sighting(job=job, counts=counts, seen=tuple(rows), poisoned=0)

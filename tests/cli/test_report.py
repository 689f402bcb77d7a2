"""`crawl --report` and `report`, as a user types them, on a made-up company (SIT-01, SIT-06, SIT-07, SIT-08)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import Done, holdfast
from cli.schemas import validator
from fetch.hostile import HostileSite, answer, in_a_thread
from recipes.companies import company

HTML = "Content-Type: text/html; charset=utf-8"


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    made = company(1)
    pages = {url.partition(made.pool.host)[2]: answer(body, HTML) for url, body in made.pages.items()}
    served = HostileSite(more=pages)
    with in_a_thread(served):
        yield served


def crawl(site: HostileSite, folder: Path, *words: str) -> Done:
    fixed = ("--resolve", f"kelpworks.test={site.address}", "--delay", "0", "--name", "acme", "--allow", site.address)
    return holdfast("crawl", "http://kelpworks.test/", *fixed, *words, cwd=folder)


def test_a_report_is_made_and_read_in_three_forms(site: HostileSite, tmp_path: Path) -> None:
    done = crawl(site, tmp_path, "--report", "--exclude", "/pricing", "--exclude", "/products/*-*")
    assert done.code == 0, done.err
    assert "  report: holdfast report acme --open\n" in done.err
    assert holdfast("verify", "acme", cwd=tmp_path).code == 0
    document = json.loads(holdfast("report", "acme", "--format", "json", cwd=tmp_path).out)
    validator("report").validate(document)
    assert list(document) == ["schema", "company", "analysis", "entities", "pages", "metadata"]
    assert (document["company"]["name"], document["analysis"]["version"]) == ("Kelpworks", 1)
    assert len(document["analysis"]["sections"]) == 8
    assert {"value", "context", "source", "confidence"} <= document["entities"][0].keys()
    assert {"url", "type", "crawled_at"} <= document["pages"][0].keys()
    assert holdfast("report", "acme", cwd=tmp_path).out.startswith("# Kelpworks\n")
    assert holdfast("report", "acme", "-o", "acme.html", cwd=tmp_path).code == 0
    assert (tmp_path / "acme.html").read_bytes().startswith(b"<!doctype html>")
    pages = holdfast("export", "acme", "-o", "-", cwd=tmp_path).out.splitlines()
    assert len(pages) == len(document["pages"])  # made targets are no pages


def test_a_report_of_a_crawl_without_one_is_built_when_asked_for(site: HostileSite, tmp_path: Path) -> None:
    crawl(site, tmp_path, "--max-depth", "1", "--exclude", "/pricing")
    document = json.loads(holdfast("report", "acme", "--json", cwd=tmp_path).out)
    assert (document["analysis"]["version"], document["metadata"]["partial"]) == (None, False)
    assert document["entities"]


def test_at_a_time_limit_a_partial_report_can_be_read_and_more_time_completes_it(
    site: HostileSite, tmp_path: Path
) -> None:
    """PAU-08, PAU-10."""
    assert crawl(site, tmp_path, "--report", "--max-pages", "3", "--exclude", "/pricing").code == 13
    words = ("--report", "--max-pages", "1000", "--time-limit", "1ms", "--exclude", "/pricing")
    assert crawl(site, tmp_path, *words).code == 12
    read = holdfast("report", "acme", "--format", "json", cwd=tmp_path)
    assert read.code == 0
    assert "partial: the job is timeout" in read.err
    assert json.loads(read.out)["metadata"]["partial"] is True
    assert holdfast("resume", "acme", cwd=tmp_path).code != 0  # its time is used up
    done = holdfast("resume", "acme", "--extend", "10m", cwd=tmp_path)
    assert done.code == 0, done.err
    read = holdfast("report", "acme", "--format", "json", cwd=tmp_path)
    assert "partial" not in read.err
    document = json.loads(read.out)
    assert (document["metadata"]["partial"], document["analysis"]["version"]) == (False, 2)  # 1 is of three pages
    assert document["entities"]


def test_a_job_without_a_stored_page_has_no_report_and_says_so(site: HostileSite, tmp_path: Path) -> None:
    assert crawl(site, tmp_path, "--time-limit", "1ms").code == 12
    for form in ("md", "json", "html"):
        done = holdfast("report", "acme", "--format", form, cwd=tmp_path)
        assert (done.code, done.out) == (6, "")
        assert "acme has no stored page yet: nothing to report" in done.err


def test_who_asks_for_a_report_of_a_complete_job_is_told_that_it_can_be_had(site: HostileSite, tmp_path: Path) -> None:
    assert crawl(site, tmp_path, "--max-depth", "0").code == 0
    done = holdfast("crawl", "acme", "--report", cwd=tmp_path)
    assert done.code == 6
    told, differs = done.err.splitlines()[:2]
    assert "holdfast report acme works already" in told
    assert "acme has another scope" in differs
    assert holdfast("report", "acme", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("report", "acme", "7"), 5, "has no report 7"),
        (("report", "acme", "x"), 2, "names no version"),
        (("report", "acme", "-o", "acme.pdf"), 2, "names no form"),
        (("report", "acme", "--open", "--format", "md"), 2, "--open shows HTML"),
        (("report", "nothing"), 5, "no job"),
    ],
)
def test_what_cannot_be_reported_is_said(
    site: HostileSite, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    crawl(site, tmp_path, "--max-depth", "0")
    done = holdfast(*words, cwd=tmp_path)
    assert (done.code, said in done.err) == (code, True), done.err

"""What is of the wrong kind is refused by name, with what is wanted: never by an error of Python's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import holdfast as hf
from holdfast.client.options import read_options
from holdfast.recipes.documents.kind import KIND as DOCUMENTS

URL = "https://marsh.test/"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda client: client.crawl(URL, name=3), "name: 3 is given; wanted is a text or None"),
        (lambda client: client.crawl([URL]), "urls: ['https://marsh.test/'] is given; wanted is a text"),
        (lambda client: client.crawl(URL, headers=["A: b"]), "headers: ['A: b'] is given; wanted is a dict of texts"),
        (lambda client: client.crawl(URL, headers={"A": 3}), "headers: {'A': 3} is given; wanted is a dict of texts"),
        (lambda client: client.crawl(URL, proxy=3), "proxy: 3 is given; wanted is a text"),
        (lambda client: client.crawl(URL, include=3), "include: 3 is given; wanted is a list of texts"),
        (lambda client: client.crawl(URL, allow=[3]), "allow: [3] is given; wanted is a list of texts"),
        (lambda client: client.crawl(URL, cookies="no"), "cookies: 'no' is given; wanted is True or False"),
        (lambda client: client.crawl(URL, preset=[]), "preset: [] is given; wanted is a text"),
        (lambda client: client.crawl(URL, scope=3), "scope: 3 is given; wanted is a text"),
        (lambda client: client.crawl(URL, delay=[]), "delay: [] is not a number"),
        (lambda client: client.crawl(URL, delay=True), "delay: True is not a number"),
        (lambda client: client.cases(3, url="x"), "ranges: 3 is given; wanted is a text"),
        (lambda client: client.cases("A-1-25..A-2-25", url=3), "url: 3 is given; wanted is a text"),
        (lambda client: client.run(3), "recipe: 3 is given; wanted is a text or a path"),
        (lambda client: client.run("x.py", params=3), "params: 3 is given; wanted is a dict or None"),
        (lambda client: client.batch(3, "x"), "path: 3 is given; wanted is a text or a path"),
        (lambda client: client.restore(3), "path: 3 is given; wanted is a text or a path"),
        (lambda client: client.job(3), "reference: 3 is given; wanted is a text"),
        (lambda client: client.limits(3), "host: 3 is given; wanted is a text or None"),
        (lambda client: hf.crawl(URL, data=3), "data: 3 is given; wanted is a text, a path or None"),
    ],
)
def test_a_client_takes_what_it_says(client: hf.Client, call: Callable[[hf.Client], object], told: str) -> None:
    with pytest.raises(hf.BadParams) as refused:
        call(client)
    assert refused.value.message == told
    assert client.jobs() == []


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda job: job.rollback("2"), "checkpoint: '2' is given; wanted is a whole number"),
        (lambda job: job.rollback(True), "checkpoint: True is given; wanted is a whole number"),
        (lambda job: job.rollback(1, fork=3), "fork: 3 is given; wanted is True or False or a text"),
        (lambda job: job.targets(3), "where: 3 is given; wanted is a text"),
        (lambda job: job.retry(3), "where: 3 is given; wanted is a text"),
        (lambda job: job.explain(3), "url: 3 is given; wanted is a text"),
        (lambda job: job.label(3, 4), "target: 3 is given; wanted is a text"),
        (lambda job: job.label("T-1", 4), "word: 4 is given; wanted is a text or None"),
        (lambda job: job.exclude(3), "pattern: 3 is given; wanted is a text"),
        (lambda job: job.resume(extend=[]), "extend: [] is given; wanted is a number, a text or None"),
        (lambda job: job.run(on_progress=3), "on_progress: 3 is given; wanted is a function or None"),
        (lambda job: job.run(processes="2"), "processes: '2' is given; wanted is a whole number"),
        (lambda job: job.export(3), "path: 3 is given; wanted is a text or a path"),
        (lambda job: job.targets("x" * 500 + "y", sort=9), "sort: 9 is given; wanted is a text"),
    ],
)
def test_a_job_takes_what_it_says(client: hf.Client, call: Callable[[hf.Job], object], told: str) -> None:
    with pytest.raises(hf.BadParams) as refused:
        call(client.crawl(URL))
    assert refused.value.message == told


def test_a_long_value_is_not_repeated_whole(client: hf.Client) -> None:
    with pytest.raises(hf.BadParams) as refused:
        client.job(b"x" * 5000)  # type: ignore[arg-type]
    assert len(refused.value.message) < 120


def test_an_async_program_hears_the_same(client: hf.Client) -> None:
    async def ask(call: Callable[[hf.AsyncJob], Any]) -> None:
        async with client as awaited:
            with pytest.raises(hf.BadParams, match="is given; wanted is"):
                await call(await awaited.crawl(URL))

    for call in (lambda job: job.rollback("2"), lambda job: job.run(processes="2"), lambda job: anext(job.stream(3))):
        asyncio.run(ask(call))


def test_too_few_arguments_are_pythons_own_affair(client: hf.Client) -> None:
    with pytest.raises(TypeError, match=r"Client\.job\(\) missing 1 required positional argument: 'reference'"):
        client.job()  # type: ignore[call-arg]


def test_what_fits_is_taken(client: hf.Client, tmp_path: Path) -> None:
    job = client.crawl(URL, name="pond", headers={"A": "b"}, allow=("127.0.0.1:1",), exclude="/tags/*", concurrency="4")
    assert job.exclude("/x/*", regex=False, dry_run=True) == 0
    assert job.export(tmp_path / "a.jsonl") == job.export(str(tmp_path / "b.jsonl")) == 0


@pytest.mark.parametrize(
    ("kind", "inputs", "options", "told"),
    [
        ("site", URL, {"max_depth": 10**9}, "max_depth: must be from 0 to 100000, not 1000000000"),
        ("site", URL, {"scope": "moon"}, "scope: 'moon' is none of host, domain, prefix, any"),
        ("cases", "A-1-25", {"url": URL + "{number}", "safe_stop": 0}, "safe_stop: must be from 1 to 10000, not 0"),
        ("images", "frog", {"per_keyword": True}, "per_keyword: True is not a number"),
    ],
)
def test_options_of_a_kind_have_the_range_of_their_row(
    client: hf.Client, kind: str, inputs: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(hf.BadParams) as refused:
        client.start(kind, inputs, **options)
    assert refused.value.message == told
    assert client.jobs() == []


def test_options_of_a_kind_are_kept_as_the_command_line_keeps_them(client: hf.Client, tmp_path: Path) -> None:
    listed = tmp_path / "list.csv"
    listed.write_text("Link\nhttps://pond.test/a.pdf\n")
    cases = client.start("cases", "A-*-25", url=f" {URL}{{number}}", safe_stop="7")._row().params
    assert (cases["url"], cases["safe_stop"]) == (URL + "{number}", 7)
    images = client.images("frog", engines="google, bing")._row().params  # type: ignore[arg-type]
    assert images["engines"] == ["google", "bing"]
    docs = client.docs(listed, columns=MappingProxyType({"url": "Link"}), hosts="a.test,b.test")._row().params
    assert (docs["columns"], docs["hosts"]) == ({"url": "Link"}, ["a.test", "b.test"])
    assert client.crawl(URL, exclude="")._row().params["exclude"] == []


def test_configured_engines_reach_an_images_job_however_it_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "holdfast.toml").write_text('engines.bing.base_url = "http://bing.pond.test"\n')
    (tmp_path / "birds.csv").write_text("bird\nheron\n")
    (tmp_path / "birds.toml").write_text('kind = "images"\nkeywords = ["{bird}"]\n')
    monkeypatch.chdir(tmp_path)
    client = hf.Client(data=tmp_path / "data")
    begun = [client.images("frog"), client.start("images", "toad"), *client.batch("birds.csv", "birds.toml")]
    assert [job._row().params["origins"] for job in begun] == [{"bing": "http://bing.pond.test"}] * 3


@pytest.mark.parametrize(("given", "read"), [("", []), (" , ", []), ("a.test, ,b.test,", ["a.test", "b.test"])])
def test_an_empty_part_of_a_list_is_no_word_of_it(given: str, read: list[str]) -> None:
    assert read_options({"hosts": given}, DOCUMENTS) == ({"hosts": read}, {})

"""`--distinct-from JOB` (IMG-06 across jobs): what another job keeps counts as held, as it was when the job began."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.bench import Bench, postgres_bench, sqlite_bench
from holdfast.clock import ManualClock
from holdfast.errors import BadParams, NotFound
from holdfast.model.look import Generation
from holdfast.recipes.images import facts
from holdfast.recipes.images.held_elsewhere import ForeignImage, HeldIndex
from holdfast.recipes.images.kind import KIND
from holdfast.views.images.breakdown import groups
from holdfast.views.levels import level_documents
from views.images_ledger import ImagesLedger, number_of

FIRST = 24  # images that the other job keeps of each keyword
WANTED = 10


@pytest.fixture(params=["sqlite", "postgres"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    clock = ManualClock()
    if request.param == "sqlite":
        made = sqlite_bench(tmp_path / "ledger.db", clock)
    else:
        made = postgres_bench(request.getfixturevalue("pg_schema_url"), clock)
    yield made
    made.check()
    made.close()


def other_job(bench: Bench, host: str, name: str = "more", **more: object) -> ImagesLedger:
    given = {"per_keyword": WANTED, "distinct_from": ("pets",), **more}
    return ImagesLedger(bench, name=name, host=host, **given)  # type: ignore[arg-type]


def numbers(pets: ImagesLedger, keyword: str = "cat") -> set[int]:
    return {number_of(url) for (word, _), (url, _) in pets.kept().items() if word == keyword}


def copies(pets: ImagesLedger) -> dict[str, str]:
    """URL -> the rule that says of what it is a copy, of the keyword `cat`."""
    rows = pets.bench.targets(pets.job.id)
    found = [row for row in rows if row.disposition == "duplicate" and (row.name or "").startswith("duplicate cat ")]
    return {(row.name or "").split(" ")[-1]: row.rule or "" for row in found}


def test_images_of_the_other_job_are_left_out_and_the_number_is_filled_by_others(bench: Bench) -> None:
    """IMG-06: by bytes and by looks, under other URLs; each copy names the other job's image."""
    pets = ImagesLedger(bench, per_keyword=FIRST)
    pets.work()
    held = numbers(pets)
    more = other_job(bench, "elsewhere.test")
    more.work()
    assert len(numbers(more)) == WANTED
    assert not numbers(more) & held
    rules = copies(more)
    found = {number_of(url): rule.split(" ") for url, rule in rules.items()}
    one = min(held)
    assert found[one] == ["content", "0", pets.job.uid, f"https://i.test/cat/{one}.jpg"]
    assert found[9] == ["perceptual", "0", pets.job.uid, "https://i.test/cat/1.jpg"], "9 looks like 1"
    images = {group["group"]: group["images"] for group in groups(bench.ledger, bench.job(more.job.id), "keyword")}
    assert images["cat"]["kept"] == WANTED
    assert images["cat"]["duplicates"] == len(rules)


def test_a_url_that_the_other_job_holds_is_not_even_fetched(bench: Bench) -> None:
    """IMG-06: told as a duplicate by its URL, in the numbers and the documents, too."""
    pets = ImagesLedger(bench, per_keyword=FIRST)
    pets.work()
    held = {url for url, _ in pets.kept().values()}
    more = other_job(bench, "i.test")
    more.work()
    assert not {name.split(" ")[1] for name in more.fetched} & held
    assert len(numbers(more)) == WANTED
    by_url = {url: rule for url, rule in copies(more).items() if rule.startswith("url 0 ")}
    assert by_url
    assert all(rule == f"url 0 {pets.job.uid} {url}" for url, rule in by_url.items())
    job = bench.job(more.job.id)
    images = {group["group"]: group["images"] for group in groups(bench.ledger, job, "keyword")}
    assert images["cat"]["pending"] == 0
    assert images["cat"]["duplicates"] >= len(by_url)
    told = [row for one in level_documents(bench.ledger, job, "download", now_ms=0) for row in one["duplicates_found"]]
    assert {"url", "perceptual"} <= {row["detection_method"] for row in told}


def test_what_is_kept_is_the_same_after_deaths_and_whatever_the_other_job_keeps_later(bench: Bench) -> None:
    """Which images are left out is fixed when the job is submitted."""
    pets = ImagesLedger(bench, per_keyword=FIRST)
    while not pets.kept():
        pets.work(1)
    assert len(numbers(pets)) < FIRST
    calm, killed = other_job(bench, "elsewhere.test"), other_job(bench, "elsewhere.test", "killed")
    calm.work()
    pets.work()
    assert numbers(calm) & numbers(pets), "what it kept since then is no matter"
    for _ in range(8):
        killed.die()
        killed.work(1)
    killed.work()
    assert killed.kept() == calm.kept()


@pytest.mark.parametrize("fate", ["deleted", "rolled back"])
def test_a_job_whose_images_are_gone_is_told_and_no_other_set_is_kept(bench: Bench, fate: str) -> None:
    pets = ImagesLedger(bench, per_keyword=FIRST)
    pets.work()
    more = other_job(bench, "elsewhere.test")

    async def gone(*asked: Any) -> list[Generation]:
        if fate == "deleted":
            raise NotFound("there is no such job")
        return (await pets.context.of_job(*asked))[1:]  # type: ignore[misc]

    more.context = msgspec.structs.replace(more.context, of_job=gone)
    more.work()
    assert not more.kept()
    failed = [row for row in bench.targets(more.job.id) if row.type == facts.JUDGE and row.status == "failed"]
    assert {row.code for row in failed} == {"other_job_changed"}
    assert all(pets.job.uid in (row.because or "") for row in failed)


def test_words_that_name_no_images_job_are_refused(bench: Bench) -> None:
    pets = ImagesLedger(bench)
    params = pets.recipe.check({"keywords": ["cat"], "distinct_from": ["nobody"]})
    with pytest.raises(NotFound):
        KIND.settled(bench.ledger, params, None)
    with pytest.raises(NotFound):
        KIND.settled(None, params, None)
    mine = pets.recipe.check({"keywords": ["cat"], "distinct_from": ["pets"]})
    with pytest.raises(BadParams, match="itself"):
        KIND.settled(bench.ledger, mine, bench.job(pets.job.id))
    site = bench.submitted()
    with pytest.raises(BadParams, match="takes images jobs"):
        KIND.settled(bench.ledger, {"distinct_from": [{"job": site.uid}]}, None)
    fixed = KIND.settled(bench.ledger, mine, None)
    assert KIND.settled(bench.ledger, fixed, None) == fixed


def test_the_index_finds_by_url_by_bytes_and_by_looks() -> None:
    index = HeldIndex()
    for number in range(3_000):
        index.add(
            number, ForeignImage(f"https://i.test/{number}.jpg", f"{number * 7919:064x}"[::-1], f"{number << 40:016x}")
        )
    assert list(index.by_url("https://i.test/17.jpg")) == [17]
    assert list(index.by_url("https://i.test/3000.jpg")) == []
    assert 17 in set(index.like("f" * 64, 17 << 40))
    assert list(index.like(f"{17 * 7919:064x}"[::-1], 0xFF00FF00FF)) == [17]

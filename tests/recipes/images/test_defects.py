"""Defects of earlier systems (worlds.md 3), on rows of real judgements: workers die, and nothing is lost or doubled."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from conformance.bench import Bench, sqlite_bench
from holdfast.clock import ManualClock
from holdfast.errors import NotFound
from holdfast.policy.health import health_of
from holdfast.recipes.images import facts
from holdfast.views.explain import explain
from holdfast.views.history import every_checkpoint, whole_checkpoint
from holdfast.views.images.breakdown import groups
from holdfast.views.levels import level_documents
from holdfast.views.resume import resume_answer
from views.images_ledger import ImagesLedger

WANTED = 60  # so many need several judgements and several rounds of questions
STEPS = 8  # between two deaths: fewer may kill the same target three times, which is poison then


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    yield made
    made.check()
    made.close()


@pytest.fixture
def calm(tmp_path: Path) -> Iterator[ImagesLedger]:
    """The same job, undisturbed."""
    bench = sqlite_bench(tmp_path / "calm.db", ManualClock())
    pets = ImagesLedger(bench, per_keyword=WANTED)
    pets.work()
    yield pets
    bench.close()


def killed(bench: Bench) -> ImagesLedger:
    """Worker after worker dies with what it has in hand: questions, files, judgements and images, each in turn."""
    pets = ImagesLedger(bench, per_keyword=WANTED)
    while bench.counts(pets.job.id)["pending"]:
        pets.die()
        pets.work(STEPS)
    return pets


def retried(pets: ImagesLedger, *codes: str) -> None:
    """As `holdfast retry` asks, of everything that failed or of these codes; worked by another worker to its end."""
    ledger = pets.bench.ledger
    ledger.advance(pets.job.id, pets.worker.control)
    where = [("code", True, codes)] if codes else []
    ledger.reopen(pets.job.id, "retry", actor="user", because="again", where=where)
    ledger.walk(pets.job.id)
    pets.bench.dead.add(pets.worker.owner)
    pets.worker = pets.next_worker()
    pets.work()


def test_after_deaths_the_same_questions_were_asked_each_once(bench: Bench, calm: ImagesLedger) -> None:
    """Defect line 1, IMG-04."""
    pets = killed(bench)
    assert sorted(pets.asked) == sorted(calm.asked)
    assert set(Counter(pets.asked).values()) == {1}
    assert len(pets.asked) > 4, "more than the first round"


def test_after_deaths_each_kept_image_has_its_number_and_its_file(bench: Bench, calm: ImagesLedger) -> None:
    """Defect lines 2, 3, 10 and 15: numbers are given once, a file is named by its bytes, workers take over."""
    kept = killed(bench).kept()
    assert kept == calm.kept()
    assert sorted(kept) == [(keyword, number) for keyword in ("cat", "dodo") for number in range(1, WANTED + 1)]
    assert len({path for _, path in kept.values()}) == len(kept), "no two write to one file"


def test_candidates_that_are_not_needed_are_settled_and_not_fetched(bench: Bench) -> None:
    """Defect line 4: every URL that was named has one fate, and `explain` tells it."""
    pets = ImagesLedger(bench)
    pets.work()
    rows = bench.targets(pets.job.id)
    surplus = [row.name or "" for row in rows if row.disposition == facts.SURPLUS]
    told = {name.removeprefix("surplus ") for name in surplus}
    assert len(told) == len(surplus) > 10
    numbers = {group["group"]: group["images"] for group in groups(bench.ledger, bench.job(pets.job.id), "keyword")}
    assert sum(each["surplus"] for each in numbers.values()) == len(surplus)
    downloaded = [row.name for row in rows if row.type == facts.DOWNLOAD and row.status == "succeeded"]
    fetched = told & set(pets.fetched)
    assert fetched <= set(downloaded), "those were fetched ahead of the judgement"
    assert len(fetched) < len(surplus) / 2
    assert len(pets.fetched) < sum(each["discovered"] for each in numbers.values())
    url = next(name for name in told if name not in fetched).removeprefix("cat ").removeprefix("dodo ")
    answer = explain(bench.ledger, bench.job(pets.job.id), url, now_ms=0)
    assert (answer.verdict, "not needed" in answer.because) == ("surplus", True)
    image = next(row for row in rows if row.disposition == "image")
    assert explain(bench.ledger, bench.job(pets.job.id), f"T-{image.id:x}", now_ms=0).verdict == "fetched"


def test_a_keyword_without_an_image_has_failed_and_a_retry_brings_its_images(bench: Bench) -> None:
    """Defect line 6: no engine answers, and later all do."""
    pets = ImagesLedger(bench, fails=("bing", "google"))
    pets.work()
    chunks = level_documents(bench.ledger, bench.job(pets.job.id), "chunk", now_ms=0)
    assert [(one["status"], one["metadata"]["health"], one["error_type"]) for one in chunks] == [
        ("failed", "failed", "too_few_images")
    ] * 2
    counts = bench.ledger.books(pets.job.id)[1]
    assert counts.failed_by["too_few_images"] == 2
    assert health_of(counts) in ("partial", "failed")
    pets.fails = ()
    retried(pets)
    assert len(pets.kept()) == 2 * 24
    chunks = level_documents(bench.ledger, bench.job(pets.job.id), "chunk", now_ms=0)
    assert [(one["status"], one["metadata"]["health"]) for one in chunks] == [("completed", "ok")] * 2


def test_a_retry_keeps_what_is_held_and_fetches_only_what_failed(bench: Bench) -> None:
    """Defect line 7."""
    pets = ImagesLedger(bench, per_keyword=WANTED)
    pets.work()
    before, fetched = pets.kept(), list(pets.fetched)
    failed = {row.name for row in bench.targets(pets.job.id) if row.status == "failed" and row.type == facts.DOWNLOAD}
    retried(pets)
    assert set(pets.fetched[len(fetched) :]) == failed
    assert before.items() <= pets.kept().items()


def test_an_engine_that_answers_late_brings_images_behind_those_that_are_kept(bench: Bench) -> None:
    """IMG-04: what it names stands before candidates that were fetched, and is fetched, judged and counted as well."""
    pets = ImagesLedger(bench, keywords=("cat",), per_keyword=10_000, fails=("bing",))
    pets.work()
    before, fetched = pets.kept(), set(pets.fetched)
    assert "cat https://i.test/cat/10.jpg" in fetched
    pets.fails = ()
    retried(pets, "answer_unreadable", "too_few_images")
    assert {f"cat https://i.test/cat/{number}.jpg" for number in range(10)} <= set(pets.fetched) - fetched
    after = pets.kept()
    assert before.items() <= after.items()
    late = [url for (_, number), (url, _) in sorted(after.items()) if number > len(before)]
    assert late[:7] == [f"https://i.test/cat/{number}.jpg" for number in range(7)], "7 to 9 are no good"
    assert set(Counter(pets.fetched).values()) <= {1, 2}, "6 of every ten fails once"


def test_two_completions_of_a_keyword_count_once(bench: Bench) -> None:
    """Defect line 8: a worker that was taken for dead comes back with a judgement that another has settled."""
    pets = ImagesLedger(bench)
    pets.work(1)
    late = pets.die()
    judgements = [pets.settled(here) for here in late.hand.values() if here.type == facts.JUDGE]
    assert judgements
    pets.work()
    before = bench.counts(pets.job.id)
    late.settle(*judgements)
    assert bench.counts(pets.job.id) == before


def test_a_damaged_checkpoint_never_means_to_start_again(bench: Bench, calm: ImagesLedger, tmp_path: Path) -> None:
    """Defect line 9: rows are the truth, and a document of a damaged checkpoint is refused, not made up."""
    pets = ImagesLedger(bench, per_keyword=WANTED)
    pets.work(6)
    newest = next(every_checkpoint(bench.ledger, pets.job.id)).number
    before = resume_answer(bench.ledger, bench.job(pets.job.id), strategy=None, now_ms=0)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as file, file:
        [(whole,)] = file.execute("SELECT doc FROM checkpoint WHERE number = ?", (newest,))
        file.execute("UPDATE checkpoint SET doc = ? WHERE number = ?", (b"{}", newest))
    with pytest.raises(NotFound):
        whole_checkpoint(bench.ledger, bench.job(pets.job.id), newest)
    assert resume_answer(bench.ledger, bench.job(pets.job.id), strategy=None, now_ms=0) == before
    pets.die()
    pets.work()
    assert sorted(pets.asked) == sorted(calm.asked)
    assert pets.kept() == calm.kept()
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as file, file:  # so that the books can be checked
        file.execute("UPDATE checkpoint SET doc = ? WHERE number = ?", (whole, newest))

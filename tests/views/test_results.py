"""Records of a recipe of one's own leave the ledger as they are, in every form that has lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.bench import MARSH, Bench, sqlite_bench
from conformance.verdicts import page, succeed
from engine.desk import MemoryBlobs
from holdfast.blobs.spill import in_order
from holdfast.clock import ManualClock
from holdfast.engine.duplicates import Content
from holdfast.errors import BadParams
from holdfast.model.derived import Derived
from holdfast.model.outcome import Record
from holdfast.policy.filters import parse
from holdfast.views.exports.csv import write_csv
from holdfast.views.exports.jsonl import write_jsonl
from holdfast.views.results import Fields, Results, parse_fields

POSTS = ({"title": "=HYPERLINK(1)", "posts": 3}, {"title": "Toads", "url": "https://toad.test/"}, {"tags": ["a", "b"]})


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    yield made
    made.close()


class NothingDerived:
    """These results have no bodies."""

    def submit(self, content: bytes, url: str, content_type: str) -> Future[Derived]:
        raise AssertionError(url)


def forum(bench: Bench, **more: Any) -> Results:
    """Three records of two targets of a recipe that nobody here knows."""
    worker = bench.working(pages=2)
    first, second = sorted(worker.claim(room=2), key=lambda each: each.id)
    records = [Record("thread", json.dumps(post).encode()) for post in POSTS]
    worker.settle(succeed(first, records=tuple(records[:2])), succeed(second, records=(records[2],)))
    job = replace(bench.ledger.books(worker.job)[0], recipe="forum")
    return Results(bench.ledger, MemoryBlobs(), job, NothingDerived(), **more)


def lines_of(results: Results) -> list[dict[str, Any]]:
    out: list[bytes] = []
    assert write_jsonl(results, out.append) == len(out)
    return [json.loads(line) for line in out]


def test_a_record_is_its_own_fields_and_where_it_comes_from(bench: Bench) -> None:
    lines = lines_of(forum(bench))
    assert {line["kind"] for line in lines} == {"thread"}
    assert [list(line) for line in lines] == [
        ["url", "key", "target", "run", "kind", "title", "posts"],
        ["url", "key", "target", "run", "kind", "title"],
        ["url", "key", "target", "run", "kind", "tags"],
    ]
    assert lines[0]["url"] in (f"{MARSH}/frog/1", f"{MARSH}/frog/2")
    assert lines[1]["url"] == "https://toad.test/"  # its own name wins
    assert len({line["target"] for line in lines}) == 2


def test_a_table_has_the_fields_of_all_records(bench: Bench) -> None:
    out: list[bytes] = []
    assert write_csv(forum(bench), out.append) == 3
    assert out[0] == b"url,key,target,run,kind,title,posts,tags\r\n"
    assert out[1].endswith(b",'=HYPERLINK(1),3,\r\n")
    assert out[3].endswith(b',,,"[""a"",""b""]"\r\n')


def test_named_fields_are_all_there_is_in_the_order_they_were_named(bench: Bench) -> None:
    lines = lines_of(forum(bench, fields=parse_fields("posts,title")))
    assert list(lines[0].items()) == [("posts", 3), ("title", "=HYPERLINK(1)")]
    assert lines[2] == {"posts": None, "title": None}


def test_a_field_that_no_record_has_is_refused_with_those_there_are(bench: Bench) -> None:
    results = forum(bench, fields=parse_fields("title,post"))
    assert results.check() is results  # it goes on: what is still to come may have it
    ended = replace(results, job=replace(results.job, status="completed"))
    with pytest.raises(BadParams, match=r"a record has no field 'post'; did you mean posts\?") as refused:
        ended.check()
    known = "url key target run kind markdown text metadata flags duplicate_of near_duplicate_of title posts tags"
    assert refused.value.hint == f"fields: {known}"
    assert replace(ended, fields=parse_fields("tags,title,+text")).check()


def same_bytes(bench: Bench, **more: Any) -> Results:
    """Six pages in discovery order: a b a a b c, and one without a body."""
    worker = bench.working(pages=7)
    hand = sorted(worker.claim(room=7), key=lambda each: each.id)
    bodies = (b"a", b"b", b"a", b"a", b"b", b"c")
    last = succeed(hand[6], records=(Record("page", json.dumps({"title": "Frogs"}).encode()),))
    worker.settle(*(page(here, body) for here, body in zip(hand, bodies, strict=False)), last)
    job = replace(bench.ledger.books(worker.job)[0], recipe="forum", status="completed")
    return Results(bench.ledger, MemoryBlobs(), job, NothingDerived(), **more)


def test_results_with_the_bytes_of_an_earlier_one_name_the_first_of_them(bench: Bench, tmp_path: Path) -> None:
    """Also where more are sorted than are kept in memory."""
    results = same_bytes(bench, fields=parse_fields("url,duplicate_of")).check()
    lines = lines_of(results)
    a, b = lines[0]["url"], lines[1]["url"]
    assert [line["duplicate_of"] for line in lines] == [None, None, a, a, b, None, None]

    def outside(rows: Iterable[Content], key: Callable[[Content], Any]) -> Iterator[Content]:
        return in_order(rows, tmp_path, kind=tuple[bytes, int, str], key=key, rows_per_run=2)

    assert lines_of(replace(results, in_order=outside)) == lines
    distinct = lines_of(replace(results, in_order=outside, distinct=True))
    assert distinct == [line for line in lines if line["duplicate_of"] is None]


def test_the_first_of_the_results_that_were_asked_for_is_kept(bench: Bench) -> None:
    """A filter that leaves the first out keeps the second: its content is in the export."""
    results = same_bytes(bench, fields=parse_fields("url"), distinct=True)
    urls = [line["url"] for line in lines_of(results)]
    rest = [line["url"] for line in lines_of(replace(results, where=parse(f"-url:{urls[0]}")))]
    assert len(urls) == len(rest) == 4
    assert urls[0] not in rest


@pytest.mark.parametrize("more", [{"distinct": True}, {"fields": parse_fields("+duplicate_of")}])
@pytest.mark.parametrize("write", [write_jsonl, write_csv])
def test_results_that_come_one_by_one_cannot_tell_duplicates(
    bench: Bench, write: Callable[..., int], more: dict[str, Any]
) -> None:
    results = same_bytes(bench, **more)
    site = replace(results, job=replace(results.job, recipe="site"))
    with pytest.raises(BadParams, match="known when all results are there"):
        write(site, lambda line: None, rows=())


@pytest.mark.parametrize(
    ("text", "fields"),
    [("url", Fields(("url",))), ("+text", Fields(None, ("text",))), ("a, b,+text", Fields(("a", "b"), ("text",)))],
)
def test_fields_are_named_or_added(text: str, fields: Fields) -> None:
    assert parse_fields(text) == fields


@pytest.mark.parametrize("text", ["", "a,,b", "+", "a,"])
def test_a_field_without_a_name_is_refused(text: str) -> None:
    with pytest.raises(BadParams):
        parse_fields(text)

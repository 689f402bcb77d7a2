"""Records of a recipe of one's own leave the ledger as they are, in every form that has lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.desk import MemoryBlobs
from holdfast.clock import ManualClock
from holdfast.engine.export import write_csv, write_jsonl
from holdfast.engine.results import Fields, Results, parse_fields
from holdfast.errors import BadParams
from holdfast.model.outcome import Record
from holdfast.testing.conformance.bench import MARSH, Bench, sqlite_bench
from holdfast.testing.conformance.verdicts import succeed

POSTS = ({"title": "=HYPERLINK(1)", "posts": 3}, {"title": "Toads", "url": "https://toad.test/"}, {"tags": ["a", "b"]})


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = sqlite_bench(tmp_path / "ledger.db", ManualClock())
    yield made
    made.close()


def forum(bench: Bench, **more: Any) -> Results:
    """Three records of two targets of a recipe that nobody here knows."""
    worker = bench.working(pages=2)
    first, second = sorted(worker.claim(room=2), key=lambda each: each.id)
    records = [Record("thread", json.dumps(post).encode()) for post in POSTS]
    worker.settle(succeed(first, records=tuple(records[:2])), succeed(second, records=(records[2],)))
    job = replace(bench.ledger.books(worker.job)[0], recipe="forum")
    return Results(bench.ledger, MemoryBlobs(), job, lambda body, kind: None, **more)


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
    assert refused.value.hint == "fields: url key target run kind text title posts tags"
    assert replace(ended, fields=parse_fields("tags,title,+text")).check()


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

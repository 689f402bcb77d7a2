"""Defects of earlier systems at the court (worlds 2), line by line: each was first seen to fail on a broken recipe."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tracemalloc
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from cases.court import PAGE, asked, court_job, equals_the_oracle, fates, records
from holdfast.clock import ManualClock
from holdfast.demo.serving import WorldServer
from holdfast.errors import Blocked, FetchError
from holdfast.model.exchange import Headers, Response
from holdfast.model.target import Claimed
from holdfast.recipe import Context
from holdfast.recipes.cases import court_records
from holdfast.recipes.cases.audit_files import audit_files
from holdfast.recipes.cases.recipe import CasesRecipe
from holdfast.recipes.cases.search_client import SearchClient
from holdfast.recipes.cases.source import read_source

DAY_MS = 86_400_000


@pytest.fixture
def world(tmp_path: Path) -> Iterator[WorldServer]:
    with WorldServer("court", log_path=tmp_path / "requests.jsonl", seed=7) as world:
        yield world


def a_day_later(folder: Path) -> None:
    """As if everything had been settled yesterday."""
    with sqlite3.connect(folder / "data" / "ledger.db") as ledger:
        ledger.execute("UPDATE entry SET at = at - ?", (DAY_MS,))
    ledger.close()


def test_line_01_a_resume_goes_on_behind_999_in_the_order_of_numbers(tmp_path: Path, world: WorldServer) -> None:
    job = court_job(world, tmp_path, "IMM-990-49..IMM-1010-49", max_pages=8, concurrency=1, per_host=1)
    job.run()
    first = asked(world)
    before = len(world.asks())
    job.resume(extend_pages=100)
    again = asked(world, before)
    assert not set(first) & set(again)
    assert max(first.values()) <= 3  # one of them met a session that was not begun
    numbers = [int(str(row.key).split("-")[1]) for row in job.targets()]
    assert numbers == list(range(990, 1011))
    equals_the_oracle(job, world, range(990, 1011))


def test_lines_02_to_05_what_is_incomplete_is_failed_and_visible_and_is_retried(
    tmp_path: Path, world: WorldServer
) -> None:
    """CAS-04, CAS-07: below the highest success, too; counted apart from what has no record."""
    world.set_faults(half_header=0.2, empty_entries=0.2)
    job = court_job(world, tmp_path, "IMM-40-49..IMM-70-49", max_attempts=1)
    job.run()
    broken = {name for name, fate in fates(job).items() if fate == ("failed", "incomplete_record")}
    assert len(broken) >= 5
    report = job.report()
    assert isinstance(report, dict)
    (told,) = report["ranges"]
    assert told["failed_count"] == len(broken)
    assert told["no_record_count"] == len([fate for fate in fates(job).values() if fate[1] == "no_record"]) == 2
    assert told["success_count"] + told["no_record_count"] + told["failed_count"] == 31 == told["numbers"]
    assert not broken & set(records(job))
    assert "✗" in told["strip"]
    before = len(world.asks())
    job.retry()
    job.run()
    assert set(asked(world, before)) == broken
    equals_the_oracle(job, world, range(40, 71))


def test_line_02_a_later_run_asks_for_failed_numbers_below_the_highest_record(
    tmp_path: Path, world: WorldServer
) -> None:
    """CAS-08: there is no high-water mark."""
    world.set_faults(half_header=0.4)
    job = court_job(world, tmp_path, "IMM-40-49..IMM-50-49", max_attempts=1)
    job.run()
    broken = {name for name, fate in fates(job).items() if fate[0] == "failed"}
    assert broken
    before = len(world.asks())
    job.run(mode="new")
    assert set(asked(world, before)) == broken
    equals_the_oracle(job, world, range(40, 51))


def test_line_06_the_template_table_never_appears_in_a_record(tmp_path: Path, world: WorldServer) -> None:
    world.set_faults(empty_entries=0.5)
    job = court_job(world, tmp_path, "IMM-1-49..IMM-12-49")
    job.run()
    entries = [entry for record in records(job).values() for entry in record["docket_entries"]]
    assert entries
    assert not [entry for entry in entries if entry["entry_date"] == "YYYY-MM-DD" or entry["doc_id"] == "#"]
    equals_the_oracle(job, world, range(1, 13))


def test_line_07_kept_pages_correct_a_wrong_parser_without_a_request(
    tmp_path: Path, world: WorldServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CAS-06."""
    right = court_records.record_of

    def by_position(detail: Any, **more: Any) -> dict[str, Any]:
        made = right(detail, **more)
        for at, entry in enumerate(made["docket_entries"]):
            entry["doc_id"] = at + 1
        return made

    monkeypatch.setattr(court_records, "record_of", by_position)
    job = court_job(world, tmp_path, "IMM-1-49..IMM-12-49")
    job.run()
    wrong = records(job)
    monkeypatch.setattr(court_records, "record_of", right)
    before = len(world.asks())
    job.reprocess()
    assert len(world.asks()) == before
    assert records(job) != wrong
    equals_the_oracle(job, world, range(1, 13))
    for record in records(job).values():
        ids = [entry["doc_id"] for entry in record["docket_entries"]]
        assert ids == list(range(len(ids), 0, -1))


def test_line_09_neither_a_passing_miss_nor_the_previous_row_answers(tmp_path: Path, world: WorldServer) -> None:
    world.set_faults(miss_first=0.5, previous_row=0.5)
    job = court_job(world, tmp_path, "IMM-45-49..IMM-64-49", concurrency=1)
    job.run()
    equals_the_oracle(job, world, range(45, 65))


def test_lines_11_13_and_16_the_open_end_is_asked_again_tomorrow_and_gaps_are_not(
    tmp_path: Path, world: WorldServer
) -> None:
    """CAS-08: each number once; a day later only the new numbers and the open end."""
    job = court_job(world, tmp_path, "IMM-2450-49..IMM-*-49", safe_stop=10)
    job.run()
    assert max(asked(world).values()) <= 3
    equals_the_oracle(job, world, range(2450, 2491))
    targets = [int(str(row.key).split("-")[1]) for row in job.targets()]
    assert len(targets) == len(set(targets))
    before = len(world.asks())
    job.run(mode="new")
    assert not asked(world, before)  # too early
    a_day_later(tmp_path)
    last = world.order("advance", days=1)["last"]
    job.run(mode="new")
    numbers = {int(name.split("-")[1]) for name in asked(world, before)}
    assert min(numbers) == 2481
    assert set(range(2481, last + 11)) <= numbers
    assert len(numbers) < 40
    equals_the_oracle(job, world, range(2450, last + 11))
    report = job.report()
    assert isinstance(report, dict)
    (told,) = report["ranges"]
    assert (told["highest"], told["end_proved"]) == (f"IMM-{last}-49", True)
    assert told["success_count"] + told["no_record_count"] == told["numbers"] == last - 2450 + 1
    exported = [int(row["case_id"].split("-")[1]) for row in job.records()]
    assert exported == sorted(set(exported))


def test_line_12_memory_stays_flat_while_known_numbers_are_passed_over() -> None:
    recipe = CasesRecipe(ManualClock())
    params = recipe.check({"ranges": ["IMM-1-49..IMM-60000-49"], "url": "https://c.test/{number}"})
    context = Context(params=params, salt=b"s" * 16, chunking="key")
    tracemalloc.start()
    try:
        assert next(iter(recipe.plan(context, 50_000))).name == "IMM-50001-49"
        for _ in zip(range(5_000), recipe.plan(context), strict=False):
            pass
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_line_14_so_many_cases_from_a_start_end_where_they_should(tmp_path: Path, world: WorldServer) -> None:
    job = court_job(world, tmp_path, "IMM-*-49", start=30, max_cases=50)
    job.run()
    assert [str(row.key) for row in job.targets()] == [f"IMM-{number}-49" for number in range(30, 80)]


def test_line_15_a_block_pauses_the_job_keeps_the_queue_and_records_no_miss(tmp_path: Path, world: WorldServer) -> None:
    world.set_faults(pace_ms=1_000)
    connection = HTTPConnection(world.address)
    for _ in range(7):  # so far that it answers 403, and shows no block page yet
        connection.request("GET", PAGE)
        connection.getresponse().read()
    connection.close()
    job = court_job(world, tmp_path, "IMM-1-49..IMM-20-49")
    job.run()
    with job._ledger() as ledger:
        now = ledger.job(job.name)
    assert (now.status, now.paused_by) == ("paused", "blocked")
    assert (job.counts.failed, job.counts.succeeded) == (0, 0)
    assert not [fate for fate in fates(job).values() if fate[1] == "no_record"]
    world.set_faults()
    world.order("advance", seconds=3_600)
    job.resume()
    equals_the_oracle(job, world, range(1, 21))


def test_line_17_no_attempt_is_outside_a_run(tmp_path: Path, world: WorldServer) -> None:
    """CAS-02, CAS-05."""
    world.set_faults(half_header=0.3)
    job = court_job(world, tmp_path, "IMM-45-49..IMM-64-49")
    job.run()
    with job._ledger() as ledger:
        row = ledger.job(job.name)
        runs = {f"R-{run.n}": run for run in ledger.runs(row.id)}
        files = {name: b"".join(lines).decode() for name, lines in audit_files(ledger, row)}
    (audit,) = (json.loads(text) for name, text in files.items() if name.startswith("audit_"))
    (lines,) = (text.splitlines() for name, text in files.items() if name.startswith("attempts_"))
    attempts = [json.loads(line) for line in lines]
    assert {line["run_id"] for line in attempts} == set(runs)
    assert {line["case_id"] for line in attempts} == set(fates(job))
    assert [line for line in attempts if line["outcome"] == "failed" and "incomplete_record" in line["error"]]
    assert {line["outcome"] for line in attempts} == {"success", "no_record", "failed"}
    assert all(line["html_path"] for line in attempts if line["outcome"] == "no_record")
    assert audit["ranges"][0]["total_attempted"] == 20


def test_a_session_that_ends_is_begun_again_within_the_attempt(tmp_path: Path, world: WorldServer) -> None:
    world.set_faults(session_expired=0.5)
    job = court_job(world, tmp_path, "IMM-1-49..IMM-12-49", max_attempts=1, concurrency=1)
    job.run()
    equals_the_oracle(job, world, range(1, 13))


def test_maintenance_fails_no_case_for_good(tmp_path: Path, world: WorldServer) -> None:
    world.set_faults(query_503=0.2, modal_503=0.2)
    job = court_job(world, tmp_path, "IMM-1-49..IMM-8-49")
    job.run()
    equals_the_oracle(job, world, range(1, 9))


def looked_up(status: int, body: bytes) -> None:
    """IMM-7-49, at a search that always gives this answer."""
    source = read_source(
        {"url": "https://c.test/", "search": "https://c.test/s?n={case}", "detail": "https://c.test/{case}"}
    )
    here = Claimed(
        id=1, chunk=1, epoch=1, key=b"", url="https://c.test/s?n=IMM-7-49", host="c.test", type="case", depth=0,
        parent=None, hops=0, attempts=1, generation=1, name="IMM-7-49",
    )  # fmt: skip

    async def fetch(url: str, headers: Headers = ()) -> Response:
        return Response(url=url, status=status, headers=(), body=body)

    asyncio.run(SearchClient(source).look_up(here, fetch, ManualClock()))  # type: ignore[arg-type]


def test_the_first_403_of_a_search_means_the_job_and_not_the_case() -> None:
    """Worlds 2, line 15: a refusal that shows no block page pauses, too."""
    with pytest.raises(Blocked, match="blocks this crawler"):
        looked_up(403, b"<h1>Forbidden</h1>")


@pytest.mark.parametrize(
    "body", [b'{"data": []}', b'{"data": [], "number": ""}', b'{"data": [], "number": "IMM-70-49"}']
)
def test_an_answer_that_does_not_repeat_the_number_proves_no_absence_cas_07(body: bytes) -> None:
    with pytest.raises(FetchError) as failed:
        looked_up(200, body)
    assert failed.value.code == "incomplete_record"

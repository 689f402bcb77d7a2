"""The court world is what its table says: checked by walkers that share no code with it or with Holdfast."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from demo.browsing import browser_page
from demo.walk_court import PAGE, Walker, walk, walk_in_browser
from holdfast.demo.court.files import exists, file_of, gaps, last_number, number_of
from holdfast.demo.court.oracle import oracle_of
from holdfast.demo.court.site import FAULTS, MODAL_FAULTS, QUERY_FAULTS, START_MS, CourtSite
from holdfast.demo.service import ServiceClock, ServiceRequest
from holdfast.demo.serving import WorldServer


@pytest.fixture
def world(tmp_path: Path) -> Iterator[WorldServer]:
    with WorldServer("court", log_path=tmp_path / "requests.jsonl", seed=7) as world:
        yield world


def expected(oracle: dict[str, Any], numbers: range | list[int]) -> dict[str, Any]:
    records = {record["case_id"]: record for record in oracle["records"]}
    return {f"IMM-{number}-49": records.get(f"IMM-{number}-49") for number in numbers}


# --- the number space


@pytest.mark.parametrize("seed", [7, 1, 2])
def test_the_numbers_are_as_the_table_says(seed: int) -> None:
    missing = gaps(seed)
    assert len(missing) == round(0.06 * 2_480)
    hits = [number for number in range(1, 2_481) if exists(seed, number, 0)]
    assert (hits[0], hits[-1]) == (1, 2_480)
    runs = [len(list(run)) for is_gap, run in groupby(range(1, 2_481), missing.__contains__) if is_gap]
    assert sorted(runs)[-2:] == [12, 35]
    assert all(length <= 2 for length in sorted(runs)[:-2])
    assert not any(exists(seed, number, 0) for number in (0, 2_481, 99_999))
    assert exists(seed, 23, 0)
    assert exists(seed, 231, 0)


def test_each_day_files_three_to_nine_more() -> None:
    grown = [last_number(7, day + 1) - last_number(7, day) for day in range(200)]
    assert set(grown) == {3, 4, 5, 6, 7, 8, 9}


def test_dockets_go_down_to_one_and_differ_in_length() -> None:
    lengths = set()
    for number in range(1, 400):
        numbers = [entry.number for entry in file_of(7, number).entries]
        assert numbers == list(range(len(numbers), 0, -1))
        lengths.add(len(numbers))
    assert {1, 60} <= lengths


@pytest.mark.parametrize("text", ["IMM-07-49", "IMM-7-50", "T-7-49", "IMM-x-49", "", "IMM--49", "7"])
def test_other_numbers_are_no_numbers_of_this_court(text: str) -> None:
    assert number_of(text) is None


def test_the_same_seed_gives_the_same_court() -> None:
    assert oracle_of(7, 1, "") == oracle_of(7, 1, "")
    assert oracle_of(7, 0, "")["gaps"] != oracle_of(8, 0, "")["gaps"]


# --- the walkers


def test_the_walker_obtains_exactly_the_oracle(world: WorldServer) -> None:
    oracle = world.oracle()
    found = walk(world.url, range(1, 2_491))
    assert found == expected(oracle, range(1, 2_491))
    assert {number for number, record in found.items() if record is None} == {
        *oracle["gaps"],
        *(f"IMM-{number}-49" for number in range(2_481, 2_491)),
    }
    assert not [line for line in world.asks() if "/__world/" in line["key"]]


def test_rough_weather_ends_in_the_same_records(world: WorldServer) -> None:
    world.set_faults(dial="rough")
    assert walk(world.url, range(1, 401)) == expected(world.oracle(), range(1, 401))
    bad = [line for line in world.log() if line["kind"] == "sent" and line["status"] >= 400]
    assert bad


def test_tomorrow_there_are_more(world: WorldServer) -> None:
    before = world.oracle()["last"]
    last = world.order("advance", days=1)["last"]
    assert 3 <= last - before <= 9
    found = walk(world.url, range(before, last + 2))
    assert [number for number, record in found.items() if record is None] == [f"IMM-{last + 1}-49"]


def test_a_browser_obtains_the_same_records_while_the_page_misbehaves(world: WorldServer) -> None:
    numbers = [23, 231, min(gaps(7))]
    with browser_page() as page:
        assert walk_in_browser(page, world.url, numbers) == expected(world.oracle(), numbers)
        assert page.inner_text("#datatable_info") == "Showing 0 to 0 of 0 entries"
        assert page.inner_text("#datatable tbody") == "No data available in table"
        for fault in ("late_row", "empty_first", "redrawn_row", "overlay_stays", "half_header", "neighbour_modal"):
            world.set_faults(**{fault: 1.0})
            found = walk_in_browser(page, world.url, [231])
            assert found == expected(world.oracle(), [231]), fault
        empty = [line for line in world.asks() if line["key"].endswith("?number=")]
        assert len(empty) == 1


# --- quirks and the guard


def test_each_fault_of_queries_and_modals_heals_for_a_patient_client(world: WorldServer) -> None:
    oracle = world.oracle()
    for fault in (*QUERY_FAULTS, *MODAL_FAULTS, "page_503"):
        world.set_faults(**{fault: 1.0})
        assert walk(world.url, [22, 23]) == expected(oracle, [22, 23]), fault
    assert set(QUERY_FAULTS + MODAL_FAULTS) < set(FAULTS)


def test_a_transient_miss_and_the_previous_row_are_answers_that_lie(world: WorldServer) -> None:
    walker = Walker(world.url)
    walker.ask(PAGE)
    world.set_faults(miss_first=1.0)
    assert '"data": []' in walker.ask("/api/court-files?court=t&number=IMM-23-49")[1]
    assert "IMM-23-49" in walker.ask("/api/court-files?court=t&number=IMM-23-49")[1]
    world.set_faults(previous_row=1.0)
    assert '"court_number": "IMM-23-49"' in walker.ask("/api/court-files?court=t&number=IMM-231-49")[1]
    walker.connection.close()


def test_a_fast_client_gets_429_then_403_then_a_block_page() -> None:
    now = [0]
    site = CourtSite(7, clock=ServiceClock(START_MS, lambda: now[0]))
    site.set_faults({"pace_ms": 1_000})

    def ask(after_ms: int) -> tuple[int, bytes]:
        now[0] += after_ms
        answer = site.answer(ServiceRequest("GET", PAGE))
        return answer.status, answer.body

    assert [ask(1_000)[0] for _ in range(20)] == [200] * 20
    statuses = [ask(100)[0] for _ in range(10)]
    assert statuses == [429] * 5 + [403] * 5
    blocked = ask(100)[1].lower()
    marks = (b"captcha", b"access denied", b"too many requests", b"rate limit", b"checking your browser")
    assert sum(mark in blocked for mark in marks) >= 2
    assert ask(5_000)[0] == 403
    assert ask(600_000)[0] == 200


def test_maintenance_and_lost_sessions_are_said(world: WorldServer) -> None:
    walker = Walker(world.url)
    assert walker.ask("/api/court-files?court=t&number=IMM-1-49")[0] == 401
    walker.ask(PAGE)
    assert walker.ask("/api/court-files?court=t&number=IMM-1-49")[0] == 200
    assert '"data": []' in walker.ask("/api/court-files?court=a&number=IMM-1-49")[1]
    world.set_faults(maintenance=1)
    assert walker.ask(PAGE)[0] == 503
    walker.connection.close()

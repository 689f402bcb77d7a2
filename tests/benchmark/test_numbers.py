"""From laps to published numbers: medians, ratios, bars and pages say what was measured and nothing else."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any
from xml.etree import ElementTree

import pytest
from bench import report
from bench.contestants.crawl import Contestant, Crawl
from bench.measure import Measured
from bench.plot import limit_of
from bench.profile import costs
from bench.results import facts, row
from bench.rounds import Lap
from bench.targets import targets

FROG = Contestant("frog", "Frog", "every page", lambda _: nullcontext(Crawl(argv=[], result=lambda: (0, {}))))
SCOPE = {
    "date": "2026-01-02", "commit": "abc", "changed": False, "cpu": "a CPU", "cores": 2, "memory_gb": 4.0,
    "system": "Linux", "kernel": "6", "filesystem": "ext4", "python": "3.11", "versions": {"holdfast": "0.1"},
}  # fmt: skip


def lap(name: str, round_: int, *, wall_s: float, cpu_s: float) -> Lap:
    whole = Measured(exit=0, wall_s=wall_s, cpu_s=cpu_s, peak_mb=50, others_share=0.0, began_at=0.0)
    startup = Measured(exit=0, wall_s=0.2, cpu_s=0.1, peak_mb=30, others_share=0.0, began_at=0.0)
    return Lap(
        name, round_, 1001, whole, startup, nginx_cpu_s=0.1, facts={"wal_mb_max": float(round_), "stored_mb": 2.0}
    )


LAPS = [
    lap("frog", 1, wall_s=1.0, cpu_s=0.5), lap("aiohttp", 1, wall_s=2.0, cpu_s=1.0),
    lap("frog", 2, wall_s=4.0, cpu_s=2.0), lap("aiohttp", 2, wall_s=8.0, cpu_s=4.0),
    lap("frog", 3, wall_s=1.1, cpu_s=0.6), lap("aiohttp", 3, wall_s=2.2, cpu_s=1.2),
]  # fmt: skip


def results(**more: Any) -> dict[str, Any]:
    site = {"pages": 1001, "bytes_mean": 14_000.0, "links": 30}
    return {"scope": SCOPE, "site": site, "rounds": 3, "rows": [row(FROG, LAPS)], **more}


def test_a_slow_round_moves_neither_the_median_nor_the_ratio() -> None:
    frog = row(FROG, LAPS)
    assert frog["pages_per_s"] == pytest.approx(1001 / 1.1)
    assert frog["pages_per_s_range"] == pytest.approx([1001 / 4.0, 1001 / 1.0])
    assert frog["against"] == pytest.approx({"pages_per_s": 2.0, "cpu_per_1000": 0.5, "cpu_per_1000_apart": 5 / 11})


def test_the_start_up_is_in_the_one_number_and_not_in_the_other() -> None:
    frog = row(FROG, LAPS)
    assert frog["cpu_per_1000"] == pytest.approx(0.6 / 1.001)
    assert frog["cpu_per_1000_apart"] == pytest.approx(0.5)


def test_without_the_yardstick_there_is_no_ratio() -> None:
    assert row(FROG, [one for one in LAPS if one.contestant == "frog"])["against"] is None


def test_of_the_largest_the_largest_is_kept() -> None:
    found = facts([{"wal_mb_max": 3.0, "reader": {"polls": 4}}, {"wal_mb_max": 9.0, "reader": {"polls": 5}}])
    assert found == {"wal_mb_max": 9.0, "reader": {"polls": 9}}


@pytest.mark.parametrize(("cpu_s", "met"), [(0.02, True), (0.04, False)])
def test_a_bar_that_is_missed_is_not_called_met(cpu_s: float, met: bool) -> None:
    settles = {"checkpoints": 200, "wall_ms_median": 0.2, "cpu_ms_median": 0.2, "cpu_s": 0.04}
    crawl = {"checkpoints": 9, "cpu_s": cpu_s, "process_cpu_s": 1.0}
    found = targets(results(checkpoints=[{"targets": 10_000, "settles": settles, "crawl": crawl}]))
    assert [target.met for target in found] == [True, met]


def test_the_script_and_scrapy_are_bars_of_their_own() -> None:
    against_script = {"cpu_per_1000": 0.8, "pages_per_s": 1.6}
    holdfast = {"contestant": "holdfast", "against": against_script, "against_holdfast": None}
    scrapy = {"contestant": "scrapy", "against": None, "against_holdfast": {"pages_per_s": 0.05}}
    found = [(target.measured, target.met) for target in targets({"rows": [holdfast, scrapy]})]
    assert found == [("0.80 ×", False), ("1.60 ×", True), ("20.0 ×", True)]


def test_the_page_has_every_row_and_every_case_of_the_frontier() -> None:
    pond = dict.fromkeys((name for name, _, _ in report.FRONTIER_COLUMNS), 0.5) | {"case": "a pond"}
    text = report.page(results(), {"rows": [pond]}, None)
    assert "| Frog | every page | 910 | 0.60 | 0.50 |" in text
    assert "| a pond | 0.50 | 0 | 0.50 × |" in text
    assert "Not measured yet" in report.page(results(), None, None)


def test_the_picture_is_well_formed_and_shows_every_name() -> None:
    drawn = ElementTree.fromstring(report.drawing(results()))  # noqa: S314 - drawn by ourselves
    assert {"Frog", "910", "0.60"} <= {
        "".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}text")
    }


def test_one_giant_does_not_make_all_others_invisible() -> None:
    assert limit_of([1.0, 1.2, 12.0]) == pytest.approx(1.5)
    assert limit_of([1.0, 1.2, 2.0]) == 2.0


def test_a_functions_cost_is_what_was_seen_at_the_end_of_stacks() -> None:
    stacks = "thread (7): MainThread;main (a/b.py:1);hop (holdfast/frog.py:3) 3\nthread (8): ledger_0;swim (c.py:9) 1\n"
    found = costs(stacks)
    assert found["samples"] == 4
    assert found["rows"][0] == {"share": 0.75, "thread": "loop", "function": "hop", "where": "holdfast/frog.py"}
    assert found["rows"][1]["thread"] == "ledger"


def test_the_published_page_follows_from_the_kept_numbers() -> None:
    kept, *others = (report.read(report.DOCS / name) for name in (report.RESULTS, *report.BESIDE))
    page = report.DOCS / report.PAGE
    published = page.read_text(encoding="utf-8") if page.exists() else None
    written = None if kept is None else report.page(kept, *others)
    assert published == written, "stale: python -m bench.report"

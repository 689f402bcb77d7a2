"""`holdfast cases`: a range of any size is submitted at once, may be killed, and every number is there once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from cli.commands import Running, holdfast, ledger_in
from holdfast.testing.fake_web import FakeWeb, Said

CASES = 1500
KILLS = 5


def court(path: str) -> Said:
    """Every third number is a gap."""
    number = int(path.split("-")[1])
    return None if number % 3 == 0 else f"<h1>Case {number}</h1>"


@pytest.fixture
def web() -> Iterator[FakeWeb]:
    with FakeWeb(court) as web:
        yield web


def words(web: FakeWeb, ranges: str, *more: str) -> list[str]:
    return ["cases", ranges, "--url", web.url + "/{prefix}-{number}-{year}", *web.options, *more]


def targets(folder: Path, job: str = "IMM") -> list[dict[str, object]]:
    return [json.loads(line) for line in holdfast("targets", job, "--jsonl", cwd=folder).out.splitlines()]


def test_a_huge_range_is_one_plan_row(tmp_path: Path, web: FakeWeb) -> None:
    """CAS-09, TGT-08: nothing of it exists before it is planned, and its size is known."""
    done = holdfast(*words(web, "IMM-1-25..IMM-99999-25", "--start-paused"), cwd=tmp_path)
    assert done.code == 0, done.err
    with ledger_in(tmp_path) as ledger:
        job = ledger.job("IMM")
        assert (job.planned_total, ledger.plan(job.id)[:2]) == (99_999, (0, False))
        assert ledger.query("SELECT count(*) FROM plan") == [(1,)]
        assert ledger.query("SELECT count(*) FROM target") == [(0,)]
    shown = holdfast("status", "IMM", "--json=percent,planned_total", cwd=tmp_path).json()
    assert shown == {"percent": 0.0, "planned_total": 99_999}


def test_every_number_of_a_killed_range_is_accounted_for_once(tmp_path: Path, web: FakeWeb) -> None:
    """CAS-05, CAS-09, CAS-10: the audit is there after every kill, and never tells less than was committed."""
    command, draw = words(web, f"IMM-1-25..IMM-{CASES}-25"), Random(7)
    for _ in range(KILLS):
        wanted = len(web.asked) + draw.randint(1, CASES // (KILLS + 2))
        running = Running(*command, cwd=tmp_path)
        web.wait_for(wanted, gone=lambda: False)
        running.stop()
    assert holdfast("report", "IMM", "--audit", "audit", cwd=tmp_path).code == 0
    (audit,), (lines,) = (tmp_path / "audit").glob("audit_*.json"), (tmp_path / "audit").glob("attempts_*.ndjson")
    (told,) = json.loads(audit.read_text())["ranges"]
    counted = {name: told[f"{name}_count"] for name in ("success", "no_record", "failed", "skipped", "pending")}
    assert (sum(counted.values()), counted["failed"]) == (CASES, 0)
    ended = Counter(json.loads(line)["outcome"] for line in lines.read_text().splitlines())
    assert (ended["success"], ended["no_record"]) == (counted["success"], counted["no_record"])
    assert counted["pending"] > 0
    done = holdfast(*command, cwd=tmp_path)
    assert done.code == 0, done.err
    assert "Resuming IMM" in done.err
    assert holdfast("verify", "IMM", "--deep", cwd=tmp_path).code == 0
    rows = targets(tmp_path)
    assert Counter(str(row["key"]) for row in rows) == Counter(f"IMM-{n}-25" for n in range(1, CASES + 1))
    fates = Counter((row["status"], row["disposition"]) for row in rows)
    assert fates == {("succeeded", "record"): CASES - CASES // 3, ("succeeded", "no_record"): CASES // 3}
    exported = [json.loads(line) for line in holdfast("export", "IMM", "-o", "-", cwd=tmp_path).out.splitlines()]
    assert Counter(row["case"] for row in exported) == Counter(f"IMM-{n}-25" for n in range(1, CASES + 1) if n % 3)


def test_a_range_has_no_scope_to_update(tmp_path: Path, web: FakeWeb) -> None:
    """ux 3.2: the option is everybody's, and says where it has nothing to do."""
    done = holdfast(*words(web, "IMM-1-25..IMM-2-25", "--update"), cwd=tmp_path)
    assert (done.code, "Cases have no scope" in done.err) == (0, True)


def test_the_columns_of_a_plan_stand_below_each_other(tmp_path: Path) -> None:
    words = ("cases", "IMM-8-25..IMM-11-25", "--url", "https://c.example/{prefix}-{number}-{year}", "--dry-run")
    lines = holdfast(*words, cwd=tmp_path).out.splitlines()
    assert len(lines) == 4
    assert len({line.index("https://") for line in lines}) == 1


def test_gaps_are_named(tmp_path: Path, web: FakeWeb) -> None:
    holdfast(*words(web, "IMM-*-25", "--start", "4", "--max-cases", "4"), cwd=tmp_path)
    done = holdfast("targets", "IMM", "--where", "disposition:no_record", "--jsonl", cwd=tmp_path)
    [gap] = [json.loads(line) for line in done.out.splitlines()]
    assert (gap["key"], gap["status"]) == ("IMM-6-25", "succeeded")
    assert [row["key"] for row in targets(tmp_path)] == ["IMM-4-25", "IMM-5-25", "IMM-6-25", "IMM-7-25"]


def test_gaps_and_ranges_are_shown_where_people_look(tmp_path: Path, web: FakeWeb) -> None:
    done = holdfast(*words(web, "IMM-1-25..IMM-12-25", "-o", "imm.jsonl"), cwd=tmp_path)
    gaps = "  gaps: 4 numbers have no record        see: holdfast targets IMM --where 'disposition:no_record'"
    assert gaps in done.err.splitlines()
    assert "Wrote 8 records to imm.jsonl" in done.err
    cases = [json.loads(line)["case"] for line in (tmp_path / "imm.jsonl").read_text().splitlines()]
    assert cases == [f"IMM-{n}-25" for n in range(1, 13) if n % 3]
    status = holdfast("status", "IMM", cwd=tmp_path).out
    assert "  cases  IMM-1-25..IMM-12-25   R-1" in status
    assert gaps in status
    table = [line.split() for line in holdfast("targets", "IMM", cwd=tmp_path).out.splitlines()]
    assert table[0] == ["KEY", "STATUS", "WHY", "TRIES", "URL"]
    assert [row[0] for row in table[1:]] == [f"IMM-{n}-25" for n in range(1, 13)]


def test_what_is_beyond_the_end_of_an_open_range_is_no_gap(tmp_path: Path) -> None:
    def thirteen(path: str) -> Said:
        return court(path) if int(path.split("-")[1]) <= 13 else None

    with FakeWeb(thirteen) as web:
        done = holdfast(*words(web, "IMM-*-25", "--safe-stop", "5"), cwd=tmp_path)
    document = holdfast("report", "IMM", "--format", "json", cwd=tmp_path).json()
    [told] = document["ranges"]
    assert (told["highest"], told["no_record_count"]) == ("IMM-13-25", 4)
    gaps = f"gaps: 4 numbers have no record; {told['beyond']} more were asked beyond the end"
    assert gaps in done.err
    assert f"{told['beyond'] + 4} numbers have" not in done.err
    misses = [row["key"] for row in targets(tmp_path) if row["disposition"] == "no_record"]
    assert len(misses) == told["beyond"] + 4


def test_trouble_is_no_gap(tmp_path: Path) -> None:
    with FakeWeb(lambda path: 403) as web:
        done = holdfast(*words(web, "IMM-1-25..IMM-3-25"), cwd=tmp_path)
    assert done.code == 8
    assert {row["code"] for row in targets(tmp_path)} == {"http_403"}


def test_the_same_range_is_the_same_job_and_another_template_another(tmp_path: Path, web: FakeWeb) -> None:
    """CAS-10: identity is template and range."""
    holdfast(*words(web, "IMM-1-25..IMM-3-25"), cwd=tmp_path)
    assert "IMM is complete" in holdfast(*words(web, "imm-1-25..imm-3-25"), cwd=tmp_path).err
    assert "IMM is complete" in holdfast("cases", "IMM", cwd=tmp_path).err
    other = ["cases", "IMM-1-25..IMM-3-25", "--url", web.url + "/x-{number}", *web.options]
    assert "Starting" in holdfast(*other, cwd=tmp_path).err


def test_two_processes_share_a_range(tmp_path: Path, web: FakeWeb) -> None:
    done = holdfast(*words(web, "IMM-1-25..IMM-200-25", "--processes", "2"), cwd=tmp_path)
    assert done.code == 0, done.err
    assert len({row["key"] for row in targets(tmp_path)}) == 200
    assert sorted(web.asked) == sorted(set(web.asked))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["cases"], "needs a range"),
        (["cases", "IMM-1-25..IMM-9-26", "--url", "https://c.test/{number}"], "one prefix and year"),
        (["cases", "IMM-1-25..IMM-9-25"], "needs the URL of a case"),
        (["cases", "IMM-1-255", "--url", "https://c.test/{number}"], "a year of two digits"),
        (["cases", "IMM-1-25..IMM-100000-25", "--url", "https://c.test/{number}"], "from 0 to 99,999"),
        (["cases", "IMM-1-25..frogs", "--url", "https://c.test/{number}"], "not a case number"),
        (["cases", "IMM-9-25..IMM-1-25", "--url", "https://c.test/{number}"], "IMM-9-25"),
        (["cases", "IMM-1-5", "--url", "https://c.test/{number}"], "a year of two digits"),
        (["cases", "IMM-1-25", "--url", "https://c.test/cases"], "needs {number}"),
        (["cases", "IMM-1-25", "--url", "https://c.test/{nummer}"], "no placeholder {nummer}"),
        (["cases", "IMM-1-25..IMM-9-25", "--url", "federal-court"], "neither a configured source"),
        (["cases", "IMM-1-25", "--url", "http://127.0.0.1:9/{number}"], "127.0.0.1"),
    ],
)
def test_what_cannot_be_asked_for_makes_no_job(tmp_path: Path, typed: list[str], said: str) -> None:
    done = holdfast(*typed, cwd=tmp_path)
    assert done.code == 2
    assert said in done.err
    assert "No jobs" in holdfast("status", cwd=tmp_path).err

"""`holdfast selftest` itself: it holds on both ledgers, touches nobody else's, and breaks when a promise is broken."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace

from cli.schemas import validator
from holdfast.audit.witness import Seen
from holdfast.config import Settings
from holdfast.demo.command import ChildCommand
from holdfast.demo.sighting import Fallen, Sighting
from holdfast.demo.stretch import Stretch, prices, takeovers_s
from holdfast.errors import BadParams
from holdfast.model.job import Counts
from holdfast.testing import selftest
from holdfast.testing.judgement import SelftestJudgement, judge
from holdfast.testing.trial import Evidence, TrialPlan

PAGES = [f"http://tree.test/p/{n}" for n in range(4)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
@pytest.mark.parametrize("processes", [1, 2])
def test_twenty_kills_lose_and_double_nothing(
    engine: str, processes: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """C13: by the command itself; sixty pages from one kill to the next, as in the numbers of the README."""
    words = ["selftest", "--kill", "20", "--pages", "1200", "--processes", str(processes), "--seed", "13", "--json"]
    url = None if engine == "sqlite" else request.getfixturevalue("pg_url")
    with ChildCommand(words + (["--database", url] if url else []), said=tmp_path / "said") as command:
        assert command.wait(250) == 0, command.err + command.out
    said = json.loads(command.out)
    validator("selftest").validate(said)
    of_one = {"of_one_worker": 10} if processes == 2 else {}
    assert said["kills"] == {"planned": 20, "delivered": 20, "checked": 20} | of_one
    assert (said["lost"], said["doubled"], said["wrong_bytes"], said["poisoned"]) == (0, 0, 0, 0)
    assert (said["processes"], said["counts"]["succeeded"], said["verify_exit_code"]) == (processes, 1200, 0)
    assert said["loss_per_kill_below"] == 0.15
    assert said["scope"]["ledger"].startswith("PostgreSQL" if url else "SQLite")
    assert url is None or not schemas_left(url)


def schemas_left(pg_url: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(pg_url) as connection:
        return connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'holdfast_selftest%'").fetchall()


def test_the_command_prints_a_table_with_n_and_the_bound(tmp_path: Path) -> None:
    words = ["selftest", "--pages", "40", "--kill", "1", "--seed", "3"]
    with ChildCommand(words, said=tmp_path / "said") as command:
        assert command.wait(60) == 0, command.err + command.out
    assert "selftest: 40 pages, 1 kill, seed 3" in command.out
    assert "0 lost and 0 doubled in 1 kill (3/N: at 95 % below 100 % per kill)" in command.out
    assert "kill 1/1 after" in command.err
    assert "\x1b" not in command.out + command.err


def test_a_page_that_only_a_survivor_had_in_hand_is_not_excused_by_the_death_of_another() -> None:
    """One of two workers dies with the second page in hand; the third was the other's, and must not come again."""
    first, last = besieged()
    assert prices([first, last]) == ([frozenset({PAGES[1]}), frozenset()], [])
    strange = replace(last, asks=asks(30, *PAGES[1:]))
    assert prices([first, strange])[1] == [PAGES[2]]


def test_what_the_dead_one_had_sent_may_be_logged_after_the_kill() -> None:
    first, last = besieged()
    late = replace(first, asks=(*first.asks[:1], {"at_ns": 8, "key": PAGES[1]}))
    assert prices([late, last]) == ([frozenset({PAGES[1]}), frozenset()], [])


def test_a_takeover_is_timed_by_the_first_request_for_the_dead_ones_chunks() -> None:
    chunk_of = {PAGES[0]: 3, PAGES[1]: 3, PAGES[2]: 4, PAGES[3]: 3}
    first, last = besieged()
    assert takeovers_s([first, last], chunk_of) == [pytest.approx(25e-9)]  # killed at 5, asked for page 1 at 30
    assert takeovers_s([first, replace(last, asks=asks(30, PAGES[2]))], chunk_of) == []


def besieged() -> list[Stretch]:
    """Two workers; one is killed with the second page in hand, the other goes on with the third to the end."""
    fallen = Fallen(held=frozenset(PAGES[1:2]), chunks=frozenset({3}))
    first = Stretch(
        pid=1, began_ns=0, killed_ns=5, dead_ns=8, ended_ns=12, asks=asks(1, *PAGES[:3]), code=-9,
        left=left(PAGES[:1], PAGES[1:3]), fallen=fallen,
    )  # fmt: skip
    last = Stretch(pid=2, began_ns=5, ended_ns=40, asks=asks(30, PAGES[1], PAGES[3]), code=0, is_start=False)
    return [first, last]


def test_what_cannot_be_tested_is_refused() -> None:
    with pytest.raises(BadParams, match="9 processes cannot share 8 fetches at once"):
        selftest.run(100, 4, 1, processes=9)
    with pytest.raises(BadParams, match="10 kills need at least 400 pages"):
        selftest.run(399, 10, 1)


def test_kill_points_come_from_the_seed_and_fit_into_the_crawl() -> None:
    plan = TrialPlan(pages=3000, kills=50, seed=7, settings=Settings())
    points = plan.kill_points()
    assert points == plan.kill_points()
    assert points != replace(plan, seed=8).kill_points()
    assert len(points) == 50
    assert min(points) >= 1
    assert 2000 < sum(points) < 3000


def test_good_evidence_is_judged_good() -> None:
    assert broken(judged(evidence())) == []


def test_each_broken_promise_is_named() -> None:
    good, end = evidence(), left(PAGES)
    first, last = good.stretches
    claimed_once = tuple(replace(row, attempts=1) for row in end.seen)
    bad = {
        "kills delivered": replace(good, stretches=[last]),
        "pages lost": replace(good, end=left(PAGES[:3])),
        "results doubled": replace(good, exported=[*good.exported, good.exported[0]]),
        "wrong bytes": replace(good, exported=[(PAGES[0], "other"), *good.exported[1:]]),
        "pages poisoned": replace(good, end=dataclasses.replace(end, poisoned=1)),
        "… without cause": replace(good, stretches=[first, replace(last, asks=asks(9, PAGES[0], *PAGES[1:]))]),
        "fetched unclaimed": replace(good, end=dataclasses.replace(end, seen=claimed_once)),
        "last exit code": replace(good, stretches=[first, replace(last, code=1)]),
        "holdfast verify": replace(good, verify_code=9),
        "restart to first fetch": replace(good, stretches=[first, replace(last, began_ns=-30_000_000_000)]),
    }
    for promise, case in bad.items():
        assert promise in broken(judged(case)), promise


def test_a_page_fetched_once_done_and_an_early_end_are_named() -> None:
    good = evidence()
    first, last = good.stretches
    again = replace(good, stretches=[first, replace(last, asks=asks(9, PAGES[0], *PAGES[1:]))])
    assert "fetched once done" in broken(judged(again))
    early = replace(good, end=left(PAGES[:3]), exported=good.exported[:3])
    assert "finished too early" in broken(judged(early))


def test_seventeen_pages_fetched_again_are_too_many() -> None:
    many = [f"http://tree.test/p/{n}" for n in range(17)]
    first, last = evidence().stretches
    dead = replace(first, asks=asks(1, *many), left=left([], many))
    case = replace(evidence(), stretches=[dead, replace(last, asks=asks(9, *many))])
    assert "fetched again" in broken(judged(case))


def judged(case: Evidence) -> SelftestJudgement:
    return judge(TrialPlan(pages=4, kills=1, seed=1, settings=Settings()), case)


def broken(judgement: SelftestJudgement) -> list[str]:
    return [line.promise for line in judgement.lines if not line.holds]


def evidence() -> Evidence:
    """Four pages; the first was done and the second in hand when the crawl was killed, then all came."""
    killed = Stretch(
        pid=1, began_ns=0, ended_ns=5, asks=asks(1, PAGES[0], PAGES[1]), code=-9, left=left(PAGES[:1], PAGES[1:2])
    )
    resumed = Stretch(pid=2, began_ns=6, ended_ns=20, asks=asks(9, *PAGES[1:]), code=0)
    return Evidence(
        stretches=[killed, resumed],
        oracle=dict.fromkeys(PAGES, "sha"),
        end=left(PAGES),
        exported=[(url, "sha") for url in PAGES],
        verify_code=0,
        words="",
        seconds=1.0,
    )


def asks(at_ns: int, *urls: str) -> tuple[dict[str, Any], ...]:
    return tuple({"at_ns": at_ns + n, "key": url} for n, url in enumerate(urls))


def left(done: list[str], held: list[str] | None = None) -> Sighting:
    """A ledger with these pages succeeded and those in hand; every page was claimed twice, to be generous."""
    rows = [Seen(url, "succeeded", "sha", 2) for url in done]
    rows += [Seen(url, "in_progress", None, 2) for url in held or ()]
    counts = Counts(discovered=len(rows), succeeded=len(done), in_progress=len(held or ()))
    job: Any = SimpleNamespace(status="in_progress" if held else "completed")  # as far as judging looks at a job
    return Sighting(job=job, counts=counts, seen=tuple(rows), poisoned=0)

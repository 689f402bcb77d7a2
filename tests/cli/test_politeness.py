"""Politeness judged by the site's own log: never more at once than its limit, never sooner than its delay less jitter.

Across kill -9, with two processes, and after a Retry-After that outlives a restart (E16, ERR-05).
"""

from __future__ import annotations

import json
import signal
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from cli.commands import Running, crawl_words, environment, fork_server, holdfast, ledger_in
from cli.polite_origin import Answer, Origin, linking
from cli.schemas import validator
from holdfast.clock import SystemClock
from holdfast.demo.serving import WorldServer
from waiting import wait_until

DELAY_S = 2.5
JITTER = 0.2
RETRY_AFTER_S = 10
# A delay is kept from one start to the next; how long a request is under way to the site, on a computer with other
# tests to run, is nobody's promise.
UNDER_WAY_S = 0.25


def arrivals(world: WorldServer) -> list[float]:
    """When each request came, robots.txt among them: seconds."""
    return [ask["at_ns"] / 1e9 for ask in world.asks()]


def most_at_once(world: WorldServer) -> int:
    sent = [line for line in world.log() if line["kind"] == "sent"]
    return max(sum(one["at_ns"] <= other["at_ns"] < one["done_ns"] for one in sent) for other in sent)


def too_soon(times: list[float], delay_s: float) -> list[float]:
    return [
        later - earlier for earlier, later in pairwise(times) if later - earlier < delay_s * (1 - JITTER) - UNDER_WAY_S
    ]


@pytest.fixture
def world(tmp_path: Path) -> WorldServer:
    """Pages that take a while, so that there could be several at once."""
    return WorldServer("tree", pages=400, delay_ms=120, log_path=tmp_path / "requests.jsonl")


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_crawl_that_is_killed_again_and_again_is_as_polite_as_one_that_is_not(
    world: WorldServer, tmp_path: Path, processes: str
) -> None:
    """E16: the next free moment of a host is a row, so nobody who comes after a kill asks sooner.

    Each is killed at its first page, and the next is there long before the delay is over: a start takes part of it.
    """
    with world:
        words = crawl_words(world, "--per-host", "2", "--processes", processes)
        words[words.index("--delay") + 1] = f"{DELAY_S}s"
        for requests in (2, 3, 4):  # robots.txt and a page, then a page for each who comes after a kill
            child = fork_server().start(words, said=tmp_path / "said", environ=environment(), cwd=tmp_path)
            wait_until(lambda requests=requests: len(arrivals(world)) >= requests, 60, f"{requests} requests")
            if requests < 4:
                assert child.kill()
        child.send(signal.SIGINT)
        assert child.wait(60) == 11
        assert too_soon(arrivals(world), DELAY_S) == []
        assert most_at_once(world) <= 2


@pytest.mark.parametrize("processes", ["1", "2"])
def test_never_more_requests_at_once_than_the_host_may_have(world: WorldServer, tmp_path: Path, processes: str) -> None:
    with world:
        words = crawl_words(world, "--per-host", "3", "--processes", processes)
        running = Running(*words, cwd=tmp_path)
        wait_until(lambda: len(arrivals(world)) >= 40, 60, "forty requests")
        running.send(signal.SIGKILL)
        running.end()
        assert holdfast(*words, "--max-pages", "100", cwd=tmp_path).code in (0, 13)
        assert most_at_once(world) == 3, "as many as it may have, and no more"


def test_a_retry_after_outlives_a_kill(tmp_path: Path) -> None:
    """E16, ERR-05: whoever comes back waits for the rest of it, and asks for nothing else of that host meanwhile."""
    asked: Counter[str] = Counter()

    def answer(path: str) -> Answer:
        asked[path] += 1
        if path == "/robots.txt":
            return Answer(404)
        if path == "/p/3" and asked[path] == 1:
            return Answer(429, headers={"retry-after": str(RETRY_AFTER_S)})
        return linking(*(f"/p/{n}" for n in range(6)))

    with Origin(answer) as origin:
        words = [
            "crawl",
            origin.url,
            "--allow",
            origin.address,
            "--delay",
            "20ms",
            "--per-host",
            "1",
            "--name",
            "frogs",
        ]
        running = Running(*words, cwd=tmp_path)
        wait_until(lambda: _backs_off(tmp_path), 30, "the host backs off")
        running.send(signal.SIGKILL)
        running.end()
        [look] = json.loads(holdfast("limits", origin.address, "--json", cwd=tmp_path).out)["hosts"]
        assert look["backs_off_until"] is not None
        assert holdfast(*words, cwd=tmp_path).code == 0
        visits = origin.visits
        refused = next(n for n, visit in enumerate(visits) if visit.path == "/p/3")
        assert visits[refused + 1].began - visits[refused].began > RETRY_AFTER_S - 0.1
        assert asked == Counter({"/": 1, "/robots.txt": 1, "/p/3": 2} | {f"/p/{n}": 1 for n in (0, 1, 2, 4, 5)})


def _backs_off(folder: Path) -> bool:
    if not (folder / "holdfast-data" / "ledger.db").exists():
        return False
    with ledger_in(folder) as ledger:
        return any(look.hold_until > SystemClock().wall_ms() + 1_000 for look in ledger.hosts())


def test_limits_that_are_set_while_a_job_runs_hold_from_the_next_request_on(world: WorldServer, tmp_path: Path) -> None:
    with world:
        running = Running(*crawl_words(world, "--per-host", "4"), cwd=tmp_path)
        try:
            wait_until(lambda: len(arrivals(world)) >= 20, 60, "twenty requests")
            done = holdfast("limits", "set", world.address, "--delay", "1s", "--concurrency", "1", cwd=tmp_path)
            assert (done.code, done.out) == (0, "")
            assert f"{world.address}: at least 1s between requests, at most 1 at once" in done.err
            in_hand = 4  # claimed before, and still to be sent
            seen = len(arrivals(world)) + in_hand
            wait_until(lambda: len(arrivals(world)) >= seen + 4, 60, "four more requests")
        finally:
            running.stop()
        assert too_soon(arrivals(world)[seen:], 1.0 / (1 - JITTER)) == []


def test_a_host_that_fails_five_times_in_a_row_is_left_alone(tmp_path: Path) -> None:
    """ERR-05: and it is seen where people look."""
    pages = [f"/p/{n}" for n in range(9)]

    def answer(path: str) -> Answer:
        if path in ("/", "/robots.txt"):
            return linking(*pages)
        return Answer(503, headers={"retry-after": "0"})

    with Origin(answer) as origin:
        words = ["crawl", origin.url, "--allow", origin.address, "--delay", "0", "--per-host", "1", "--name", "frogs"]
        running = Running(*words, "--max-attempts", "9", "--concurrency", "1", cwd=tmp_path)
        try:
            wait_until(lambda: _is_open(tmp_path), 60, "the breaker opens")
            asked = len(origin.paths())
            document = holdfast("limits", "--json", cwd=tmp_path).json()
            validator("hosts").validate(document)
            assert asked - 2 == 5, origin.paths()
            assert "open" in holdfast("limits", cwd=tmp_path).out
            assert len(origin.paths()) == asked
        finally:
            running.stop()


def _is_open(folder: Path) -> bool:
    if not (folder / "holdfast-data" / "ledger.db").exists():
        return False
    with ledger_in(folder) as ledger:
        return any(look.trips for look in ledger.hosts())

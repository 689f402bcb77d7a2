"""The court's form worked in Chromium, while its page misbehaves in every way it knows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import holdfast as hf
from cases.court import configured, court_job, equals_the_oracle
from chromiums import killed_in_turn
from holdfast.demo.asks import Asks
from holdfast.demo.command import ChildCommand
from holdfast.demo.serving import WorldServer

FORM = {"client": "form", "settle": "400ms"}
PATIENT = {"client": "form", "settle": "2500ms"}  # the world's rows come up to 2 s late, so this proves what it says
KILLS = int(os.environ.get("HOLDFAST_WORLD_KILLS", "2"))  # 20 in `make worlds-long`
DIALS = ("rough",) if KILLS <= 2 else ("calm", "rough", "storm")
BACKENDS = ("sqlite",) if KILLS <= 2 else ("sqlite", "postgres")
FIRST, LAST = 52, 52 + 4 * KILLS
ASKS_PER_CASE = 4


@pytest.fixture(autouse=True)
def no_setting_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program knows no such setting, and would say so."""
    monkeypatch.delenv("HOLDFAST_WORLD_KILLS", raising=False)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[WorldServer]:
    (tmp_path / "requests.jsonl").touch()
    with WorldServer("court", log_path=tmp_path / "requests.jsonl", seed=7) as world:
        yield world


def test_lines_08_and_10_empty_inputs_stale_rows_and_half_modals_are_seen_through(
    tmp_path: Path, world: WorldServer
) -> None:
    """CAS-07: the first query of a page is sent with an empty input; IMM-54-49 and IMM-60-49 are gaps."""
    world.set_faults(
        empty_first=1.0, late_row=0.3, redrawn_row=0.3, overlay_stays=0.2, half_header=0.2, neighbour_modal=0.2
    )
    job = court_job(world, tmp_path, "IMM-52-49..IMM-60-49", source=FORM, concurrency=3, per_host=3)
    job.run()
    equals_the_oracle(job, world, range(52, 61))
    assert [line for line in world.asks() if line["key"].endswith("number=")]


def test_a_block_page_in_the_browser_pauses_the_job(tmp_path: Path, world: WorldServer) -> None:
    from http.client import HTTPConnection

    world.set_faults(pace_ms=1_000)
    connection = HTTPConnection(world.address)
    for _ in range(40):
        connection.request("GET", "/")
        connection.getresponse().read()
    connection.close()
    job = court_job(world, tmp_path, "IMM-1-49..IMM-2-49", source=FORM)
    job.run()
    with job._ledger() as ledger:
        now = ledger.job(job.name)
    assert (now.status, now.paused_by) == ("paused", "blocked")
    assert (job.counts.failed, job.counts.succeeded) == (0, 0)


@pytest.mark.timeout(240 if KILLS <= 2 else 7200)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dial", DIALS)
def test_the_form_survives_kills_of_its_browser_and_of_the_crawler(
    tmp_path: Path, world: WorldServer, request: pytest.FixtureRequest, dial: str, backend: str
) -> None:
    """The standard proof, in Chromium: the oracle's records and gaps, and no attempt lost with a browser."""
    world.set_faults(dial=dial)
    file = configured(world, tmp_path, **(FORM if KILLS <= 2 else PATIENT))
    database = {"database": request.getfixturevalue("pg_schema_url")} if backend == "postgres" else {}
    where = ["--config", str(file), "--data", str(tmp_path / "data")]
    where += [word for name, url in database.items() for word in (f"--{name}", url)]
    pace = ["--delay", "0", "--per-host", "4", "--concurrency", "4", "--max-attempts", "12"]
    words = ["cases", f"IMM-{FIRST}-49..IMM-{LAST}-49", "--url", "court", *pace, *where]
    between = ASKS_PER_CASE * (LAST - FIRST) // (KILLS + 1)
    with Asks(tmp_path / "requests.jsonl") as asks:
        crawlers, browsers = killed_in_turn(words, tmp_path, asks, Random(dial), kills=KILLS, between=between)
    assert crawlers
    assert browsers
    with ChildCommand(words, said=tmp_path / "last") as command:
        assert command.wait(120 if KILLS <= 2 else 1800) == 0, command.err
    job = hf.Client(data=tmp_path / "data", config_file=file, **database).job("IMM")
    equals_the_oracle(job, world, range(FIRST, LAST + 1))
    with ChildCommand(["verify", "IMM", *where], said=tmp_path / "verify") as verify:
        assert verify.wait(60) == 0, verify.err

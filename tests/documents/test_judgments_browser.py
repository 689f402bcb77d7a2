"""The judgments world worked in Chromium: equal to the oracle, while its browser and the crawler are killed in turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from chromiums import killed_in_turn
from documents.collecting import CELLS, FAST, KILLS, TEST_S_MAX, Collector, wanted
from holdfast.demo.asks import Asks
from holdfast.demo.serving import WorldServer

LIST = "/judgments/unreported-judgments/"
IN_FLIGHT = 8
ASKS_BETWEEN = 250 // (KILLS + 1)
FAULTS = {"calm": {"consent": 1, "nonce_every": 40}, "rough": {"dial": "rough"}, "storm": {"dial": "storm"}}


@pytest.fixture(autouse=True)
def no_setting_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOLDFAST_WORLD_KILLS", raising=False)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[WorldServer]:
    (tmp_path / "requests.jsonl").touch()
    with WorldServer("judgments", log_path=tmp_path / "requests.jsonl", seed=11) as world:
        yield world


@pytest.mark.timeout(TEST_S_MAX)
@pytest.mark.parametrize(("dial", "backend"), CELLS if KILLS > 2 else [("rough", "sqlite")])
def test_in_chromium_the_collection_survives_kills_of_both(
    tmp_path: Path, world: WorldServer, request: pytest.FixtureRequest, dial: str, backend: str
) -> None:
    """DOC-16, DOC-17, DOC-18: every second kill is of Chromium, which the crawler itself starts again. Calm, the site
    gives addresses only where its cookie banner was accepted, and renews its nonce: plain HTTP would get nothing."""
    world.order("faults", **FAULTS[dial])
    database = request.getfixturevalue("pg_schema_url") if backend == "postgres" else ""
    collector = Collector(tmp_path / "work", world, database)
    dice = Random(f"{dial} {KILLS}")
    with Asks(tmp_path / "requests.jsonl") as asks:
        words = ["docs", "unreported_judgments", *FAST, "--browser", *collector.where()]
        crawlers, browsers = killed_in_turn(words, tmp_path, asks, dice, kills=KILLS, between=ASKS_BETWEEN)
    assert crawlers
    assert browsers
    collector.to_the_end("--browser")
    assert collector.held() == wanted(world)
    asked = Counter(ask["key"].partition("?")[0].removeprefix(world.url) for ask in world.asks())
    files = Counter(ask["key"] for ask in world.asks() if "/d/1/" in ask["key"])
    if dial == "calm":
        assert max(files.values()) <= 1 + crawlers
        assert sum(files.values()) <= 108 + crawlers * IN_FLIGHT
        assert asked[LIST] <= 12 * (1 + crawlers + browsers)  # and not one per case
    assert "every check holds" in collector.run("verify", "judgments", "--deep").stdout

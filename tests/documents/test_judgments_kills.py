"""The standard proof of the judgments world: random kills, calm and rough, on both databases, equal to the oracle."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from zipfile import ZipFile

import pytest

from documents.collecting import CELLS, KILLS, TEST_S_MAX, Collector, wanted
from holdfast.demo.serving import WorldServer
from holdfast.model.target import TargetRow
from servers import fresh_schema
from settled import Settled

FILE = re.compile(r"/d/1/([^/?#]+)")


@pytest.fixture(autouse=True)
def no_setting_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program knows no such setting, and would say so."""
    monkeypatch.delenv("HOLDFAST_WORLD_KILLS", raising=False)


@pytest.mark.timeout(TEST_S_MAX)
@pytest.mark.parametrize(("dial", "backend"), CELLS)
def test_the_collection_survives_random_kills_and_is_the_oracles(
    tmp_path: Path, request: pytest.FixtureRequest, dial: str, backend: str
) -> None:
    """DOC-14, PAU-12: every document once, from whichever moment it was killed at; and v2 takes the 7 new ones."""
    with WorldServer("judgments", log_path=tmp_path / "requests.jsonl", seed=11, delay_ms=20) as world:
        if dial != "calm":
            world.order("faults", dial=dial)
        if backend == "sqlite":
            _proved(Collector(tmp_path / "work", world), dial)
        else:
            with fresh_schema(request.getfixturevalue("pg_url")) as database:
                _proved(Collector(tmp_path / "work", world, database), dial)


def _proved(collector: Collector, dial: str) -> None:
    world = collector.world
    assert world is not None
    dice = random.Random(f"{dial} {KILLS}")
    settled = Settled(world, collector.settings, "judgments", _token, _token_of)
    killed = 0
    for _ in range(KILLS):
        killed += collector.killed(dice, within_s=3.0) < 0
        settled.note()
    if "judgments" in collector.run("jobs", expect=(0, 5)).stdout:  # it may have been killed before it was a job
        _audited(collector)
    collector.to_the_end()
    assert collector.held() == wanted(world)
    asked = Counter(ask["key"] for ask in world.asks() if "/d/1/" in ask["key"])
    assert settled.asked_again() == set()
    if dial == "calm":
        assert sum(asked.values()) <= 108 + killed * settled.in_hand_most()
        assert max(asked.values()) <= 1 + killed
    world.order("advance", version="v2")
    collector.killed(dice, "--mode", "new", within_s=2.0)
    collector.to_the_end("--mode", "new")
    assert collector.held().items() >= wanted(world).items()
    assert "every check holds" in collector.run("verify", "judgments", "--deep").stdout


def _token(url: str) -> str:
    found = FILE.search(url)
    return found[1] if found else ""


def _token_of(row: TargetRow) -> str:
    return row.name or "" if row.type == "document" else ""


def _audited(collector: Collector) -> None:
    """The audit is there after a kill, too, and speaks of the files that are beside it."""
    collector.run("export", "judgments", "-o", "part.zip")
    with ZipFile(collector.folder / "part.zip") as archive:
        told = json.loads(archive.read("audit.json"))["counts"]
        assert told["discovered"] == sum(told.values()) - told["discovered"]
        assert sum(name.endswith(".pdf") for name in archive.namelist()) == told["succeeded"]

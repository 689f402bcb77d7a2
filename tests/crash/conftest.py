"""One world per test process, one calm crawl of it to compare with, and a fresh scene per test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crash.scene import DELAY_MS, PAGES, Calm, Scene
from holdfast.demo.asks import Asks
from holdfast.demo.serving import WorldServer


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldServer]:
    log = tmp_path_factory.mktemp("world") / "requests.jsonl"
    with WorldServer("tree", log_path=log, pages=PAGES, delay_ms=DELAY_MS) as running:
        yield running


@pytest.fixture(scope="session")
def asks(world: WorldServer) -> Iterator[Asks]:
    with Asks(world.log_path) as reader:
        yield reader


@pytest.fixture(scope="session")
def calm(world: WorldServer, asks: Asks, tmp_path_factory: pytest.TempPathFactory) -> Calm:
    scene = Scene(world, tmp_path_factory.mktemp("calm"), asks)
    crawl = scene.crawled()
    assert crawl.code == 0, crawl.err
    end = scene.look()
    assert {row.url: row.sha256 for row in end.seen} == {row["url"]: row["sha256"] for row in world.oracle()["pages"]}
    assert len(scene.asks()) == PAGES
    return Calm(end, scene.exported())


@pytest.fixture
def scene(world: WorldServer, asks: Asks, tmp_path: Path) -> Iterator[Scene]:
    made = Scene(world, tmp_path, asks)
    yield made
    made.close()
    world.set_faults()

"""A world to crawl, and a client of a folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast as hf
from holdfast.demo.serving import WorldServer


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorldServer]:
    log_path = tmp_path_factory.mktemp("tree") / "requests.jsonl"
    with WorldServer("tree", pages=40, delay_ms=0, log_path=log_path) as world:
        yield world


@pytest.fixture
def slow_tree(tmp_path: Path) -> Iterator[WorldServer]:
    with WorldServer("tree", pages=2000, delay_ms=20, log_path=tmp_path / "requests.jsonl") as world:
        yield world


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hf.Client:
    monkeypatch.setenv("HOLDFAST_MIN_FREE_MB", "0")
    return hf.Client(data=tmp_path / "data")

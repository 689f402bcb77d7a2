"""Every conformance case runs on each of the three ledgers, and ends with a check of the books."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.bench import Bench, memory_bench, postgres_bench, sqlite_bench
from holdfast import faults
from holdfast.clock import ManualClock


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    made = make_bench(request, tmp_path)
    yield made
    faults.arm("")
    made.check()
    made.close()


def make_bench(request: pytest.FixtureRequest, folder: Path) -> Bench:
    match request.param:
        case "memory":
            return memory_bench(ManualClock())
        case "sqlite":
            return sqlite_bench(folder / "ledger.db", ManualClock())
        case _:
            return postgres_bench(request.getfixturevalue("pg_schema_url"), ManualClock())

"""A cancel that was killed between two of its slices: `status` tells it, and whoever next starts the job ends it."""

from __future__ import annotations

import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cli.commands import holdfast
from cli.worked import planned
from holdfast import job, wiring
from holdfast.cli import exits
from holdfast.config import Settings
from holdfast.engine.recovery import CANCEL_SLICE

PAGES = CANCEL_SLICE + 20
PLACES = ["cancel_rest.before_commit:1", "cancel_rest.after_commit:1"]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    return "sqlite" if request.param == "sqlite" else str(request.getfixturevalue("pg_schema_url"))


def cut_short(folder: Path, place: str, database: str = "sqlite") -> None:
    """A job of so many pages that nobody works, half cancelled."""
    with closing(wiring.open_ledger(Settings(data=folder / "holdfast-data", database_url=database))) as ledger:
        planned(ledger, "frogs", [f"/frog/{n}" for n in range(PAGES)]).release()
    killed = holdfast("cancel", "frogs", cwd=folder, HOLDFAST_DATABASE_URL=database, HOLDFAST_FAULT=f"{place}:kill")
    assert killed.code == -signal.SIGKILL


def books(folder: Path, database: str = "sqlite") -> dict[str, Any]:
    document = holdfast("status", "frogs", "--json", cwd=folder, HOLDFAST_DATABASE_URL=database).json()
    assert document["status"] == "cancelled"
    counts: dict[str, Any] = document["counts"]
    return counts


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("verb", ["crawl", "resume"])
def test_who_starts_a_half_cancelled_job_again_ends_its_cancel_first(
    verb: str, place: str, database: str, tmp_path: Path
) -> None:
    cut_short(tmp_path, place, database)
    assert books(tmp_path, database)["pending"] > 0
    done = holdfast(verb, "frogs", cwd=tmp_path, HOLDFAST_DATABASE_URL=database)
    assert (done.code, "frogs was cancelled for good" in done.err) == (exits.REFUSED, True)
    counts = books(tmp_path, database)
    assert (counts["pending"], counts["cancelled"], counts["discovered"]) == (0, PAGES, PAGES)
    assert holdfast("verify", "frogs", cwd=tmp_path, HOLDFAST_DATABASE_URL=database).code == 0


def test_a_program_that_runs_a_half_cancelled_job_ends_its_cancel_too(tmp_path: Path) -> None:
    cut_short(tmp_path, PLACES[1])
    job("frogs", data=tmp_path / "holdfast-data").run()
    assert books(tmp_path)["pending"] == 0


def test_status_says_what_is_left_of_a_cancel_and_what_ends_it(tmp_path: Path) -> None:
    cut_short(tmp_path, PLACES[1])
    note = "not carried out yet: 20 still pending. To end it: holdfast cancel frogs"
    assert note in holdfast("status", "frogs", cwd=tmp_path).out
    assert holdfast("cancel", "frogs", cwd=tmp_path).code == 0
    assert "not carried out" not in holdfast("status", "frogs", cwd=tmp_path).out
    assert books(tmp_path)["cancelled"] == PAGES


def test_doctor_ends_a_cancel_and_says_so_once(tmp_path: Path) -> None:
    cut_short(tmp_path, PLACES[1])
    done = holdfast("doctor", "--repair", cwd=tmp_path)
    assert done.err.count("frogs") == 1
    assert "Finished cancelling frogs: 20 pending became cancelled." in done.err

"""The standard proof on the court world: kill -9 at random, go on until done, compare with the oracle (worlds 0)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

import holdfast as hf
from cases.court import asked, case_of, configured, equals_the_oracle
from holdfast.config import Settings
from holdfast.demo.asks import Asks
from holdfast.demo.command import ChildCommand
from holdfast.demo.serving import WorldServer
from settled import Settled

KILLS = int(os.environ.get("HOLDFAST_WORLD_KILLS", "2"))  # 20 in the long form
LAST = 40 * max(1, KILLS // 2)


@pytest.fixture(autouse=True)
def no_setting_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program knows no such setting, and would say so."""
    monkeypatch.delenv("HOLDFAST_WORLD_KILLS", raising=False)


@contextmanager
def court(folder: Path, dial: str) -> Iterator[tuple[WorldServer, Asks]]:
    log = folder / "requests.jsonl"
    log.touch()
    with WorldServer("court", log_path=log, seed=7) as world, Asks(log) as asks:
        world.set_faults(dial=dial)
        yield world, asks


def killed(words: list[str], folder: Path, asks: Asks, settled: Settled, *, kills: int, dice: Random) -> int:
    """How often it was killed before it came to its end; then it has."""
    done = 0
    for n in range(kills + 1):
        enough = asks.look() + dice.randint(3, 3 * LAST // (kills + 2))
        with ChildCommand(words, said=folder / f"said-{n}") as command:
            if n < kills:
                command.wait_for(lambda enough=enough: asks.look() >= enough, seconds=100 if kills <= 2 else 900)  # type: ignore[misc]
                done += command.code is None and command.kill()
            if n == kills or command.code in (0, 3):
                assert command.wait(200 if kills <= 2 else 1800) == 0, command.err
                break
        settled.note()
    return done


@pytest.mark.timeout(240 if KILLS <= 2 else 7200)
@pytest.mark.parametrize("dial", ["calm", "rough"] if KILLS <= 2 else ["calm", "rough", "storm"])
@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_the_court_survives_random_kills(
    backend: str, dial: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Same keys, same records, requests bounded, books balance, the audit is there."""
    database = request.getfixturevalue("pg_schema_url") if backend == "postgres" else ""
    with court(tmp_path, dial) as (world, asks):
        file = configured(world, tmp_path)
        where = ["--config", str(file), "--data", str(tmp_path / "data")]
        where += ["--database", database] if database else []
        pace = ["--delay", "0", "--per-host", "8", "--max-attempts", "12"]
        words = ["cases", f"IMM-1-49..IMM-{LAST}-49", "--url", "court", *pace, *where]
        settings = Settings(data=tmp_path / "data", database_url=database or "sqlite")
        settled = Settled(world, settings, "IMM", case_of, lambda row: row.name or "")
        done = killed(words, tmp_path, asks, settled, kills=KILLS, dice=Random(len(backend + dial)))
        assert done
        client = hf.Client(data=tmp_path / "data", config_file=file, **({"database": database} if database else {}))
        job = client.job("IMM")
        equals_the_oracle(job, world, range(1, LAST + 1))
        per_case = asked(world)
        assert settled.asked_again() == set()
        if dial == "calm":
            assert sum(per_case.values()) <= 2 * (LAST + done * settled.in_hand_most())  # a search, and its details
        assert max(per_case.values()) <= {"calm": 3, "rough": 12, "storm": 40}[dial] * (1 + done)
        with ChildCommand(["verify", "IMM", *where], said=tmp_path / "verify") as verify:
            assert verify.wait(60) == 0, verify.err
        with ChildCommand(["report", "IMM", "--audit", str(tmp_path / "audit"), *where], said=tmp_path / "r") as report:
            assert report.wait(60) == 0, report.err
        (audit,) = (tmp_path / "audit").glob("audit_*.json")
        (told,) = json.loads(audit.read_text())["ranges"]
        counts = [told[f"{name}_count"] for name in ("success", "no_record", "failed", "skipped", "pending")]
        assert (sum(counts), counts[2:]) == (LAST, [0, 0, 0])


def test_line_16_the_end_found_so_far_is_not_searched_again_after_kills(tmp_path: Path) -> None:
    """CAS-08: every number of an open range is settled once, however often the search for its end is killed."""
    with court(tmp_path, "calm") as (world, asks):
        file = configured(world, tmp_path)
        where = ["--config", str(file), "--data", str(tmp_path / "data")]
        pace = ["--delay", "0", "--per-host", "8", "--safe-stop", "10"]
        words = ["cases", "IMM-*-49", "--start", "2430", "--url", "court", *pace, *where]
        settled = Settled(world, Settings(data=tmp_path / "data"), "IMM", case_of, lambda row: row.name or "")
        done = killed(words, tmp_path, asks, settled, kills=2, dice=Random(3))
        job = hf.Client(data=tmp_path / "data", config_file=file).job("IMM")
        equals_the_oracle(job, world, range(2430, 2491))
        twice = [name for name, n in asked(world).items() if n > 2]
        assert settled.asked_again() == set()
        assert len(twice) <= done * settled.in_hand_most()

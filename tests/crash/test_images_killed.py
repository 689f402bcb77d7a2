"""An images job that is killed at random keeps what a perfect run keeps, asks no engine twice, fetches nothing twice.

Defect lines 1, 3, 7, 8, 10 and 15 of the engines world. HOLDFAST_IMAGE_KILLS=20 plays more kills.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from cli.commands import PROGRAM, environment
from cli.image_jobs import QUICK, asked, configure, kept, page_of, perfect, run
from holdfast.config import Settings
from holdfast.demo.serving import WorldServer
from settled import Settled
from waiting import wait_until

KILLS = int(os.environ.get("HOLDFAST_IMAGE_KILLS", "2"))
WANTED = 10


@pytest.fixture
def world(tmp_path: Path) -> Iterator[WorldServer]:
    with WorldServer("engines", log_path=tmp_path / "requests.jsonl", pages=60) as server:
        yield server


@pytest.mark.timeout(120 + 30 * KILLS)
@pytest.mark.parametrize("dial", ["calm", "rough"])
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_the_set_is_the_same_after_kills(
    world: WorldServer, tmp_path: Path, request: pytest.FixtureRequest, database: str, dial: str
) -> None:
    world.set_faults(dial=dial, retry_after_s=0, slow_ms=100)
    configure(tmp_path, world)
    store = {} if database == "sqlite" else {"HOLDFAST_DATABASE_URL": request.getfixturevalue("pg_schema_url")}
    words = ("images", "cat", "kelp", "--per-keyword", str(WANTED), "--name", "set", "--max-attempts", "5", *QUICK)
    settings = Settings(data=tmp_path / "holdfast-data", database_url=store.get("HOLDFAST_DATABASE_URL", "sqlite"))
    settled = Settled(world, settings, "set", page_of, lambda row: page_of(row.url))
    random = Random(f"{database} {dial} {KILLS}")
    for _ in range(KILLS):
        seen = len(world.asks())
        more = random.randint(1, 40)
        with subprocess.Popen(
            [*PROGRAM, *words], cwd=tmp_path, env=environment(**store), stderr=subprocess.PIPE
        ) as one:
            wait_until(
                lambda one=one, goal=seen + more: one.poll() is not None or len(world.asks()) >= goal, seconds=60
            )
            one.send_signal(signal.SIGKILL)
            one.communicate()
        settled.note()
    done = run(tmp_path, *words, **store)
    assert done.code in (0, 3), done.err

    found = kept(tmp_path, "set", **store)
    assert found == {keyword: perfect(world, keyword, WANTED) for keyword in ("cat", "kelp")}
    checked = run(tmp_path, "verify", "set", "--deep", **store)
    assert checked.code == 0, checked.out + checked.err
    counts = run(tmp_path, "status", "set", "--json", **store).json()["counts"]
    assert counts["discovered"] == counts["succeeded"] + counts["failed"] + counts["skipped"]
    listed = run(tmp_path, "targets", "set", "--jsonl", **store).out.splitlines()
    tries = {row["url"]: row["attempts"] for row in map(json.loads, listed)}
    assert settled.asked_again() == set()
    if dial == "calm":
        searches, images = asked(world)
        in_flight = KILLS * settled.in_hand_most()  # a page in hand at a kill may be asked for once more
        assert sum(times - 1 for times in searches.values()) <= in_flight
        assert sum(times - 1 for url, times in images.items() if tries.get(url, 1) <= 1) <= in_flight

"""The database goes away while a crawl runs. Suite T9-pg plays many ways of it; here is what people see (D14)."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from crash.scene import PAGES, Calm, Scene
from holdfast.cli import exits
from holdfast.demo.asks import Asks
from holdfast.demo.command import ChildCommand
from holdfast.demo.serving import WorldServer
from holdfast.testing.postgres import Postgres, temporary_postgres
from servers import fresh_schema

WAITING = "Waiting for the ledger"


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """Not the one that other tests of this process use: this one dies."""
    with temporary_postgres() as running:
        yield running


@pytest.fixture
def scene(world: WorldServer, asks: Asks, tmp_path: Path, server: Postgres) -> Iterator[Scene]:
    with fresh_schema(server.url) as database:
        made = Scene(world, tmp_path, asks, database)
        yield made
        made.close()
        world.set_faults()


def without_database(scene: Scene, server: Postgres, command: ChildCommand) -> None:
    """Kill the server in mid-crawl, and return when the crawl has noticed."""
    scene.await_asks(PAGES // 4)
    server.kill()
    command.wait_for(lambda: WAITING in command.err, seconds=30)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_crawl_waits_for_its_database_and_goes_on_by_itself(
    scene: Scene, calm: Calm, server: Postgres, processes: int
) -> None:
    """Also when it was away for longer than the leases last."""
    command = scene.crawl({"HOLDFAST_LEASE": "500ms"}, processes=processes)
    without_database(scene, server, command)
    server.start()
    assert command.wait(60) == exits.OK, command.err
    assert "The ledger answers again, after " in command.err
    calm.assert_equal_to(scene)


def test_a_database_that_stays_away_ends_the_crawl_with_7_and_the_same_command_goes_on(
    scene: Scene, calm: Calm, server: Postgres
) -> None:
    command = scene.crawl({"HOLDFAST_OUTAGE": "2s"})
    without_database(scene, server, command)
    assert command.wait(60) == exits.UNREACHABLE, command.err
    assert "PostgreSQL did not answer" in command.err.splitlines()[-1]
    assert "Traceback" not in command.err
    server.start()
    assert scene.crawled().code == exits.OK
    calm.assert_equal_to(scene)


def test_an_interrupt_while_the_database_is_away_ends_the_wait(scene: Scene, calm: Calm, server: Postgres) -> None:
    command = scene.crawl(processes=2)
    without_database(scene, server, command)
    command.send(signal.SIGINT)
    assert command.wait(30) == exits.UNREACHABLE, command.err
    assert "Traceback" not in command.err
    server.start()
    assert scene.crawled().code == exits.OK
    calm.assert_equal_to(scene)

"""A PostgreSQL that stands still while its connections stand: the wait for it is ended from this side (D14)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from holdfast.errors import LedgerUnavailable
from holdfast.ledger import postgres
from holdfast.ledger.postgres import SCHEMA_LOCK, PostgresLedger, PostgresStore
from holdfast.testing.postgres import Postgres, temporary_postgres
from waiting import wait_until

WAITERS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
ANSWER_MS = 2_000


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """Not the one that other tests of this process use: this one is stopped."""
    with temporary_postgres() as running:
        yield running


@pytest.fixture
def ledger(server: Postgres) -> Iterator[PostgresLedger]:
    """It is patient while it makes its schema, and no longer afterwards."""
    opened = PostgresLedger.open(server.url)
    watchdog = opened._store._watchdog  # type: ignore[attr-defined]
    watchdog._answer_ms, watchdog._look_every_s = ANSWER_MS, ANSWER_MS / 10_000
    yield opened
    opened.close()


@pytest.mark.timeout(30)
def test_a_server_that_says_nothing_is_hung_up_on_and_asked_again_later(
    ledger: PostgresLedger, server: Postgres
) -> None:
    assert ledger.jobs() == []
    server.freeze()
    with pytest.raises(LedgerUnavailable):
        ledger.jobs()
    server.thaw()
    assert ledger.jobs() == []


@pytest.mark.timeout(30)
@pytest.mark.parametrize("prepare", [PostgresStore.prepare, PostgresStore.upgrade], ids=["open", "upgrade"])
def test_a_server_that_stands_still_while_a_ledger_is_opened_is_hung_up_on(
    server: Postgres, monkeypatch: pytest.MonkeyPatch, prepare: Callable[[PostgresStore], object]
) -> None:
    """Before the first verb: it waits there for its turn at the schema, when the server stops."""
    monkeypatch.setattr(postgres, "ANSWER_S", 3.0)
    store = PostgresStore(server.url, None, "")
    with psycopg.connect(server.url, autocommit=True) as other, ThreadPoolExecutor(1) as pool:
        other.execute("SELECT pg_advisory_lock(%s)", (SCHEMA_LOCK,))
        opening = pool.submit(prepare, store)
        wait_until(lambda: other.execute(WAITERS).fetchone() == (1,), 10)
        server.freeze()
        try:
            failed = opening.exception(timeout=10)
        finally:
            server.thaw()
    assert isinstance(failed, LedgerUnavailable)
    prepare(store)
    store.close()


def test_a_connection_that_broke_in_mid_pipeline_is_not_used_again(ledger: PostgresLedger) -> None:
    """libpq takes it for alive, and it refuses every question from then on."""
    connection = ledger._store._connection  # type: ignore[attr-defined]
    connection.pgconn.enter_pipeline_mode()
    with pytest.raises(LedgerUnavailable, match="pipeline"):
        ledger.jobs()
    assert ledger.jobs() == []


def test_a_transaction_of_many_answers_may_take_longer_than_one_of_them(ledger: PostgresLedger) -> None:
    answers = ledger._read(lambda tx: [tx.rows("SELECT 1 FROM pg_sleep(0.4)") for _ in range(6)])
    assert answers == [[(1,)]] * 6

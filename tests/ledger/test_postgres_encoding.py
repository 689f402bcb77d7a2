"""A database that cannot keep every text is refused before anything is written to it."""

from __future__ import annotations

import psycopg
import pytest

from holdfast.clock import ManualClock
from holdfast.errors import LedgerUnfit
from holdfast.ledger.postgres import PostgresLedger


def test_a_database_in_sql_ascii_is_refused_with_the_way_to_make_another(pg_schema_url: str) -> None:
    with psycopg.connect(pg_schema_url, autocommit=True) as connection:
        connection.execute(
            "CREATE DATABASE marsh_ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
        )
        try:
            url = psycopg.conninfo.make_conninfo(pg_schema_url, dbname="marsh_ascii")
            with pytest.raises(LedgerUnfit, match="encoding SQL_ASCII") as refused:
                PostgresLedger.open(url, ManualClock())
            assert "--encoding UTF8" in refused.value.hint
        finally:
            connection.execute("DROP DATABASE marsh_ascii WITH (FORCE)")

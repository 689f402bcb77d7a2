"""`holdfast selftest`: the public form of the crash test. It works in a temporary folder, or in a PostgreSQL schema of
its own, and touches nobody's ledger.
"""

from __future__ import annotations

import json as jsons
import platform
import secrets
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from urllib.parse import quote

from holdfast.clock import SystemClock, iso
from holdfast.config import Settings
from holdfast.errors import BadParams
from holdfast.testing.judgement import SelftestJudgement, judge
from holdfast.testing.telling import SelftestOutput
from holdfast.testing.trial import CONCURRENCY, TrialPlan, attempt

PAGES_PER_KILL_MIN = 40  # three deaths alone make a page poison, and at the end of a crawl there are few others
SCHEMA = "holdfast.selftest/1"
SEEDS = 2**32
CHECK_FAILED = 9
DROP_LOCK_TIMEOUT_MS = 10_000


def run(
    pages: int = 3000,
    kills: int = 20,
    seed: int | None = None,
    database: str | None = None,
    *,
    processes: int = 1,
    json: bool = False,
    plain: bool = False,
    color: bool = True,
) -> int:
    """Crawl, kill, judge, say so. 0: every promise held; 9: one did not, or the crawl came to no end."""
    _refuse_what_cannot_be(pages, kills, processes)
    seed = Random().randrange(SEEDS) if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="holdfast-selftest-") as folder, _ledger_of_its_own(database) as ledger:
        settings = Settings(data=Path(folder) / "data", database_url=ledger)
        plan = TrialPlan(pages=pages, kills=kills, seed=seed, settings=settings, processes=processes)
        teller = SelftestOutput(plan, plain=plain, color=color)
        try:
            with teller:
                evidence = attempt(plan, Path(folder), teller.tell)
        except TimeoutError as stuck:
            teller.complain(f"The crawl came to no end: {stuck}")
            return CHECK_FAILED
        scope = _scope(settings)
    judgement = judge(plan, evidence)
    if json:
        sys.stdout.write(document(judgement, scope) + "\n")
    else:
        teller.conclude(judgement, evidence, scope)
    return 0 if judgement.holds else CHECK_FAILED


def document(judgement: SelftestJudgement, scope: dict[str, str]) -> str:
    """What `--json` gives."""
    checks = [{"promise": line.promise, "ok": line.holds, "found": line.found} for line in judgement.lines]
    whole = {"schema": SCHEMA, "ok": judgement.holds, **judgement.numbers, "scope": scope, "checks": checks}
    return jsons.dumps(whole, ensure_ascii=False)


def _refuse_what_cannot_be(pages: int, kills: int, processes: int) -> None:
    if processes > CONCURRENCY:
        raise BadParams(
            f"{processes} processes cannot share {CONCURRENCY} fetches at once", hint=f"--processes {CONCURRENCY}"
        )
    least = kills * PAGES_PER_KILL_MIN
    if pages < least:
        why = "closer together they hit the same page again and again, which then looks like the culprit"
        raise BadParams(f"{kills} kills need at least {least} pages; {why}", hint=f"--pages {least}")


@contextmanager
def _ledger_of_its_own(database: str | None) -> Iterator[str]:
    """SQLite in the temporary folder, or a new schema in the database that was named, dropped at the end."""
    if database is None or database == "sqlite":
        yield "sqlite"
        return
    import psycopg
    from psycopg import sql

    from holdfast.ledger.postgres_address import check_address
    from holdfast.ledger.postgres_refusals import not_connected

    check_address(database)
    name = sql.Identifier(f"holdfast_selftest_{secrets.token_hex(6)}")
    try:
        connection = psycopg.connect(database, autocommit=True)
    except psycopg.Error as error:
        raise not_connected(error, database) from error
    with connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(name))
        try:
            yield with_search_path(database, name.as_string(connection).strip('"'))
        finally:
            connection.execute(f"SET lock_timeout = {DROP_LOCK_TIMEOUT_MS}")
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(name))


def with_search_path(url: str, schema: str) -> str:
    """The same database, seen through one schema."""
    return f"{url}{'&' if '?' in url else '?'}options={quote(f'-csearch_path={schema}', safe='')}"


def _scope(settings: Settings) -> dict[str, str]:
    """What a number is worth nothing without: where it was measured, and when."""
    return {
        "ledger": _engine(settings.database_url),
        "python": f"Python {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()}",
        "lease": f"lease {settings.lease_s:g} s",
        "at": str(iso(SystemClock().wall_ms() // 1000 * 1000)),
    }


def _engine(database_url: str) -> str:
    if database_url == "sqlite":
        return f"SQLite {sqlite3.sqlite_version}"
    import psycopg

    with psycopg.connect(database_url) as connection:
        row = connection.execute("SHOW server_version").fetchone()
    return f"PostgreSQL {row[0] if row else '?'}"

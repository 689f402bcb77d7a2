"""T11: a crawl of an older program is killed, and the newer one is killed at every statement of its migration.

The older ledger is a real one in mid-crawl, made old by taking away what each later version added; that nothing of it
was forgotten is asserted by comparing its columns with those of the older schema itself.
"""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg

from crash.scene import Scene
from crash.suites.stage import PAGES, WORKLOAD, Ledger, Stage, on_postgres, on_sqlite, spread, staged
from crash.suites.suite import NoMorePoints, Suite, Trial
from forked import Child
from holdfast.ledger import sqlite
from holdfast.ledger.schema import LEDGER_TABLE, SCHEMA_VERSION, statements

POINT = "migrate.between_statements"
SLOW_MS = 20  # so that the old crawl is killed in its middle
# What takes each version back to the one before it.
BACK: dict[int, tuple[str, ...]] = {
    2: (
        *(f"DROP TABLE {name}" for name in (
            "robots", "visit", "exclusion", "label", "consumer", "undo", "named", "walk",
        )),
        "DROP INDEX target_failed",
        "DROP INDEX target_failed_id",
        *(f"ALTER TABLE {table} DROP COLUMN {column}" for table, column in (
            ("host", "fails"), ("host", "trips"), ("host", "crawl_delay_ms"), ("run", "health"), ("run", "doc"),
            ("plan", "trail"), ("plan", "mode"), ("plan", "opening"), ("chunk", "ruled"),
        )),
    ),
    3: tuple(f"ALTER TABLE {table} DROP COLUMN {column}" for table, column in (
        ("checkpoint", "undone_by"), ("host", "said_delay_ms"), ("host", "said_conc"),
    )),
    4: ("ALTER TABLE host DROP COLUMN forbade", "DROP TABLE host_total"),
    5: ("DROP TABLE phase_plan", "DELETE FROM host WHERE id = 0"),
    6: ("DROP TABLE artifact", "ALTER TABLE chunk DROP COLUMN name"),
}  # fmt: skip
BACK_TO = sorted((version - 1 for version in BACK), reverse=True)  # the newest first: it is what most people have
Columns = set[tuple[str, str]]


def _staging(database: Ledger, folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    with database() as url_of, staged(folder, database=url_of) as stage:
        known = [(version, hit) for version in BACK_TO for hit in range(1, _points_from(version) + 1)]

        def play_one(place: Path, seed: int) -> Trial:
            if seed >= len(known):
                raise NoMorePoints
            return _killed(stage, place, seed, *known[spread(seed, len(known))])

        yield play_one


def _points_from(version: int) -> int:
    """The last statement of each step has a point behind it."""
    return sum(len(list(statements(step, sqlite.WORDS))) + 1 for step in range(version + 1, SCHEMA_VERSION + 1))


def _killed(stage: Stage, place: Path, seed: int, version: int, hit: int) -> Trial:
    fault = f"kill at point {hit} of the migration from version {version}"
    with stage.scene(place) as scene:
        old = stage.stretch(scene, lambda: _killed_in_its_middle(scene))
        _make_old(scene, version)
        migrating = scene.run("db", "upgrade", environ={"HOLDFAST_FAULT": f"{POINT}:{hit}:kill"})
        if migrating.code != -signal.SIGKILL:
            return Trial(seed, fault, delivered=False)
        again = scene.run("db", "upgrade")
        wrong = "" if again.code == 0 else f"the upgrade then ended with {again.code}: {again.err}"
        broken = [wrong, stage.broken_by(scene, [old])]
        return Trial(seed, fault, delivered=True, broken="; ".join(filter(None, broken)))


def _killed_in_its_middle(scene: Scene) -> Child:
    scene.slow_down(SLOW_MS)
    child = scene.crawl()
    scene.await_asks(PAGES // 3)
    child.send(signal.SIGKILL)
    return child


def _make_old(scene: Scene, version: int) -> None:
    with _opened(scene) as run:
        for step in range(SCHEMA_VERSION, version, -1):
            for statement in BACK[step]:
                run(statement)
        run(f"UPDATE ledger SET schema_version = {version}")
        found = _columns(run, scene.database)
    assert found == _columns_of(version), f"not what version {version} had: {found ^ _columns_of(version)}"


@contextmanager
def _opened(scene: Scene) -> Iterator[Callable[[str], Sequence[tuple[str, ...]]]]:
    if scene.database == "sqlite":
        with closing(sqlite3.connect(scene.settings.ledger_path, isolation_level=None)) as connection:
            yield lambda text: connection.execute(text).fetchall()
    else:
        with psycopg.connect(scene.database, autocommit=True) as served:
            yield lambda text: _fetched(served.execute(text.encode()))


def _fetched(cursor: psycopg.Cursor[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    return cursor.fetchall() if cursor.description else ()


def _columns(run: Callable[[str], Sequence[tuple[str, ...]]], database: str) -> Columns:
    if database == "sqlite":
        tables = [name for (name,) in run("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {(table, row[1]) for table in tables for row in run(f"PRAGMA table_info({table})")}
    query = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
    return {(table, column) for table, column in run(query)}


def _columns_of(version: int) -> Columns:
    """By the schema's own words, in a ledger that was never newer."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for step in range(1, version + 1):
            for statement in statements(step, sqlite.WORDS):
                connection.execute(statement)
        connection.execute(LEDGER_TABLE.format(**sqlite.WORDS))
        return _columns(lambda text: connection.execute(text).fetchall(), "sqlite")


def _suite(name: str, ledger: str, database: Ledger, small: int) -> Suite:
    return Suite(
        name=name,
        title=f"kill at every statement of every migration, on {ledger}",
        scope=f"{WORKLOAD}, killed in its middle, {ledger}; from version {', '.join(map(str, sorted(BACK_TO)))}",
        stage=contextmanager(lambda folder: _staging(database, folder)),
        small=small,
        full=1_000,
    )


MIGRATIONS = _suite("T11", "SQLite", on_sqlite, small=8)
MIGRATIONS_PG = _suite("T11-pg", "PostgreSQL", on_postgres, small=4)

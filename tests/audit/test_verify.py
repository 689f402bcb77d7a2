"""Every law is shown able to fail: a story with everything in it is clean, and one damage breaks exactly one law."""

from __future__ import annotations

import ast
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import psycopg
import pytest

import holdfast.audit
from audit.damages import DAMAGES, Damage
from audit.stories import BOOT, write_story
from holdfast.audit.verify import ROWS_SHOWN_MAX, check_names, verify
from holdfast.clock import ManualClock
from holdfast.errors import NotFound
from holdfast.ledger.postgres import PostgresLedger
from holdfast.ledger.sqlite import SqliteLedger
from holdfast.model.record import Checkpoint
from servers import fresh_schema

JOBS = ("fen", "marsh", "pond", "bog")
# What the engines might judge differently: window functions, truth values, sums, unions, bytes.
DELICATE = (
    "L4.number",
    "L5.epoch",
    "L5.lease",
    "L6.done",
    "L6.undone",
    "L7.chunks",
    "L7.outcome",
    "L8.tally",
    "L11.claims",
    "F3.chain",
)


class Story:
    """The story in a connection whose damage nobody else sees."""

    def __init__(self, connection: sqlite3.Connection | psycopg.Connection, jobs: dict[str, int]) -> None:
        self.connection, self.jobs = connection, jobs
        self._is_postgres = isinstance(connection, psycopg.Connection)

    def query(self, sql: str, parameters: tuple[object, ...] = ()) -> list[tuple]:
        spelled = sql.replace("?", "%s") if self._is_postgres else sql
        return self.connection.execute(spelled, parameters).fetchall()

    def damage(self, sql: str, job: str) -> int:
        """Do it; how many rows were touched."""
        statements = sql.replace(":job", str(self.jobs[job])).split(";")
        return sum(max(0, self.connection.execute(statement).rowcount) for statement in statements)

    def broken(self, job: str) -> set[str]:
        return {finding.check for finding in verify(self.query, self.jobs[job])}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[sqlite3.Connection, dict[str, int]]]:
    path = tmp_path_factory.mktemp("story") / "ledger.db"
    clock = ManualClock()
    ledger = SqliteLedger.open(path, clock, BOOT)
    jobs = write_story(ledger, clock)
    assert not [finding for job in jobs.values() for finding in verify(ledger.query, job)]
    ledger.close()
    with closing(sqlite3.connect(path)) as connection:
        yield connection, jobs


@pytest.fixture
def story(written: tuple[sqlite3.Connection, dict[str, int]]) -> Iterator[Story]:
    original, jobs = written
    with closing(sqlite3.connect(":memory:")) as copy:
        original.backup(copy)
        yield Story(copy, jobs)


@pytest.fixture(scope="module")
def written_in_postgres(pg_url: str) -> Iterator[tuple[str, dict[str, int]]]:
    with fresh_schema(pg_url) as url:
        clock = ManualClock()
        ledger = PostgresLedger.open(url, clock, BOOT)
        jobs = write_story(ledger, clock)
        assert not [finding for job in jobs.values() for finding in verify(ledger.query, job)]
        ledger.close()
        yield url, jobs


@pytest.fixture
def pg_story(written_in_postgres: tuple[str, dict[str, int]]) -> Iterator[Story]:
    """In a transaction that is rolled back: the next test finds the story whole."""
    url, jobs = written_in_postgres
    with psycopg.connect(url) as connection:
        yield Story(connection, jobs)
        connection.rollback()


def named(damage: Damage) -> str:
    return f"{damage.check}-{damage.sql.split(' SET ')[-1][:30]}"


@pytest.mark.parametrize("job", JOBS)
def test_a_ledger_with_a_long_history_breaks_no_law(story: Story, job: str) -> None:
    assert verify(story.query, story.jobs[job]) == []


def test_the_story_has_everything_in_it(story: Story) -> None:
    states = {state for (state,) in story.query("SELECT DISTINCT state FROM target")}
    outcomes = {outcome for (outcome,) in story.query("SELECT DISTINCT outcome FROM attempt")}
    verbs = {verb for (verb,) in story.query("SELECT DISTINCT verb FROM entry")}
    assert states == set(range(8))
    assert outcomes == {"succeeded", "skipped", "failed", "retry", "handed_back", "lost"}
    assert verbs == {"lease", "release", "rescue", "plan", "claim", "settle", "finish", "cancel", "retry", "rollback"}


@pytest.mark.parametrize("damage", DAMAGES, ids=named)
def test_a_damage_breaks_exactly_its_law(story: Story, damage: Damage) -> None:
    assert story.damage(damage.sql, damage.job), "the damage touched nothing"
    assert story.broken(damage.job) - {damage.with_it} == {damage.check}


@pytest.mark.parametrize("damage", [damage for damage in DAMAGES if damage.check in DELICATE], ids=named)
def test_a_damage_breaks_exactly_its_law_in_postgresql(pg_story: Story, damage: Damage) -> None:
    assert pg_story.damage(damage.sql, damage.job), "the damage touched nothing"
    assert pg_story.broken(damage.job) - {damage.with_it} == {damage.check}


@pytest.mark.parametrize("job", JOBS)
def test_a_postgresql_ledger_breaks_no_law(pg_story: Story, job: str) -> None:
    assert verify(pg_story.query, pg_story.jobs[job]) == []


def test_every_law_has_a_damage() -> None:
    assert {damage.check for damage in DAMAGES} | {"F3.counts"} == set(check_names())


@pytest.mark.parametrize("name", ["discovered", "succeeded", "pending"])
def test_a_checkpoint_that_counts_wrongly_is_found_though_its_seal_is_whole(story: Story, name: str) -> None:
    job = story.jobs["marsh"]
    [(document,)] = story.query("SELECT doc FROM checkpoint WHERE job = ? ORDER BY number DESC LIMIT 1", (job,))
    point = msgspec.json.decode(document, type=Checkpoint)
    counts = msgspec.structs.replace(point.counts, **{name: getattr(point.counts, name) + 1})
    false = msgspec.structs.replace(point, counts=counts).sealed()
    document = msgspec.json.encode(msgspec.structs.replace(false, checksum=b""))
    sql = "UPDATE checkpoint SET doc = ?, checksum = ? WHERE job = ? AND number = ?"
    story.connection.execute(sql, (document, false.checksum, job, false.number))
    assert story.broken("marsh") == {"F3.counts"}


def test_an_older_checkpoint_that_was_sealed_anew_breaks_the_chain(story: Story) -> None:
    job = story.jobs["marsh"]
    [(document,)] = story.query("SELECT doc FROM checkpoint WHERE job = ? AND number = 2", (job,))
    false = msgspec.structs.replace(msgspec.json.decode(document, type=Checkpoint), at=1).sealed()
    document = msgspec.json.encode(msgspec.structs.replace(false, checksum=b""))
    sql = "UPDATE checkpoint SET doc = ?, checksum = ?, at = 1 WHERE job = ? AND number = 2"
    story.connection.execute(sql, (document, false.checksum, job))
    [finding] = verify(story.query, job)
    assert finding.rows == ((3, "it does not name its predecessor's checksum"),)


def test_a_document_that_cannot_be_read_is_a_damaged_checkpoint(story: Story) -> None:
    story.damage("UPDATE checkpoint SET doc = 'frogs' WHERE job = :job AND number = 1", "marsh")
    [finding] = verify(story.query, story.jobs["marsh"])
    assert (finding.check, finding.rows) == ("F3.chain", ((1, "it is damaged"),))


def test_options_that_cannot_be_read_are_told_and_do_not_stop_the_audit(story: Story) -> None:
    story.damage("UPDATE job SET options = 'frogs' WHERE id = :job", "marsh")
    assert story.broken("marsh") == {"L4.limit"}


def test_a_limit_that_was_amended_is_not_judged(story: Story) -> None:
    story.damage("UPDATE job SET options = replace(options, '\"max_attempts\":3', '\"max_attempts\":1')", "marsh")
    story.damage("UPDATE event SET verb = 'amend' WHERE verb = 'request_pause'", "marsh")
    assert "L4.limit" not in story.broken("marsh")


def test_the_damage_of_one_job_is_not_told_of_another(story: Story) -> None:
    story.damage("UPDATE tally SET n = n + 1 WHERE chunk IN (SELECT id FROM chunk WHERE job = :job)", "marsh")
    assert story.broken("marsh") == {"L8.tally"}
    assert not story.broken("fen")


def test_a_finding_says_the_law_and_shows_some_rows(story: Story) -> None:
    story.damage("UPDATE lane SET todo = 7 WHERE chunk IN (SELECT id FROM chunk WHERE job = :job)", "bog")
    [finding] = verify(story.query, story.jobs["bog"])
    assert str(finding).startswith("L8.lane is broken (A lane counts its pending targets and those in hand.) by (")
    assert len(finding.rows) == 1


def test_a_thousand_offenders_are_cut_to_what_people_read(story: Story) -> None:
    story.damage("DROP INDEX target_key", "bog")
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
    columns = ", ".join(name for _, name, *_ in story.query("PRAGMA table_info(target)") if name != "id")
    story.connection.execute(
        f"INSERT INTO target ({columns}) {numbers} SELECT {columns} FROM target CROSS JOIN n WHERE job = ?",
        (story.jobs["bog"],),
    )
    sizes = {len(finding.rows) for finding in verify(story.query, story.jobs["bog"])}
    assert max(sizes) <= ROWS_SHOWN_MAX


def test_an_unknown_job_cannot_be_verified(story: Story) -> None:
    with pytest.raises(NotFound, match="there is no job 999"):
        verify(story.query, 999)


def test_laws_are_named_once_and_in_the_handbooks_order() -> None:
    names = check_names()
    assert len(set(names)) == len(names)
    assert [name for name in names if name.endswith((".key", ".completed", ".chain", ".lane"))] == [
        "L2.key", "L8.lane", "L10.completed", "L13.lane", "F3.chain", "row.lane",
    ]  # fmt: skip


def test_the_audit_shares_nothing_but_the_model_with_what_it_judges() -> None:
    allowed = ("holdfast.audit", "holdfast.model", "holdfast.errors")
    for file in Path(holdfast.audit.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("holdfast"):
                assert (node.module or "").startswith(allowed), f"{file.name} imports {node.module}"

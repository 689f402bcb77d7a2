"""A snapshot restored gives the job it was taken from: in an empty ledger, in another engine, beside itself (F4)."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from audit.stories import BOOT, Worker, begun, won
from holdfast.audit.verify import verify
from holdfast.clock import ManualClock
from holdfast.control.restore import Snapshot
from holdfast.errors import Corrupt, Refused
from holdfast.ledger.copies.portable import OF_A_JOB, OF_NO_JOB
from holdfast.ledger.postgres import PostgresLedger
from holdfast.model.outcome import PlanBatch
from holdfast.model.portable import ID_MAX, moved_by
from holdfast.model.snapshot import JOBS_INLINE_MAX, Manifest
from holdfast.ports import Ledger
from snapshots.jobs import JOBS, image, repacked, restored, sqlite_ledger, taken, write_jobs

ADDED = {"event": 2, "checkpoint": 1}  # rows that an arrival may add: its line of history, and of a pause


@pytest.fixture(params=["sqlite", "postgres"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ledger]:
    with closing(_opened(request, tmp_path / "source.db")) as ledger:
        yield ledger


@pytest.fixture
def other(request: pytest.FixtureRequest, source: Ledger, tmp_path: Path) -> Iterator[Ledger]:
    """An empty ledger of the other engine."""
    if isinstance(source, PostgresLedger):
        ledger: Ledger = sqlite_ledger(tmp_path / "other.db")
    else:
        ledger = PostgresLedger.open(request.getfixturevalue("pg_schema_url"), ManualClock(), BOOT)
    with closing(ledger):
        yield ledger


def _opened(request: pytest.FixtureRequest, path: Path) -> Ledger:
    if request.param == "sqlite":
        return sqlite_ledger(path)
    return PostgresLedger.open(request.getfixturevalue("pg_schema_url"), ManualClock(), BOOT)


def test_every_job_comes_through_whole_in_the_other_engine_and_beside_itself(
    source: Ledger, other: Ledger, tmp_path: Path
) -> None:
    """SNP-05: what is read back is what was written."""
    jobs = write_jobs(source)
    for name in JOBS:
        stored = taken(source, jobs[name])
        for ledger, wanted in ((other, None), (source, f"{name}-copy")):
            job = restored(ledger, tmp_path, stored, name=wanted)
            assert verify(ledger.query, job.id) == []
            assert ledger.books(job.id)[1] == source.books(jobs[name])[1]
            assert_same(image(source, jobs[name]), image(ledger, job.id))


@pytest.mark.parametrize("source", ["sqlite"], indirect=True)
def test_a_copy_goes_back_to_a_checkpoint_like_the_job_it_was_taken_from(
    source: Ledger, other: Ledger, tmp_path: Path
) -> None:
    """Also to one that was written while targets were being put back."""
    pond = write_jobs(source)["pond"]  # it is to be scanned again, and nothing of it was put back yet
    source.request(pond, "pause", actor="user", because="lunch")
    source.acknowledge(pond, is_dead=lambda owner: True)
    number = source.checkpoints(pond)[0].number
    assert source.walk(pond).requeued == 1
    copy = restored(other, tmp_path, taken(source, pond)).id
    for ledger, job in ((source, pond), (other, copy)):
        assert ledger.rollback(job, number, actor="user", is_dead=lambda owner: True).restores == 1
        assert verify(ledger.query, job) == []
        assert ledger.walk(job).requeued == 1
        assert verify(ledger.query, job) == []
    assert other.books(copy)[1] == source.books(pond)[1]


def assert_same(before: dict[str, list[tuple]], after: dict[str, list[tuple]]) -> None:
    for table, rows in before.items():
        if table in ("chunk", "run"):  # numbers of events; a run that was open is closed
            assert len(after[table]) == len(rows)
        else:
            assert set(rows) <= set(after[table]), table
            assert len(after[table]) <= len(rows) + ADDED.get(table, 0), table


def test_the_jobs_of_these_tests_have_rows_in_every_table(tmp_path: Path) -> None:
    with closing(sqlite_ledger(tmp_path / "source.db")) as ledger:
        jobs = write_jobs(ledger)
        images = [image(ledger, job) for job in jobs.values()]
        assert {table for each in images for table, rows in each.items() if rows} == {
            each.table for each in OF_A_JOB if each.table != "job"
        }


def test_every_table_of_the_schema_is_of_a_job_or_is_said_not_to_be(tmp_path: Path) -> None:
    with closing(sqlite_ledger(tmp_path / "ledger.db")) as ledger:
        tables = {name for (name,) in ledger.query("SELECT name FROM sqlite_master WHERE type = 'table'")}
    portable = [each.table for each in OF_A_JOB]
    assert len(portable) == len(set(portable))
    assert tables == {*portable, *OF_NO_JOB}
    assert not set(portable) & set(OF_NO_JOB)


def test_every_column_that_holds_an_id_is_moved(tmp_path: Path) -> None:
    """By name: what is called like a table of numbered rows is an id, and so is every `…_chunk`."""
    with closing(sqlite_ledger(tmp_path / "ledger.db")) as ledger:
        shapes = {shape.table: shape for shape in ledger.shapes()}
    for portable in OF_A_JOB:
        for column in shapes[portable.table].columns:
            called = column.name.rpartition("_")[2]
            is_id = column.kind == "int" and called in ("id", "chunk", "lane", "segment", "target", "parent")
            if is_id and portable.table != "job":
                assert column.name in portable.ids, f"{portable.table}.{column.name}"


def test_an_empty_ledger_keeps_the_ids_that_people_know(tmp_path: Path) -> None:
    with closing(sqlite_ledger(tmp_path / "a.db")) as source, closing(sqlite_ledger(tmp_path / "b.db")) as target:
        jobs = write_jobs(source)
        job = restored(target, tmp_path, taken(source, jobs["court"]))
        assert job.uid == source.books(jobs["court"])[0].uid
        assert [row.id for row in target.targets(job.id)] == [row.id for row in source.targets(jobs["court"])]


@pytest.mark.parametrize("source", ["sqlite"], indirect=True)
def test_ids_given_after_a_restore_are_free(source: Ledger, other: Ledger, tmp_path: Path) -> None:
    jobs = write_jobs(source)
    restored(other, tmp_path, taken(source, jobs["court"]))
    again = write_jobs_in(other)
    assert verify(other.query, again) == []


def write_jobs_in(ledger: Ledger) -> int:
    worker = begun(ledger, ManualClock(), "late")
    worker.plan(worker.found("https://late.test/"), done=True)
    return worker.job


def test_ids_that_were_reserved_are_given_to_nobody_else(pg_schema_url: str) -> None:
    """Others insert while a job is restored: its ids are out of the sequence before its first row is written."""
    with closing(PostgresLedger.open(pg_schema_url, ManualClock(), BOOT)) as ledger:
        worker = begun(ledger, ManualClock(), "early")
        worker.plan(worker.found("https://early.test/"))
        with ledger._store.reserved({"target": (5, 104), "lane": (900, 901)}) as moved:
            assert moved == {"target": 0, "lane": 0}
            with ledger._store.reserved({"target": (5, 104)}) as again:
                assert again == {"target": 100}
        worker.plan(worker.found("https://late.test/"), done=True)
        assert [row.id for row in ledger.targets(worker.job)] == [1, 205]


def test_a_refused_restore_leaves_the_numbers_of_a_ledger_as_they_were(pg_schema_url: str, tmp_path: Path) -> None:
    with closing(sqlite_ledger(tmp_path / "a.db")) as source:
        stored = taken(source, write_jobs(source)["court"])
    with closing(PostgresLedger.open(pg_schema_url, ManualClock(), BOOT)) as ledger:
        worker = begun(ledger, ManualClock(), "early")
        worker.plan(worker.found("https://early.test/"))
        with pytest.raises(Refused, match="other ids than it says"):
            restored(ledger, tmp_path, repacked(stored, _with_ids("target", 1, ID_MAX >> 14)))
        for ids in ({"target": (5, 104), "lane": (900, 901)}, {"target": (5, 104)}):
            with pytest.raises(Corrupt, match="a row"), ledger._store.reserved(ids):
                raise Corrupt("a row that is refused")
        worker.plan(worker.found("https://late.test/"))
        assert [row.id for row in ledger.targets(worker.job)] == [1, 2]


def test_numbers_that_somebody_came_after_are_not_given_back(pg_schema_url: str) -> None:
    with closing(PostgresLedger.open(pg_schema_url, ManualClock(), BOOT)) as ledger:
        worker = begun(ledger, ManualClock(), "early")

        def refuse() -> None:
            with ledger._store.reserved({"target": (5, 104)}):
                worker.plan(worker.found("https://early.test/"))
                raise Corrupt("a row that is refused")

        with pytest.raises(Corrupt, match="a row"):
            refuse()
        worker.plan(worker.found("https://late.test/"))
        assert [row.id for row in ledger.targets(worker.job)] == [105, 106]


def _with_ids(table: str, low: int, high: int) -> Callable[[Manifest, dict[str, bytes]], Manifest]:
    return lambda manifest, files: msgspec.structs.replace(manifest, ids={**manifest.ids, table: (low, high)})


def test_ids_that_no_ledger_came_to_are_moved_down_and_none_is_given_beyond_the_last() -> None:
    assert moved_by(1, 7, 9) == 0
    assert moved_by(11, 7, 9) == 4
    assert moved_by(11, ID_MAX - 1, ID_MAX) == 12 - ID_MAX
    with pytest.raises(Refused, match="no ids left"):
        moved_by(ID_MAX - 1, 7, 9)


def test_a_restored_job_goes_back_to_a_checkpoint_as_it_would_have_at_home(tmp_path: Path) -> None:
    with closing(sqlite_ledger(tmp_path / "a.db")) as source, closing(sqlite_ledger(tmp_path / "b.db")) as target:
        jobs = write_jobs(source)
        write_jobs(target)  # so that ids are others
        for name in ("marsh", "weir"):
            job = restored(target, tmp_path, taken(source, jobs[name]), name=f"{name}-2")
            home, away = (
                ledger.rollback(each, 1, actor="user", is_dead=lambda owner: True).counts
                for ledger, each in ((source, jobs[name]), (target, job.id))
            )
            assert home == away
            assert verify(target.query, job.id) == []
            again = restored(target, tmp_path, taken(source, jobs[name]), name=f"{name}-3")
            assert target.books(again.id)[1] == home
            assert verify(target.query, again.id) == []


def test_the_trail_of_a_plan_is_kept_at_home_and_begins_anew_elsewhere(tmp_path: Path) -> None:
    """It is made of keys, and those are salted: elsewhere it would say of a plan that has not changed that it has."""
    with closing(sqlite_ledger(tmp_path / "a.db")) as source, closing(sqlite_ledger(tmp_path / "b.db")) as target:
        worker = begun(source, ManualClock(), "trail")
        [lease] = worker.of_kind("plan")
        found = (worker.found("https://trail.test/"),)
        batch = {"chunk": lease.chunk, "epoch": lease.epoch, "no": lease.no + 1, "cursor": 0, "next_cursor": 1}
        source.enqueue(worker.job, PlanBatch.freeze(**batch, done=False, found=found, trail=b"frogs"))
        source.request(worker.job, "pause", actor="user", because="lunch")
        source.acknowledge(worker.job, is_dead=lambda owner: True)
        stored = taken(source, worker.job)
        for ledger, trail in ((source, b"frogs"), (target, b"")):
            job = restored(ledger, tmp_path, stored, name="copy")
            point = ledger.books(job.id)[2]
            assert ledger.plan(job.id) == (1, False, trail)
            assert point is not None
            assert point.beside is not None
            assert point.beside.trail == trail


@pytest.mark.parametrize("source", ["sqlite"], indirect=True)
def test_a_restored_job_is_worked_on(source: Ledger, other: Ledger, tmp_path: Path) -> None:
    jobs = write_jobs(source)
    job = restored(other, tmp_path, taken(source, jobs["court"]))
    assert (job.status, job.paused_by) == ("paused", "restore")
    other.move(job.id, "resume", actor="user", because="go on")
    worker = Worker(other, ManualClock(), job.id, pid=50)
    worker.lease()
    [first] = worker.claim(1, alone=True)  # its last worker died with two in hand
    worker.settle(won(first), chunk=first.chunk, checkpoint="targets")
    assert other.books(job.id)[1].succeeded == 2
    assert verify(other.query, job.id) == []


def test_what_was_over_stays_over_and_what_was_paused_waits_to_be_asked(tmp_path: Path) -> None:
    with closing(sqlite_ledger(tmp_path / "a.db")) as source, closing(sqlite_ledger(tmp_path / "b.db")) as target:
        jobs = write_jobs(source)
        found = {name: restored(target, tmp_path, taken(source, jobs[name])) for name in JOBS}
    expected = {"fen": "paused", "marsh": "paused", "pond": "paused", "bog": "cancelled", "weir": "paused"}
    assert {name: found[name].status for name in expected} == expected
    assert found["marsh"].paused_by == "restore"
    assert found["bog"].paused_by is None


def test_the_manifest_tells_people_how_the_job_stands(tmp_path: Path) -> None:
    """SNP-01, SNP-02: its fields by their names; targets and cursor are told of one instant."""
    with closing(sqlite_ledger(tmp_path / "a.db")) as source:
        jobs = write_jobs(source)
        manifest = Snapshot(io.BytesIO(taken(source, jobs["court"]))).manifest
    assert manifest.schema_version == 1
    assert manifest.counts["discovered"] == 4
    told = msgspec.to_builtins(manifest)
    assert set(told) >= {
        "schema_version",
        "job_id",
        "run_id",
        "seq",
        "cursor",
        "counts",
        "jobs",
        "segments",
        "updated_at",
    }
    assert set(told) >= {"prev_sha256", "sha256"}
    assert set(told["jobs"][0]) == {"job_id", "state", "attempts", "last_error"}
    assert (manifest.cursor.last_job_index, set(told["cursor"])) == (2, {"last_job_id", "last_job_index"})
    assert [brief.state for brief in manifest.jobs or ()] == ["succeeded", "skipped", "pending", "pending"]
    assert manifest.bodies is None
    assert JOBS_INLINE_MAX >= 4

"""Jobs, their books and their plans, as readers see them: short snapshots, never a write."""

from __future__ import annotations

from holdfast.errors import NotFound
from holdfast.ledger.books import counts_of, newest_checkpoint
from holdfast.ledger.reads.targets import _what_there_is
from holdfast.ledger.tx import Tx, one
from holdfast.ledger.verbs.jobs import JOB_COLUMNS, job_from, read_job
from holdfast.model.job import Counts, Job
from holdfast.model.record import Checkpoint


def find_job(tx: Tx, reference: str) -> Job:
    """By name, id, or a prefix of the id that only one job has."""
    row = one(tx, f"SELECT {JOB_COLUMNS} FROM job WHERE name = ? OR uid = ?", (reference, reference))
    if row is not None:
        return job_from(row)
    if reference.startswith("J-") and len(reference) > 2:
        rows = tx.rows(f"SELECT {JOB_COLUMNS} FROM job WHERE substr(uid, 1, ?) = ?", (len(reference), reference))
        if len(rows) == 1:
            return job_from(rows[0])
        if rows:
            ids = ", ".join(found.uid for found in map(job_from, rows))
            raise NotFound(f"{reference} is the beginning of several job ids: {ids}")
    raise NotFound(f"there is no job {reference!r}; {_what_there_is(tx, reference)}")


def all_jobs(tx: Tx) -> list[Job]:
    return [job_from(row) for row in tx.rows(f"SELECT {JOB_COLUMNS} FROM job ORDER BY id")]


def books(tx: Tx, job: int) -> tuple[Job, Counts, Checkpoint | None]:
    return read_job(tx, job), counts_of(tx, job), newest_checkpoint(tx, job)


def plan(tx: Tx, job: int) -> tuple[int, bool, bytes]:
    row = one(tx, "SELECT cursor, done, trail FROM plan WHERE job = ?", (job,))
    if row is None:
        raise NotFound(f"job {job} has no plan")
    return int(row[0]), bool(row[1]), bytes(row[2] or b"")


def mode(tx: Tx, job: int) -> str:
    row = one(tx, "SELECT mode FROM plan WHERE job = ?", (job,))
    if row is None:
        raise NotFound(f"job {job} has no plan")
    return str(row[0])

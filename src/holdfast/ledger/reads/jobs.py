"""Jobs, their books and their plans, as readers see them: short snapshots, never a write."""

from __future__ import annotations

from difflib import get_close_matches

from holdfast.errors import NotFound
from holdfast.ledger.books import counts_of, newest_checkpoint
from holdfast.ledger.tx import Tx, one
from holdfast.ledger.verbs.jobs import JOB_COLUMNS, job_from, read_job
from holdfast.model.job import Counts, Job, JobFilter
from holdfast.model.record import Checkpoint

NAMES_SHOWN = 5


def find_job(tx: Tx, reference: int | str, owner: str | None = None) -> Job:
    """By number, name, id, or a prefix of the id that only one job has."""
    if isinstance(reference, int):
        if owner is not None and one(tx, "SELECT 1 FROM job WHERE id = ? AND owner = ?", (reference, owner)) is None:
            raise NotFound(f"there is no job {reference}")
        return read_job(tx, reference)
    of_owner, theirs = _of_owner(owner)
    row = one(
        tx,
        f"SELECT {JOB_COLUMNS} FROM job WHERE (name = ? OR uid = ?){of_owner} ORDER BY id LIMIT 1",
        (reference, reference, *theirs),
    )
    if row is not None:
        return job_from(row)
    if reference.startswith("J-") and len(reference) > 2:
        rows = tx.rows(
            f"SELECT {JOB_COLUMNS} FROM job WHERE substr(uid, 1, ?) = ?{of_owner}", (len(reference), reference, *theirs)
        )
        if len(rows) == 1:
            return job_from(rows[0])
        if rows:
            ids = ", ".join(found.uid for found in map(job_from, rows))
            raise NotFound(f"{reference} is the beginning of several job ids: {ids}")
    raise NotFound(f"there is no job {reference!r}; {_what_there_is(tx, reference, owner)}")


def list_jobs(tx: Tx, owner: str | None, where: JobFilter, after: int, limit: int | None) -> list[Job]:
    of_owner, theirs = _of_owner(owner)
    wanted = where.wanted()
    fitting = "".join(f" AND {column} = ?" for column in wanted)
    most, number = ("", ()) if limit is None else (" LIMIT ?", (limit,))
    rows = tx.rows(
        f"SELECT {JOB_COLUMNS} FROM job WHERE id > ?{of_owner}{fitting} ORDER BY id{most}",
        (after, *theirs, *wanted.values(), *number),
    )
    return [job_from(row) for row in rows]


def _what_there_is(tx: Tx, reference: str, owner: str | None) -> str:
    of_owner, theirs = _of_owner(owner)
    newest = f"SELECT name FROM job WHERE id > 0{of_owner} ORDER BY id DESC LIMIT 1000"
    names = [name for (name,) in tx.rows(newest, theirs)]
    if not names:
        return "this ledger has no jobs yet"
    near = get_close_matches(reference, names, n=1)
    if near:
        return f"did you mean {near[0]}?"
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return f"this ledger has: {', '.join(names[:NAMES_SHOWN])}{more}"


def _of_owner(owner: str | None) -> tuple[str, tuple[str, ...]]:
    return ("", ()) if owner is None else (" AND owner = ?", (owner,))


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

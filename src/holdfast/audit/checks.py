"""Checks that need more than one statement: replays of the event chains, the checkpoint chain, the attempt limit.

Each reads what changes in one statement, or what no longer changes once it is written, so a job may be verified while
it is worked. A row of an answer ends with a sentence that says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter

import msgspec

from holdfast.audit.checkpoints import broken_chain, wrong_counts
from holdfast.audit.contents import damaged_records, wrong_keys
from holdfast.audit.law import Query, Row
from holdfast.errors import Corrupt, IllegalMove
from holdfast.model.job import REQUESTS, Options
from holdfast.model.states import CHUNK, JOB, Machine, move

# Events that leave the status and a standing request alone.
NOTES = ("amend", "set_aside", "exclude", "include", "label", "limit", "restore")
FIRST = ("submit", "", "pending")


class Check(msgspec.Struct, frozen=True):
    """A law that is judged by code."""

    name: str
    says: str
    find: Callable[[Query, int], list[Row]]


def too_many_attempts(query: Query, job: int) -> list[Row]:
    """Only a death may spend an attempt beyond the limit. An amended job is not judged: its old limit is unknown."""
    [(options, amended)] = query(
        "SELECT j.options, (SELECT count(*) FROM event v JOIN chunk c ON c.id = v.chunk WHERE c.job = j.id "
        "AND v.thing = 'job' AND v.verb = 'amend') FROM job j WHERE j.id = ?",
        (job,),
    )
    if amended:
        return []
    try:
        limit = msgspec.json.decode(options, type=Options).max_attempts
    except msgspec.DecodeError as error:
        return [(job, f"its options cannot be read: {error}")]
    return query("SELECT id, attempts, deaths FROM target WHERE job = ? AND attempts - deaths > ?", (job, limit))


def job_history(query: Query, job: int) -> list[Row]:
    """Replay the job's events from nothing: each lawful, each from where the last one led, up to the present row."""
    rows = query(
        "SELECT j.status, j.requested, c.kind, v.seq, v.verb, v.source, v.target FROM job j "
        "JOIN chunk c ON c.job = j.id JOIN event v ON v.chunk = c.id AND v.thing NOT IN ('chunk', 'phase') "
        "WHERE j.id = ? ORDER BY v.chunk, v.seq",
        (job,),
    )
    return list(_replayed_job(rows))


def _replayed_job(rows: list[Row]) -> Iterator[Row]:
    status, requested = "", None
    for *_, kind, seq, verb, source, target in rows:
        event = (seq, verb, source, target)
        if kind != "control":
            yield *event, f"a job's event in a {kind} chunk"
        if source != status:
            yield *event, f"it was {status or 'nothing'} before"
        complaint = _complaint_about_job_event(verb, source, target)
        if complaint:
            yield *event, complaint
        status = target
        if verb not in NOTES:
            requested = verb.removeprefix("request_") if verb.startswith("request_") else None
    if not rows:
        yield 0, "", "", "", "the job has no history"
    elif (status, requested) != rows[0][:2]:
        yield 0, "", status, requested, f"the job's row says {rows[0][0]}, requested {rows[0][1]}"


def _complaint_about_job_event(verb: str, source: str, target: str) -> str:
    if not source:
        return "" if (verb, source, target) == FIRST else "a history begins with submit"
    asked = verb.removeprefix("request_")
    if verb in NOTES or (asked != verb and asked in REQUESTS):
        lawful = "" if verb in NOTES else _complaint_about_move(JOB, source, asked, None)
        return lawful or ("" if source == target else "it moves nothing")
    return _complaint_about_move(JOB, source, verb, target)


def _complaint_about_move(machine: Machine, source: str, verb: str, target: str | None) -> str:
    try:
        step = move(machine, source, verb)
    except (IllegalMove, Corrupt) as error:
        return error.message
    return "" if target in (None, step.target) else f"{verb} leads to {step.target}"


def chunk_histories(query: Query, job: int) -> list[Row]:
    """Replay each chunk's events; they must tell the same leases, releases and rescues as its commits, in order."""
    rows = query(
        "SELECT c.id, 0, 0, CASE WHEN c.owner_pid IS NULL THEN 'idle' ELSE 'leased' END, '', '' FROM chunk c "
        "WHERE c.job = ? UNION ALL SELECT c.id, 1, v.seq, v.verb, v.source, v.target FROM chunk c JOIN event v "
        "ON v.chunk = c.id WHERE c.job = ? AND v.thing = 'chunk' UNION ALL SELECT c.id, 2, e.no, e.verb, '', '' "
        "FROM chunk c JOIN entry e ON e.chunk = c.id WHERE c.job = ? AND e.verb IN ('lease', 'release', 'rescue') "
        "ORDER BY 1, 2, 3",
        (job, job, job),
    )
    return [row for chunk, part in groupby(rows, itemgetter(0)) for row in _replayed_chunk(chunk, list(part))]


def _replayed_chunk(chunk: int, rows: list[Row]) -> Iterator[Row]:
    now = rows[0][3]
    events = [row[2:] for row in rows if row[1] == 1]
    entries = [row[3] for row in rows if row[1] == 2]
    status = CHUNK.states[0]
    for seq, verb, source, target in events:
        complaint = _complaint_about_move(CHUNK, source, verb, target)
        if complaint or source != status:
            yield chunk, seq, verb, source, target, complaint or f"it was {status} before"
        status = target
    if status != now:
        yield chunk, 0, "", status, now, f"the chunk's row says {now}"
    if [event[1] for event in events] != entries:
        yield chunk, 0, "", "", "", f"{len(events)} events do not tell the same as {len(entries)} commits"


CHECKS = (
    Check("L4.limit", "A target's attempts are within the job's limit, deaths alone not counted.", too_many_attempts),
    Check("L7.job", "The job's events are rows of the lifecycle table, join up, and lead to what it is.", job_history),
    Check("L7.chunks", "Each chunk's events join up, agree with its commits, and lead to what it is.", chunk_histories),
    Check("L2.address", "A target's key is that of its URL or name, and its URL is canonical.", wrong_keys),
    Check("F1.record", "A record is what was stored.", damaged_records),
    Check("F3.chain", "Checkpoints are whole, contiguous and chained, and only go forward.", broken_chain),
    Check("F3.counts", "A checkpoint's counts are those of the rows as of its commit numbers.", wrong_counts),
)

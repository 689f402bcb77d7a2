"""What people look at, in memory: failures in groups, events, checkpoints and the lists as of one. Never a write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import msgspec

from holdfast.model.job import Job
from holdfast.model.look import CheckpointRow, Detail, EventRow, Failures, Generation, ListedTarget
from holdfast.model.record import Event
from holdfast.model.states import State, wire_status
from holdfast.model.target import RANK_PER_PRIORITY, TargetRow
from oracle.books import checkpoints_of
from oracle.reads import row_of
from oracle.state import Commit, Tables, TargetState


def find_target(tables: Tables, job: int, key: bytes) -> TargetRow | None:
    target = tables.keys.get((job, key))
    return None if target is None else row_of(tables, tables.targets[target])


def failures(tables: Tables, job: int) -> list[Failures]:
    groups: defaultdict[tuple[str, str], list[TargetState]] = defaultdict(list)
    for row in tables.targets.values():
        if row.job == job and row.state == State.FAILED:
            groups[row.code or "", row.found.host].append(row)
    found = [_group(code, host, rows) for (code, host), rows in groups.items()]
    return sorted(found, key=lambda group: (-group.count, group.code, group.host))


def _group(code: str, host: str, rows: list[TargetState]) -> Failures:
    example = min(rows, key=lambda row: row.id)
    times = [row.settled_at for row in rows if row.settled_at is not None]
    return Failures(
        code=code,
        host=host,
        count=len(rows),
        first_at=min(times, default=None),
        last_at=max(times, default=None),
        target=example.id,
        url=example.url,
        message=example.because,
    )


def events(tables: Tables, job: int | None) -> list[EventRow]:
    """All of them, in the order of time."""
    found = [_told(tables.jobs[tables.chunks[event.chunk].job], event) for event in tables.events.values()]
    for (owner, n), run in tables.runs.items():
        told = [("start", 2 * n, run.started_at, "", "in_progress", run.mode)]
        if run.ended_at is not None:
            told.append(("finish", 2 * n + 1, run.ended_at, "in_progress", run.status, run.stop_reason or ""))
        for verb, seq, at, source, target, because in told:
            row = tables.jobs[owner]
            found.append(
                EventRow(
                    job=owner, uid=row.uid, name=row.name, chunk=-owner, seq=seq, at=at, actor=run.trigger,
                    thing="run", verb=verb, source=source, target=target, because=because,
                )
            )  # fmt: skip
    return sorted((row for row in found if job in (None, row.job)), key=lambda row: row.place)


def _told(job: Job, event: Event) -> EventRow:
    return EventRow(
        job=job.id,
        uid=job.uid,
        name=job.name,
        chunk=event.chunk,
        seq=event.seq,
        at=event.at,
        actor=event.actor,
        thing=event.thing,
        verb=event.verb,
        source=event.source,
        target=event.target,
        because=event.because,
    )


def checkpoints(tables: Tables, job: int, before: int | None) -> list[CheckpointRow]:
    points = [point for point in checkpoints_of(tables, job) if before is None or point.number < before]
    return [
        CheckpointRow(
            number=point.number,
            at=point.at,
            checksum=point.checksum,
            point=point if point.is_valid() else None,
            undone_by=tables.undone_by.get((job, point.number)),
        )
        for point in reversed(points)
    ]


def as_of(tables: Tables, job: int, commits: Mapping[str, int], settled: bool) -> list[ListedTarget]:
    found = []
    for now in tables.targets.values():
        if now.job != job or not _was(now.found_by, commits):
            continue
        then = _then(tables, now, commits)
        if _was(then.settled_by, commits) == settled:
            found.append(_listed(then, settled))
    return found


def _then(tables: Tables, now: TargetState, commits: Mapping[str, int]) -> TargetState:
    """The target as it stood: of what verbs overwrote since, only the oldest can have been settled by then."""
    since = [
        row.before
        for (target, *commit), row in tables.undo.items()
        if target == now.id and not _was((commit[0], commit[1]), commits)
    ]
    return next((before for before in since if _was(before.settled_by, commits)), since[0] if since else now)


def _listed(row: TargetState, settled: bool) -> ListedTarget:
    return ListedTarget(
        id=row.id,
        url=row.url,
        type=row.found.type,
        depth=row.found.depth,
        priority=row.found.rank // RANK_PER_PRIORITY,
        parent=row.parent,
        status=wire_status(row.state) if settled else None,
    )


def generations(tables: Tables, job: int, kind: str, commits: Mapping[str, int] | None) -> list[Generation]:
    return [
        Generation(target=key[0], generation=key[1], n=key[2], run=tables.record_runs[key], doc=record.doc)
        for key, record in sorted(tables.records.items())
        if (target := tables.targets[key[0]]).job == job
        and target.found.type == kind
        and (commits is None or _was(tables.record_by[key], commits))
    ]


def details(tables: Tables, job: int, commits: Mapping[str, int] | None) -> list[Detail]:
    found = []
    for now in sorted(tables.targets.values(), key=lambda row: row.id):
        if now.job == job and (commits is None or _was(now.found_by, commits)):
            then = now if commits is None else _then(tables, now, commits)
            found.append(_detail(tables, then, commits))
    return found


def _detail(tables: Tables, row: TargetState, commits: Mapping[str, int] | None) -> Detail:
    known, is_open = row_of(tables, row), commits is not None and not _was(row.settled_by, commits)
    tries = [(commit, each) for commit, each in tables.attempts.items() if each.target == row.id]
    ended = [each for commit, each in tries if commits is None or _was(commit[:2], commits)]
    last = ended[-1] if ended else None
    record = tables.records.get((row.id, row.generation, 0))
    detail = Detail(
        row.id, row.chunk, row.url, row.found.type, known.status, row.disposition, row.rule, row.code, row.because,
        row.attempts, row.not_before, row.found_at, row.settled_at, row.found.name, row.found.params, known.label,
        None if last is None else last.began_at, None if last is None else last.ended_at,
        None if last is None else last.code, None if last is None else last.message, 0 if last is None else last.bytes,
        b"" if record is None else record.doc,
    )  # fmt: skip
    return msgspec.structs.replace(detail, **OPEN, attempts=last.n if last else 0) if is_open else detail


OPEN = {
    "status": "pending", "disposition": None, "rule": None, "code": None, "because": None, "not_before": None,
    "settled_at": None, "record": b"",
}  # fmt: skip


def links_out(tables: Tables, job: int, commits: Mapping[str, int]) -> list[tuple[bytes, str]]:
    links = ((key, link.url) for (owner, key), link in tables.external.items() if owner == job)
    return sorted((key, url) for key, url in links if _was(tables.external_by[job, key], commits))


def _was(commit: Commit | None, commits: Mapping[str, int]) -> bool:
    """Whether this commit had been made when the chunks stood at these numbers."""
    return commit is not None and commit[1] <= commits.get(str(commit[0]), 0)


def pulse(tables: Tables, job: int) -> int:
    entries = ((tables.chunks[chunk].job, entry) for (chunk, _), entry in tables.entries.items())
    return max((entry.at for owner, entry in entries if owner == job and entry.verb != "rescue"), default=0)

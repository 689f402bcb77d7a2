"""Leasing chunks and rescuing what dead owners held. Taking a chunk raises its epoch, which fences its last owner."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.ledger.books import add_entry, add_event
from holdfast.ledger.tx import Row, Tx, marks, one
from holdfast.ledger.verbs.claim import CLAIMED_COLUMNS, STILL_OURS, claimed_from, with_names
from holdfast.ledger.verbs.due_time import set_back
from holdfast.ledger.verbs.jobs import carry_out_request, read_job
from holdfast.ledger.verbs.last_results import with_records
from holdfast.ledger.verbs.put_back import PutBack
from holdfast.ledger.verbs.reopen import walking
from holdfast.model.claim import Holding
from holdfast.model.job import Job
from holdfast.model.lease import Holder, Lease, Owner, Rescued
from holdfast.model.states import CHUNK, move
from holdfast.policy.recovery import rescue_target
from holdfast.ports import IsDead

CHUNK_COLUMNS = (
    "id, job, kind, idx, epoch, no, phase, requested, owner_host, owner_boot, owner_ns, owner_pid, owner_start, "
    "owner_session, until, at"
)

# The epoch stays: it rises with each grant, and a fence also wants an owner, so the last holder is shut out at once.
FREE_CHUNK = (
    "UPDATE chunk SET no = no + 1, owner_host = NULL, owner_boot = NULL, owner_ns = NULL, owner_pid = NULL, "
    "owner_start = NULL, owner_session = NULL, until = NULL WHERE id = ? RETURNING no, epoch"
)


def owner_from(row: Row) -> Owner | None:
    return None if row[8] is None else Owner(*row[8:14])


def lease_from(row: Row) -> Lease:
    return Lease(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7])


def lease(tx: Tx, job: int, owner: Owner, *, life_s: float, want: int, is_dead: IsDead) -> tuple[Lease, ...]:
    """Take control and plan where free, and up to `want` work chunks; put back what their last owners held."""
    before = read_job(tx, job, locked=True)
    if before.status != "in_progress" or before.requested is not None or walking(tx, job, "rescope") is not None:
        return ()
    taken: list[Lease] = []
    chunks = _chunks(tx, job)
    rescued, putting_back = Rescued(), _putting_back(tx, chunks)
    for row in chunks:
        if row[2] == "work" and want <= 0:
            continue
        last = owner_from(row)
        if last is not None and not _is_free(tx, row, last, is_dead):
            if last == owner:  # asked before, and the answer was lost: what is ours is answered again
                taken.append(lease_from(row))
                want -= row[2] == "work"
            continue
        if last is not None:
            rescued = _add(rescued, _rescue_chunk(tx, row, last, is_dead, putting_back))
        taken.append(_grant(tx, row, owner, life_s))
        want -= row[2] == "work"
    putting_back.write()
    _note_recovery(tx, job, rescued)
    return tuple(taken)


def _chunks(tx: Tx, job: int) -> list[Row]:
    return tx.rows(f"SELECT {CHUNK_COLUMNS} FROM chunk WHERE job = ? ORDER BY id {tx.lock('chunk')}", (job,))


def _putting_back(tx: Tx, chunks: Sequence[Row]) -> PutBack:
    return PutBack(tx, {row[0]: owner_from(row) for row in chunks})


def _is_free(tx: Tx, row: Row, owner: Owner, is_dead: IsDead) -> bool:
    return is_dead(owner) or _is_lapsed(tx, row, owner)


def _is_lapsed(tx: Tx, row: Row, owner: Owner) -> bool:
    return tx.is_other_boot(owner.boot) or row[14] <= tx.lease_now()


def _grant(tx: Tx, row: Row, owner: Owner, life_s: float) -> Lease:
    move(CHUNK, "idle", "lease")
    set_back(tx, row[0], row[15])
    until = tx.lease_now() + round(life_s * 1000)
    fresh = one(
        tx,
        "UPDATE chunk SET epoch = epoch + 1, no = no + 1, at = ?, owner_host = ?, owner_boot = ?, owner_ns = ?, "
        f"owner_pid = ?, owner_start = ?, owner_session = ?, until = ? WHERE id = ? RETURNING {CHUNK_COLUMNS}",
        (tx.wall(), owner.host, owner.boot, owner.namespace, owner.pid, owner.started, owner.session, until, row[0]),
    )
    assert fresh is not None
    add_entry(tx, fresh[0], fresh[5], fresh[4], "lease")
    add_event(tx, fresh[0], "chunk", "lease", "idle", "leased", actor=str(owner))
    return lease_from(fresh)


def _rescue_chunk(tx: Tx, row: Row, owner: Owner, is_dead: IsDead, putting_back: PutBack) -> Rescued:
    """Free a dead or lapsed owner's chunk and put back every target it held, as one numbered commit."""
    move(CHUNK, "leased", "rescue")
    chunk = row[0]
    fresh = one(
        tx,
        FREE_CHUNK,
        (chunk,),
    )
    assert fresh is not None
    no, epoch = fresh
    # After a power cut no target is blamed, because the whole computer stopped. An owner that fell silent may have been
    # killed by a target in its hands, in a container or on a machine that we cannot look into.
    rebooted = tx.is_other_boot(owner.boot)
    rows = putting_back.held(chunk)
    add_entry(tx, chunk, no, epoch, "rescue", n=len(rows))
    because = f"{owner} died" if is_dead(owner) else f"the lease of {owner} ran out"
    add_event(tx, chunk, "chunk", "rescue", "leased", "idle", actor="rescuer", because=because)
    putting_back.end_visits(chunk)
    poisoned = 0
    for held in rows:
        ruling = rescue_target(alone=bool(held["alone"]), deaths=held["deaths"], blamed=not rebooted)
        putting_back.put_back((chunk, no), held, ruling, outcome="lost", worker=str(owner), because=because)
        poisoned += ruling.poison
    return Rescued(1, len(rows), poisoned)


def _add(left: Rescued, right: Rescued) -> Rescued:
    return Rescued(left.chunks + right.chunks, left.targets + right.targets, left.poisoned + right.poisoned)


def _note_recovery(tx: Tx, job: int, rescued: Rescued) -> None:
    if rescued.chunks:
        tx.run(
            "UPDATE job SET recoveries = recoveries + 1, refetched = refetched + ? WHERE id = ?",
            (rescued.targets - rescued.poisoned, job),
        )


def rescue(tx: Tx, job: int, *, is_dead: IsDead) -> Rescued:
    """Free what dead or lapsed owners hold; live owners keep theirs, however old."""
    read_job(tx, job, locked=True)
    chunks = _chunks(tx, job)
    rescued, putting_back = Rescued(), _putting_back(tx, chunks)
    for row in chunks:
        owner = owner_from(row)
        if owner is not None and _is_free(tx, row, owner, is_dead):
            rescued = _add(rescued, _rescue_chunk(tx, row, owner, is_dead, putting_back))
    putting_back.write()
    _note_recovery(tx, job, rescued)
    return rescued


def renew(tx: Tx, leases: Sequence[Lease], *, life_s: float, active_ms: int) -> tuple[Lease, ...]:
    """Prolong what is still ours under its epoch; whatever is missing from the answer is lost."""
    if leases and active_ms > 0:  # the job's row comes before its chunks
        tx.rows(f"SELECT id FROM job WHERE id = ? {tx.lock('job')}", (leases[0].job,))
    until = tx.lease_now() + round(life_s * 1000)
    kept: list[Lease] = []
    for item in sorted(leases, key=lambda lease: lease.chunk):
        row = one(
            tx,
            f"UPDATE chunk SET until = ? WHERE {STILL_OURS} RETURNING {CHUNK_COLUMNS}",
            (until, item.chunk, item.epoch),
        )
        if row is not None:
            kept.append(lease_from(row))
    if kept and active_ms > 0:
        tx.run("UPDATE job SET active_ms = active_ms + ? WHERE id = ?", (active_ms, kept[0].job))
    return tuple(kept)


def release(tx: Tx, leases: Sequence[Lease]) -> None:
    """Give chunks back. What is still held under them is handed back with its attempt."""
    chunks = _still_ours(tx, leases)
    putting_back = _putting_back(tx, chunks)
    for row in chunks:
        move(CHUNK, "leased", "release")
        chunk, owner = row[0], owner_from(row)
        no, epoch = tx.rows(FREE_CHUNK, (chunk,))[0]
        rows = putting_back.held(chunk)
        add_entry(tx, chunk, no, epoch, "release", n=len(rows))
        add_event(tx, chunk, "chunk", "release", "leased", "idle", actor=str(owner))
        putting_back.end_visits(chunk)
        for held in rows:
            back = rescue_target(alone=bool(held["alone"]), deaths=held["deaths"], blamed=False)
            worker = str(owner)
            putting_back.put_back((chunk, no), held, back, outcome="handed_back", worker=worker, because="released")
    putting_back.write()


def _still_ours(tx: Tx, leases: Sequence[Lease]) -> list[Row]:
    """The chunk rows of those leases that still hold, locked by id."""
    sql = f"SELECT {CHUNK_COLUMNS} FROM chunk WHERE {STILL_OURS} {tx.lock('chunk')}"
    found = [one(tx, sql, (item.chunk, item.epoch)) for item in sorted(leases, key=lambda lease: lease.chunk)]
    return [row for row in found if row is not None]


def held(tx: Tx, leases: Sequence[Lease]) -> Holding:
    """Which leases still hold, with their numbers, and every target held under them.

    The chunk rows are locked: a commit of ours whose answer was lost may still be on its way, and must be waited for.
    """
    current = [lease_from(row) for row in _still_ours(tx, leases)]
    if not current:
        return Holding((), ())
    chunks = [item.chunk for item in current]
    rows = tx.rows(
        f"SELECT {CLAIMED_COLUMNS}, h.delay_ms, h.crawl_delay_ms FROM target t CROSS JOIN lane l CROSS JOIN host h "
        f"WHERE t.state = 3 AND l.id = t.lane AND h.id = l.host AND l.chunk IN ({marks(chunks)})",
        chunks,
    )
    epochs = {item.chunk: item.epoch for item in current}
    ordered = sorted(rows, key=lambda row: int(row[0]))
    claimed = [claimed_from(row, epochs[row[1]], max(row[13] or 0, row[14] or 0)) for row in ordered]
    return Holding(tuple(current), tuple(with_records(tx, with_names(tx, claimed))))


def acknowledge(tx: Tx, job: int, *, is_dead: IsDead) -> Job | None:
    """Carry out a requested pause or cancel when no live owner is left; dead ones are rescued on the way."""
    tx.take_turns(job)
    before = read_job(tx, job, locked=True)
    if before.requested is None:
        return before
    rescue(tx, job, is_dead=is_dead)
    if one(tx, "SELECT 1 FROM chunk WHERE job = ? AND owner_pid IS NOT NULL LIMIT 1", (job,)) is not None:
        return None
    return carry_out_request(tx, before)


def holders(tx: Tx, job: int) -> list[Holder]:
    rows = tx.rows(f"SELECT {CHUNK_COLUMNS} FROM chunk WHERE job = ? AND owner_pid IS NOT NULL ORDER BY id", (job,))
    found = []
    for row in rows:
        owner = owner_from(row)
        assert owner is not None
        found.append(Holder(row[0], row[2], row[4], owner, _is_lapsed(tx, row, owner)))
    return found

"""Politeness beyond the claim: turns for requests that no claim stands for, and robots.txt, kept for all jobs.

Host rows belong to no job, so these writes have no commit number. A turn at another host is a `visit` under the
asker's lease: whatever ends the lease ends its visits, and a dead worker keeps no slot.
"""

from __future__ import annotations

from holdfast.errors import LostLease
from holdfast.ledger.books import add_event
from holdfast.ledger.tx import Row, Tx, one
from holdfast.ledger.verbs.claim import BUSY_POLL_MS, STILL_OURS
from holdfast.ledger.verbs.due_time import LEAP_MS, set_back_host
from holdfast.ledger.verbs.jobs import control_chunk, read_job
from holdfast.model.host import Breaker, HostLook, KeptRobots, RobotsAnswer, Turn, Visited
from holdfast.model.target import Claimed
from holdfast.policy.politeness import breaker

ADD_HOST = (
    "INSERT INTO host (key, busy, next_at, hold_until, set_at) VALUES (?, 0, 0, 0, 0) ON CONFLICT (key) DO NOTHING"
)


# Jobs that are not over and have targets at a host, in the order in which jobs are locked.
_MET = (
    "SELECT DISTINCT j.id FROM host h JOIN lane l ON l.host = h.id JOIN chunk c ON c.id = l.chunk "
    "JOIN job j ON j.id = c.job WHERE h.key = ? AND j.status NOT IN ('completed', 'cancelled') ORDER BY j.id"
)


def turn(
    tx: Tx, host: str, claimed: Claimed | None, *, ticket: str, delay_ms: int, per_host: int, patience_ms: int
) -> Turn:
    """The next moment at which this host may be asked, if it is not further away than `patience_ms`.

    At the target's own host the claim's slot is used again; elsewhere one is taken until `leave`. Without a lease that
    would end it, none is taken and none waited for: each slot that a job gives back it takes again in the same commit.
    """
    if claimed is not None:
        _hold_fast(tx, claimed)
    if one(tx, "SELECT 1 FROM visit WHERE ticket = ?", (ticket,)) is not None:
        return Turn(True, delay_ms)  # asked before, and the answer was lost
    tx.run(ADD_HOST, (host,))
    row = one(
        tx,
        "SELECT id, conc, delay_ms, crawl_delay_ms, busy, next_at, hold_until, set_at FROM host WHERE key = ? "
        + tx.lock("host"),
        (host,),
    )
    assert row is not None
    back, now = set_back_host(tx, row[0], row[7]), tx.wall()
    away = claimed is not None and host != claimed.host
    if away and row[4] >= (min(per_host, row[1]) if row[1] else per_host):
        return Turn(False, BUSY_POLL_MS)
    at = max(row[5] - back, row[6] - back, now)
    if at - now > patience_ms:
        return Turn(False, at - now)
    next_at = at + max(delay_ms, row[2] or 0, row[3] or 0)
    chunk = claimed.chunk if away and claimed is not None else None
    tx.run(
        "UPDATE host SET busy = busy + ?, next_at = ?, set_at = ? WHERE id = ?",
        (int(chunk is not None), next_at, now, row[0]),
    )
    if chunk is not None:
        tx.run("INSERT INTO visit VALUES (?, ?, ?)", (ticket, row[0], chunk))
    return Turn(True, at - now)


def leave(tx: Tx, ticket: str, visited: Visited) -> None:
    """Give back the slot of a visit, and tell how it went. Safe to repeat; a turn that took none is ignored."""
    row = one(tx, "DELETE FROM visit WHERE ticket = ? RETURNING host", (ticket,))
    if row is None:
        return
    tx.run("UPDATE host SET busy = busy - 1 WHERE id = ?", (row[0],))
    _tell(tx, row[0], visited)


def tell(tx: Tx, host: str, visited: Visited) -> None:
    """How a request went that had a turn and no lease."""
    row = one(tx, f"SELECT id FROM host WHERE key = ? {tx.lock('host')}", (host,))
    if row is not None:
        _tell(tx, row[0], visited)


def _tell(tx: Tx, host_id: int, visited: Visited) -> None:
    """Of a host whose row is locked."""
    host = one(tx, "SELECT set_at, hold_until, fails, trips, forbade FROM host WHERE id = ?", (host_id,))
    assert host is not None
    now, hold_until = tx.wall(), host[1] - set_back_host(tx, host_id, host[0])
    before = Breaker(host[2], host[3], bool(host[3]) and hold_until > now, host[4])
    after, rest_ms = breaker(before, [] if visited.heard is None else [visited.heard])
    longest_ms = max(rest_ms, visited.hold_ms)
    if longest_ms or after != before:
        tx.run(
            "UPDATE host SET fails = ?, trips = ?, forbade = ?, hold_until = ?, set_at = ? WHERE id = ?",
            (
                after.fails, after.trips, after.forbade, max(hold_until, now + longest_ms if longest_ms else 0), now,
                host_id,
            ),
        )  # fmt: skip


def robots(tx: Tx, origin: str, agent: str, claimed: Claimed, *, insist: bool) -> RobotsAnswer:
    """What is kept of this origin's robots.txt, or whose turn it is to ask: one asker at a time, while its lease lasts.

    `insist`: the worker whose turn it was has not answered for too long.
    """
    row = _robots_row(tx, origin, agent)
    if row is not None and _is_fresh(tx, row):
        return RobotsAnswer(_kept(tx, row))
    _hold_fast(tx, claimed)
    tx.run(
        "INSERT INTO robots (origin, agent, status, body, fetched_at, expires_at) VALUES (?, ?, 0, ?, 0, 0) "
        "ON CONFLICT (origin, agent) DO NOTHING",
        (origin, agent, b""),
    )
    row = _robots_row(tx, origin, agent, locked=True)
    assert row is not None
    if _is_fresh(tx, row):
        return RobotsAnswer(_kept(tx, row))
    if not insist and row[6:8] != (claimed.chunk, claimed.epoch) and _is_asking(tx, row[6], row[7]):
        return RobotsAnswer()
    tx.run(
        "UPDATE robots SET asker = ?, asker_epoch = ? WHERE origin = ? AND agent = ?",
        (claimed.chunk, claimed.epoch, origin, agent),
    )
    return RobotsAnswer(ask=True, tries=row[4])


def keep_robots(tx: Tx, origin: str, host: str, agent: str, kept: KeptRobots | None) -> None:
    """Keep what came of asking, with its Crawl-delay on the host's row; None: nothing did, and another may ask."""
    if kept is None:
        tx.run(
            "UPDATE robots SET asker = NULL, asker_epoch = NULL WHERE origin = ? AND agent = ?",
            (origin, agent),
        )
        return
    now = tx.wall()
    tx.run(
        "UPDATE robots SET status = ?, body = ?, fetched_at = ?, expires_at = ?, tries = ?, because = ?, asker = NULL, "
        "asker_epoch = NULL WHERE origin = ? AND agent = ?",
        (kept.status, kept.body, now, now + kept.life_ms, kept.tries, kept.because, origin, agent),
    )
    if kept.status:
        tx.run(ADD_HOST, (host,))
        tx.run("UPDATE host SET crawl_delay_ms = ? WHERE key = ?", (kept.crawl_delay_ms, host))


def limit_host(
    tx: Tx, host: str, *, delay_ms: int | None, concurrency: int | None, actor: str, because: str
) -> HostLook:
    """Set a host's own delay and concurrency for all jobs; None leaves one as it is. Claims see it at once."""
    for (job,) in tx.rows(_MET, (host,)):
        status = read_job(tx, job, locked=True).status
        add_event(tx, control_chunk(tx, job), "job", "limit", status, status, actor=actor, because=because)
        tx.run("UPDATE job SET version = version + 1 WHERE id = ?", (job,))
    tx.run(ADD_HOST, (host,))
    tx.run(
        "UPDATE host SET delay_ms = coalesce(?, delay_ms), conc = coalesce(?, conc) WHERE key = ?",
        (delay_ms, concurrency, host),
    )
    return hosts(tx, host=host, after="", limit=1)[0]


def configure_host(tx: Tx, host: str, *, delay_ms: int | None, concurrency: int | None) -> HostLook:
    """What a file says; where it says what it said before, what people set since stays."""
    tx.run(ADD_HOST, (host,))
    for column, value in (("delay_ms", delay_ms), ("conc", concurrency)):
        if value is not None:
            tx.run(
                f"UPDATE host SET {column} = ?, said_{column} = ? WHERE key = ? "
                f"AND (said_{column} IS NULL OR said_{column} <> ?)",
                (value, value, host, value),
            )
    return hosts(tx, host=host, after="", limit=1)[0]


def hosts(tx: Tx, *, host: str | None, after: str, limit: int) -> list[HostLook]:
    """Hosts by name, page by page, or the one that is named."""
    which, value = ("h.key > ?", after) if host is None else ("h.key = ?", host)
    rows = tx.rows(
        "SELECT h.key, h.delay_ms, h.conc, h.crawl_delay_ms, h.busy, h.next_at, h.hold_until, h.fails, h.trips, "
        "(SELECT max(r.fetched_at) FROM robots r WHERE r.status > 0 "
        f"AND r.origin IN ('http://' || h.key, 'https://' || h.key)) FROM host h WHERE {which} ORDER BY h.key LIMIT ?",
        (value, limit),
    )
    return [
        HostLook(
            host=row[0], delay_ms=row[1], concurrency=row[2], crawl_delay_ms=row[3], in_flight=row[4], next_at=row[5],
            hold_until=row[6], fails=row[7], trips=row[8], robots_at=row[9],
        )
        for row in rows
    ]  # fmt: skip


def _hold_fast(tx: Tx, claimed: Claimed) -> None:
    """The fence. The lock makes the end of this lease wait for what is done under it."""
    sql = f"SELECT 1 FROM chunk WHERE {STILL_OURS} {tx.lock('chunk')}"
    if one(tx, sql, (claimed.chunk, claimed.epoch)) is None:
        raise LostLease(f"chunk {claimed.chunk} is held by another worker now")


def _robots_row(tx: Tx, origin: str, agent: str, *, locked: bool = False) -> Row | None:
    """(status, body, fetched_at, expires_at, tries, because, asker, asker_epoch)"""
    return one(
        tx,
        "SELECT status, body, fetched_at, expires_at, tries, because, asker, asker_epoch FROM robots "
        f"WHERE origin = ? AND agent = ? {tx.lock('robots') if locked else ''}",
        (origin, agent),
    )


def _is_fresh(tx: Tx, row: Row) -> bool:
    """A moment that lies ahead is of a clock that was set back since."""
    return bool(row[3] > tx.wall() and row[2] <= tx.wall() + LEAP_MS)


def _kept(tx: Tx, row: Row) -> KeptRobots:
    return KeptRobots(status=row[0], body=bytes(row[1]), tries=row[4], because=row[5], life_ms=row[3] - tx.wall())


def _is_asking(tx: Tx, asker: int | None, epoch: int | None) -> bool:
    return asker is not None and one(tx, f"SELECT 1 FROM chunk WHERE {STILL_OURS}", (asker, epoch)) is not None

"""Claiming: the next targets of due lanes, each attempt spent in the claim's own transaction.

A claim takes only what is due now and never reserves the future: a dead worker wastes one slot per host at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from holdfast.ledger.books import add_entry, count
from holdfast.ledger.tx import NO_HOST, Row, Tx, marks, one, padded
from holdfast.ledger.verbs.due_time import FAR_FUTURE, set_back_host
from holdfast.ledger.verbs.exclude import leave_out
from holdfast.model.claim import SettleAnswer, Wish
from holdfast.model.job import FETCHING
from holdfast.model.lease import Lease
from holdfast.model.target import Claimed
from holdfast.policy.exclusion import ExclusionRules

BUSY_POLL_MS = 50
PROMOTE_MAX = 64
SUSPECTS_LOOKED_AT = 64
RANK_MAX = 1 << 60
HANDS_MAX = 1 << 30  # where no host is asked, there is no limit but the hands
BEGUN = ("succeeded", "failed", "in_progress")
# The fence. Every write of a worker goes through it; a chunk without an owner accepts no write, whatever its epoch.
STILL_OURS = "id = ? AND epoch = ? AND owner_pid IS NOT NULL"

CLAIMED_COLUMNS = (
    "t.id, l.chunk, t.key, l.origin, t.path, h.key, t.type, t.depth, t.parent, t.hops, t.attempts, t.gen, t.alone"
)
NAMES_PER_QUERY = 256


def claimed_from(row: Row, epoch: int, delay_ms: int) -> Claimed:
    return Claimed(
        id=row[0], chunk=row[1], epoch=epoch, key=bytes(row[2]), url=row[3] + row[4], host=row[5], type=row[6],
        depth=row[7], parent=row[8], hops=row[9], attempts=row[10], generation=row[11], alone=bool(row[12]),
        delay_ms=delay_ms,
    )  # fmt: skip


def with_names(tx: Tx, claimed: Sequence[Claimed]) -> list[Claimed]:
    """The same targets with the names and params that were stored beside them, where there are any."""
    known: dict[int, Row] = {}
    for start in range(0, len(claimed), NAMES_PER_QUERY):
        ids = padded([item.id for item in claimed[start : start + NAMES_PER_QUERY]])
        rows = tx.rows(f"SELECT target, name, params FROM named WHERE target IN ({marks(ids)})", ids)
        known.update((row[0], row) for row in rows)
    return [
        msgspec.structs.replace(item, name=known[item.id][1] or "", params=known[item.id][2] or "")
        if item.id in known
        else item
        for item in claimed
    ]


class ChunkRow(NamedTuple):
    """A chunk's row as it was locked when this transaction began; `epoch` is None if it has no owner."""

    no: int
    epoch: int | None
    requested: str | None
    phase: str
    ruled: bool  # whether its job has exclusions


@dataclass(slots=True)
class Host:
    """A host's row while a claim looks at it; written back once if it changed."""

    id: int
    key: str
    conc: int
    delay_ms: int
    own_delay_ms: int  # asked for by its robots.txt or set for it, whatever the job's pace
    busy: int
    ready_at: int
    taken: int = 0

    def room(self, now: int) -> int:
        return 0 if self.ready_at > now else max(0, self.conc - self.busy)


def fence(tx: Tx, lease_chunk: int, epoch: int, no: int | None = None) -> Row | None:
    """Raise the chunk's number if it is still ours: (no, requested, phase). No row: the lease is lost."""
    numbered = "" if no is None else "AND no = ?"
    return one(
        tx,
        f"UPDATE chunk SET no = no + 1, at = ? WHERE {STILL_OURS} {numbered} RETURNING no, requested, phase",
        (tx.wall(), lease_chunk, epoch) if no is None else (tx.wall(), lease_chunk, epoch, no - 1),
    )


class Claim:
    """One wish being fulfilled inside a settle's transaction."""

    def __init__(
        self,
        tx: Tx,
        job: int,
        wish: Wish,
        answers: dict[int, SettleAnswer],
        rows: Mapping[int, ChunkRow],
        rules: ExclusionRules | None,
    ) -> None:
        self._tx, self._wish, self._answers, self._rows, self._rules = tx, wish, answers, rows, rules
        self._rank_max = lowest_rank(tx, job) if wish.in_levels else RANK_MAX
        self._fenced = {chunk for chunk, answer in answers.items() if answer.kind == "settled"}
        self._hosts: dict[int, Host] = {}
        self._now = tx.wall()
        self._pages_left = self._left_of_limit(job)
        self.claimed: list[Claimed] = []

    def fulfil(self) -> None:
        for lease in self._by_suspects() if self._wish.alone else self._wish.leases:
            self._visit(lease)
        self._write_hosts()

    def _left_of_limit(self, job: int) -> int | None:
        """How many more pages may be begun; None: any number. The limit is one of the first phase."""
        pages_max, in_first = self._wish.pages_max, any(row.phase == FETCHING for row in self._rows.values())
        return None if pages_max is None or not in_first else pages_max - pages_begun(self._tx, job, self._wish.made)

    def _by_suspects(self) -> list[Lease]:
        """The wished leases, the one with the suspect to be tried first before the others; without suspects: none."""
        order = [chunk for _, _, _, chunk in self._suspects([lease.chunk for lease in self._wish.leases])]
        rank = {chunk: place for place, chunk in reversed(list(enumerate(order)))}
        for lease in self._wish.leases:
            self._answers.setdefault(lease.chunk, self._look(lease))
        return sorted((item for item in self._wish.leases if item.chunk in rank), key=lambda item: rank[item.chunk])

    def _visit(self, lease: Lease) -> None:
        """Claim from one chunk, unless it was lost, replayed, asked to stop, or has nothing due."""
        answer = self._answers.get(lease.chunk)
        if answer is None:
            answer = self._answers[lease.chunk] = self._look(lease)
        if answer.kind != "settled" or answer.requested is not None or self._room() <= 0:
            return
        candidates = self._candidates(lease, answer.phase)
        if not candidates:
            return
        numbered = lease.chunk in self._fenced
        if not numbered:
            row = fence(self._tx, lease.chunk, lease.epoch)
            if row is None:
                self._answers[lease.chunk] = SettleAnswer("lost")
                return
            answer = self._answers[lease.chunk] = SettleAnswer("settled", row[0], row[1], row[2])
        before = len(self.claimed)
        if answer.requested is None:
            self._take(lease, candidates)
        if not numbered:
            n = len(self.claimed) - before
            add_entry(self._tx, lease.chunk, answer.no, lease.epoch, "claim", n=n)

    def _candidates(self, lease: Lease, phase: str) -> list[Row]:
        """Suspects or due lanes whose host may be asked now. A polite crawl looks often and finds none: no entry then.

        A lane that must wait is told until when. That is a hint and needs no fence: the host's own row decides.
        """
        if self._wish.alone:
            return [row for row in self._suspects([lease.chunk]) if self._host(row[1]).room(self._now) > 0]
        ready = []
        for row in self._lanes(lease, phase):
            due = self._due_later(row[0], self._host(row[1]))
            if due is None:
                ready.append(row)
            else:
                self._tx.run("UPDATE lane SET due = ? WHERE id = ?", (due, row[0]))
        return ready

    def _due_later(self, lane: int, host: Host) -> int | None:
        """When to look at this lane again; None: it may be claimed from now."""
        if host.room(self._now) <= 0:
            return host.ready_at if host.ready_at > self._now else self._now + BUSY_POLL_MS
        sql = (
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM target WHERE lane = ? AND state = 0 AND rank <= ?) "
            "OR EXISTS (SELECT 1 FROM target WHERE lane = ? AND state = 1 AND not_before <= ? AND rank <= ?)"
        )
        if one(self._tx, sql, (lane, self._rank_max, lane, self._now, self._rank_max)) is not None:
            return None
        return self._now + BUSY_POLL_MS if self._wish.in_levels else self._next_due(lane)

    def _take(self, lease: Lease, candidates: list[Row]) -> None:
        for row in candidates:
            if self._room() <= 0:
                return
            if self._wish.alone:
                self._take_suspect(lease, row)
            else:
                self._take_lane(lease, row)

    def _room(self) -> int:
        room = 1 if self._wish.alone else self._wish.room
        return (room if self._pages_left is None else min(room, self._pages_left)) - len(self.claimed)

    @property
    def pages_left(self) -> int | None:
        """How many more may be claimed under the page limit, after this claim."""
        return None if self._pages_left is None else self._pages_left - len(self.claimed)

    def _look(self, lease: Lease) -> SettleAnswer:
        row = self._rows.get(lease.chunk)
        if row is None or row.epoch != lease.epoch:
            return SettleAnswer("lost")
        return SettleAnswer("settled", row.no, row.requested, row.phase)

    def _lanes(self, lease: Lease, phase: str) -> list[Row]:
        return self._tx.rows(
            "SELECT id, host FROM lane WHERE chunk = ? AND phase = ? AND todo > 0 AND due <= ? ORDER BY due, id "
            f"LIMIT ? {self._tx.skip_locked()}",
            (lease.chunk, phase, self._now, max(1, self._room())),
        )

    def _suspects(self, chunks: list[int]) -> list[Row]:
        """(target, host, lane, chunk) of suspects: fewest deaths first, then least recently tried.

        A rollback leaves no time of the last try, and PostgreSQL would sort that last."""
        return self._tx.rows(
            "SELECT t.id, l.host, t.lane, l.chunk FROM target t CROSS JOIN lane l CROSS JOIN chunk c WHERE t.state = 2 "
            f"AND l.id = t.lane AND c.id = l.chunk AND l.phase = c.phase AND l.chunk IN ({marks(chunks)}) "
            "ORDER BY t.deaths, coalesce(t.tried_at, 0), t.id LIMIT ?",
            (*chunks, SUSPECTS_LOOKED_AT),
        )

    def _take_suspect(self, lease: Lease, row: Row) -> None:
        """Its lane is locked first: an operator's verb may have settled it since it was seen."""
        target, host, lane, _ = row
        if one(self._tx, f"SELECT id FROM lane WHERE id = ? {self._tx.skip_locked()}", (lane,)) is not None:
            rows = self._claimable("t.id = ? AND t.state = 2", (target,))
            self._hold(lease, lane, self._host(host), rows, alone=True)

    def _take_lane(self, lease: Lease, row: Row) -> None:
        """The first ready targets of one due lane; a lane that gives none is told when to be looked at again."""
        lane, host = row[0], self._host(row[1])
        room = min(host.room(self._now), self._room())
        if room <= 0:  # an earlier lane of this claim took the host's last slot
            return
        self._promote(lane)
        wanted = 1 if host.delay_ms > 0 else room
        rows = self._claimable(
            "t.lane = ? AND t.state = 0 AND t.rank <= ? ORDER BY t.rank, t.id LIMIT ?", (lane, self._rank_max, wanted)
        )
        self._hold(lease, lane, host, rows, alone=False)
        due = self._next_due(lane) if len(rows) < wanted else self._now + host.delay_ms
        if self._wish.in_levels and len(rows) < wanted:
            due = self._now + BUSY_POLL_MS  # what is ready here may be of a later level
        self._tx.run("UPDATE lane SET due = ? WHERE id = ?", (due, lane))

    def _promote(self, lane: int) -> None:
        self._tx.run(
            "UPDATE target SET state = 0, not_before = NULL, because = NULL WHERE id IN (SELECT id FROM target "
            "WHERE lane = ? AND state = 1 AND not_before <= ? ORDER BY not_before LIMIT ?)",
            (lane, self._now, PROMOTE_MAX),
        )

    def _next_due(self, lane: int) -> int:
        """A lane with nothing ready sleeps until its first waiting target; one with suspects only is not due."""
        row = one(self._tx, "SELECT min(not_before) FROM target WHERE lane = ? AND state = 1", (lane,))
        return FAR_FUTURE if row is None or row[0] is None else int(row[0])

    def _claimable(self, condition: str, parameters: Sequence[Any]) -> list[Sequence[Any]]:
        joined = "FROM target t JOIN lane l ON l.id = t.lane JOIN host h ON h.id = l.host"
        return self._tx.bulk(CLAIMED_COLUMNS.split(", "), f"{joined} WHERE {condition}", parameters, blob=2)

    def _hold(self, lease: Lease, lane: int, host: Host, rows: list[Sequence[Any]], *, alone: bool) -> None:
        """`rows` are as they stand before this claim, which spends an attempt of each."""
        if rows and self._rules is not None:
            rows = self._allowed(lease, rows, self._rules)
        if not rows:
            return
        tx, ids = self._tx, padded([row[0] for row in rows])
        tx.run(
            "UPDATE target SET state = 3, attempts = attempts + 1, held_epoch = ?, tried_at = ?, alone = ? "
            f"WHERE id IN ({marks(ids)})",
            (lease.epoch, self._now, int(alone), *ids),
        )
        tx.run("UPDATE lane SET todo = todo - ?, held = held + ? WHERE id = ?", (len(rows), len(rows), lane))
        for row in rows:
            count(tx, lease.chunk, row[6], "pending", "", -1)
            count(tx, lease.chunk, row[6], "in_progress", "", 1)
            self.claimed.append(claimed_from((*row[:10], row[10] + 1, row[11], alone), lease.epoch, host.own_delay_ms))
        host.taken += len(rows)
        host.busy += len(rows)
        if host.delay_ms > 0:
            host.ready_at = self._now + host.delay_ms

    def _allowed(self, lease: Lease, rows: list[Sequence[Any]], rules: ExclusionRules) -> list[Sequence[Any]]:
        """What was in hand, or waited, when an exclusion was added comes back: it is left out here and not claimed."""
        ruled = {row[0]: rule for row in rows if (rule := rules.rule_for(row[4])) is not None}
        if ruled:
            commit = (lease.chunk, self._answers[lease.chunk].no, lease.epoch)
            leave_out(self._tx, commit, ruled, actor="worker")
        return [row for row in rows if row[0] not in ruled]

    def _host(self, host: int) -> Host:
        known = self._hosts.get(host)
        if known is None:
            known = self._hosts[host] = self._read_host(host)
        return known

    def _read_host(self, host: int) -> Host:
        """The host's row, locked. No host has no row to lock: else workers would wait for each other there."""
        if host == NO_HOST:
            return Host(id=host, key="", conc=HANDS_MAX, delay_ms=0, own_delay_ms=0, busy=0, ready_at=0)
        row = one(
            self._tx,
            "SELECT key, conc, delay_ms, crawl_delay_ms, busy, next_at, hold_until, set_at FROM host WHERE id = ? "
            + self._tx.skip_locked(),
            (host,),
        )
        if row is None:  # another job is at this host's row just now: never wait for one with others in hand
            return Host(id=host, key="", conc=0, delay_ms=0, own_delay_ms=0, busy=0, ready_at=0)
        key, conc, delay_ms, crawl_delay_ms, busy, next_at, hold_until, set_at = row
        own_delay_ms = max(delay_ms or 0, crawl_delay_ms or 0)
        back = set_back_host(self._tx, host, set_at)
        return Host(
            id=host,
            key=key,
            conc=min(self._wish.per_host, conc) if conc else self._wish.per_host,
            delay_ms=max(self._wish.delay_ms, own_delay_ms),
            own_delay_ms=own_delay_ms,
            busy=busy,
            ready_at=max(next_at, hold_until) - back,
        )

    def _write_hosts(self) -> None:
        rows = [
            (host.taken, self._now + host.delay_ms, self._now, host.id)
            for host in sorted(self._hosts.values(), key=lambda item: item.id)
            if host.taken and host.id != NO_HOST
        ]
        self._tx.many("UPDATE host SET busy = busy + ?, next_at = ?, set_at = ? WHERE id = ?", rows)


def lowest_rank(tx: Tx, job: int) -> int:
    """The lowest rank that is not settled anywhere in the job, held targets of other workers included."""
    ready = (
        "SELECT min((SELECT t.rank FROM target t WHERE t.lane = l.id AND t.state = 0 ORDER BY t.rank LIMIT 1)) "
        "FROM lane l JOIN chunk c ON c.id = l.chunk WHERE c.job = ? AND l.phase = c.phase AND l.todo > 0"
    )
    others = (
        "SELECT min(t.rank) FROM target t CROSS JOIN lane l CROSS JOIN chunk c WHERE t.state = {state} "
        "AND l.id = t.lane AND c.id = l.chunk AND l.phase = c.phase AND c.job = ?"
    )
    found = [one(tx, sql, (job,)) for sql in (ready, *(others.format(state=state) for state in (1, 2, 3)))]
    return min((int(row[0]) for row in found if row is not None and row[0] is not None), default=RANK_MAX)


def pages_begun(tx: Tx, job: int, made: tuple[str, ...] = ()) -> int:
    """Targets that a worker holds or that came to an end: what a page limit counts. Summed from the tallies,
    those of the types `made` left out.

    Exact only after Tx.take_turns: then no other worker's claim is under way.
    """
    row = one(
        tx,
        "SELECT sum(t.n) FROM chunk c CROSS JOIN tally t WHERE c.job = ? AND t.chunk = c.id "
        f"AND t.status IN ({marks(BEGUN)})" + (f" AND t.type NOT IN ({marks(made)})" if made else ""),
        (job, *BEGUN, *made),
    )
    stored = 0 if row is None or row[0] is None else int(row[0])
    return stored + sum(
        delta for (_, kind, status, _), delta in tx.tallies.items() if status in BEGUN and kind not in made
    )


def suspects_waiting(tx: Tx, wish: Wish) -> int:
    """Suspects in the wished chunks. CROSS JOIN keeps SQLite on the tiny index of suspects, whatever the lanes."""
    chunks = [lease.chunk for lease in wish.leases]
    row = one(
        tx,
        "SELECT count(*) FROM target t CROSS JOIN lane l CROSS JOIN chunk c WHERE t.state = 2 AND l.id = t.lane "
        f"AND c.id = l.chunk AND l.phase = c.phase AND l.chunk IN ({marks(chunks)})",
        chunks,
    )
    return 0 if row is None else int(row[0])


def next_due_ms(tx: Tx, wish: Wish) -> int | None:
    """How long until a lane of these chunks may have work; None where nothing is pending in them."""
    chunks = [lease.chunk for lease in wish.leases]
    # One seek per chunk, whatever the number of lanes: a polite crawl asks this several times a second.
    row = one(
        tx,
        "SELECT min((SELECT l.due FROM lane l WHERE l.chunk = c.id AND l.phase = c.phase AND l.todo > 0 "
        f"ORDER BY l.due LIMIT 1)) FROM chunk c WHERE c.id IN ({marks(chunks)})",
        chunks,
    )
    return None if row is None or row[0] is None else max(0, int(row[0]) - tx.wall())

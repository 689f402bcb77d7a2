"""The laws of books and of the job as a whole: counters, parents, the plan, the end, requests, versions, liveness.

A job in progress whose lanes are empty is not reported: its worker may have died just before the last word, and the
next one says it.
"""

from __future__ import annotations

from holdfast.audit.law import (
    CANCELLED,
    ENTRIES,
    FAILED,
    HELD,
    PENDING,
    READY,
    SKIPPED,
    SUCCEEDED,
    WAITING,
    Invariant,
)
from holdfast.model.job import PHASES
from holdfast.model.states import WIRE_STATUS

NEVER_MS = 100_000_000_000_000  # a due time after this (the year 5138) means that no worker will ever come
FOREVER_MS = 1 << 62

_STATUS = "CASE state " + " ".join(f"WHEN {int(s)} THEN '{status}'" for s, status in WIRE_STATUS.items()) + " END"
_REASON = (
    f"CASE WHEN state IN ({SUCCEEDED}, {SKIPPED}) THEN coalesce(disposition, '') "
    f"WHEN state = {FAILED} THEN coalesce(code, '') ELSE '' END"
)


def _place(column: str) -> str:
    """A phase's place in the order of phases; -1 for an unknown one."""
    return f"CASE {column} " + " ".join(f"WHEN '{name}' THEN {n}" for n, name in enumerate(PHASES)) + " ELSE -1 END"


# From each request to the next move into `in_progress`. A request is stamped after it has waited for running settles,
# so a lawful claim is never later than it; a claim that slipped through with an older stamp cannot be seen in rows.
# `back` is where a chunk's time was set back between two commits: what lies in such a step may be before or after.
_CLOSED = (
    "WITH closed AS MATERIALIZED (SELECT v.at AS begun, coalesce((SELECT o.at FROM event o WHERE o.chunk = v.chunk "
    "AND o.seq > v.seq AND o.thing = 'job' AND o.target = 'in_progress' AND o.source <> o.target "
    f"ORDER BY o.seq LIMIT 1), {FOREVER_MS}) AS ended FROM event v "
    "JOIN chunk k ON k.id = v.chunk WHERE k.job = ? AND v.thing = 'job' "
    "AND v.verb IN ('request_pause', 'request_cancel', 'rollback')), back AS MATERIALIZED (SELECT g.chunk, "
    "g.at AS high, h.at AS low FROM entry g JOIN chunk k ON k.id = g.chunk JOIN entry h ON h.chunk = g.chunk "
    "AND h.no = g.no + 1 WHERE k.job = ? AND h.at < g.at)"
)


def _claimed_between(at: str, epoch: str) -> str:
    """In the window by a clock that is known not to have been set back over it, under a lease not granted after it.

    A lease that stands is judged when it ends: its last commit tells whether the clock went back meanwhile.
    """
    return (
        f"{at} > w.begun AND {at} < w.ended AND (c.owner_pid IS NULL OR c.epoch > {epoch}) "
        f"AND NOT EXISTS (SELECT 1 FROM back b WHERE b.chunk = c.id AND b.low < {at} AND b.high >= {at}) "
        f"AND NOT EXISTS (SELECT 1 FROM entry g WHERE g.chunk = c.id AND g.epoch = {epoch} AND g.verb = 'lease' "
        "AND g.at >= w.ended)"
    )


LAWS = (
    Invariant(
        "L8.tally",
        "Stored counters, summed over chunks, are the counts of the rows by type, status and reason.",
        "SELECT type, status, reason, sum(n) FROM (SELECT y.type, y.status, y.reason, y.n FROM tally y JOIN chunk c "
        f"ON c.id = y.chunk WHERE c.job = ? UNION ALL SELECT type, {_STATUS}, {_REASON}, -count(*) FROM target "
        f"WHERE job = ? GROUP BY type, {_STATUS}, {_REASON}) s GROUP BY type, status, reason HAVING sum(n) <> 0",
    ),
    Invariant(
        "L8.lane",
        "A lane counts its pending targets and those in hand.",
        "SELECT l.id, l.todo, coalesce(s.todo, 0), l.held, coalesce(s.held, 0) FROM lane l JOIN chunk c "
        f"ON c.id = l.chunk LEFT JOIN (SELECT lane, sum(CASE WHEN state IN ({PENDING}) THEN 1 ELSE 0 END) AS todo, "
        f"sum(CASE WHEN state = {HELD} THEN 1 ELSE 0 END) AS held FROM target WHERE job = ? GROUP BY lane) s "
        "ON s.lane = l.id WHERE c.job = ? AND (l.todo <> coalesce(s.todo, 0) OR l.held <> coalesce(s.held, 0))",
    ),
    Invariant(
        "L8.host",
        "A host is busy with what all jobs together have in hand there, and with their visits from elsewhere. Lanes "
        "without a host are never busy.",
        "SELECT h.key, h.busy, coalesce(s.held, 0) FROM host h LEFT JOIN (SELECT l.host, count(*) AS held "
        f"FROM target t JOIN lane l ON l.id = t.lane WHERE t.state = {HELD} GROUP BY l.host) s ON s.host = h.id "
        "LEFT JOIN (SELECT host, count(*) AS visits FROM visit GROUP BY host) v ON v.host = h.id "
        "WHERE h.id IN (SELECT l.host FROM lane l JOIN chunk c ON c.id = l.chunk WHERE c.job = ?) "
        "AND h.busy <> CASE WHEN h.key = '' THEN 0 ELSE coalesce(s.held, 0) + coalesce(v.visits, 0) END",
    ),
    Invariant(
        "L9.parent",
        "A target was planned, or found by the commit that ended an attempt at its parent.",
        "SELECT t.id, t.parent, t.found_chunk, t.found_no, e.verb FROM target t LEFT JOIN entry e "
        "ON e.chunk = t.found_chunk AND e.no = t.found_no LEFT JOIN attempt a ON a.chunk = t.found_chunk "
        "AND a.no = t.found_no AND a.target = t.parent WHERE t.job = ? "
        "AND ((t.parent IS NULL AND e.verb <> 'plan') OR (t.parent IS NOT NULL AND a.target IS NULL))",
    ),
    Invariant(
        "L9.plan",
        "The job says that its plan is done when the plan does, and the plan has its own chunk.",
        "SELECT j.id, j.plan_done, p.done, c.id FROM job j LEFT JOIN plan p ON p.job = j.id LEFT JOIN chunk c "
        "ON c.id = p.chunk AND c.job = j.id AND c.kind = 'plan' WHERE j.id = ? "
        "AND (c.id IS NULL OR p.done <> j.plan_done)",
    ),
    Invariant(
        "L10.completed",
        "A completed job has plan and walks done, nothing pending, held or cancelled, empty lanes, a health, an end.",
        "SELECT j.id, j.plan_done, j.health, j.finished_at FROM job j JOIN plan p ON p.job = j.id WHERE j.id = ? "
        "AND j.status = 'completed' AND (p.done = 0 OR j.health IS NULL OR j.finished_at IS NULL OR EXISTS (SELECT 1 "
        f"FROM target t WHERE t.job = j.id AND t.state IN ({PENDING}, {HELD}, {CANCELLED})) OR EXISTS (SELECT 1 "
        "FROM lane l JOIN chunk c ON c.id = l.chunk WHERE c.job = j.id AND (l.todo <> 0 OR l.held <> 0)) "
        "OR EXISTS (SELECT 1 FROM walk w WHERE w.job = j.id))",
    ),
    Invariant(
        "L11.request",
        "A request and the phase stand on every chunk of the job as on the job itself.",
        "SELECT c.id, c.requested, j.requested, c.phase, j.phase FROM chunk c JOIN job j ON j.id = c.job "
        "WHERE j.id = ? AND (coalesce(c.requested, '') <> coalesce(j.requested, '') OR c.phase <> j.phase)",
    ),
    Invariant(
        "L11.claims",
        "Nothing is claimed between a request or a rollback and the next start or resume.",
        f"{_CLOSED} SELECT 'claim', e.chunk, e.no, e.at FROM {ENTRIES} CROSS JOIN closed w WHERE c.job = ? "
        f"AND e.verb = 'claim' AND e.n > 0 AND {_claimed_between('e.at', 'e.epoch')} "
        "UNION ALL SELECT 'target', t.id, t.last_no, t.tried_at FROM target t JOIN lane l ON l.id = t.lane "
        "JOIN chunk c ON c.id = l.chunk LEFT JOIN entry a ON a.chunk = t.last_chunk AND a.no = t.last_no "
        f"CROSS JOIN closed w WHERE t.job = ? AND {_claimed_between('t.tried_at', 'coalesce(t.held_epoch, a.epoch)')}",
    ),
    Invariant(
        "L12.version",
        "A job's version is the number of its events: no two commands moved one version.",
        "SELECT j.id, j.version, count(v.seq) FROM job j JOIN chunk c ON c.job = j.id LEFT JOIN event v "
        "ON v.chunk = c.id AND v.thing = 'job' WHERE j.id = ? GROUP BY j.id, j.version "
        "HAVING j.version <> count(v.seq)",
    ),
    Invariant(
        "L13.lane",
        "A lane with ready or waiting targets will be looked at again, in a phase that there is.",
        "SELECT l.id, l.phase, l.due, count(*) FROM lane l JOIN chunk c ON c.id = l.chunk JOIN job j ON j.id = c.job "
        f"JOIN target t ON t.lane = l.id AND t.state IN ({READY}, {WAITING}) WHERE j.id = ? AND (l.due > {NEVER_MS} OR "
        f"{_place('l.phase')} < 0 OR {_place('j.phase')} < 0) GROUP BY l.id, l.phase, l.due",
    ),
)

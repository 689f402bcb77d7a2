"""The laws of commits: one result per key, attempts spent and refunded, the fence, commit numbers, attempt chains."""

from __future__ import annotations

from holdfast.audit.law import (
    ATTEMPTS,
    CANCELLED,
    ENTRIES,
    FAILED,
    HELD,
    LEFT_OUT,
    READY,
    SETTLED,
    SKIPPED,
    SOLO,
    SUCCEEDED,
    UNDONE,
    WAITING,
    Invariant,
)

OWNER_COLUMNS = ("owner_host", "owner_boot", "owner_ns", "owner_pid", "owner_start", "until")
_OWNER_PARTS = " + ".join(f"CASE WHEN {column} IS NULL THEN 0 ELSE 1 END" for column in OWNER_COLUMNS)

# What carries a commit: what for, the table, its target, and the columns of chunk and number.
CARRIERS = (
    ("found", "target", "id", "found_chunk", "found_no"),
    ("done", "target", "id", "done_chunk", "done_no"),
    ("last", "target", "id", "last_chunk", "last_no"),
    ("attempt", "attempt", "target", "chunk", "no"),
    ("record", "record", "target", "chunk", "no"),
    ("artifact", "artifact", "target", "chunk", "no"),
    ("undo", "undo", "target", "chunk", "no"),
    ("external", "external_link", "target", "found_chunk", "found_no"),
)

LAWS = (
    Invariant(
        "L2.key",
        "A job has one target per key.",
        "SELECT key, count(*) FROM target WHERE job = ? GROUP BY key HAVING count(*) > 1",
    ),
    Invariant(
        "L2.result",
        "A body belongs to a target that succeeded, a record to one that succeeded or was skipped.",
        "SELECT t.id, t.state, 'body', b.gen FROM target t JOIN body b ON b.target = t.id WHERE t.job = ? "
        f"AND (b.gen > t.gen OR (b.gen = t.gen AND t.state <> {SUCCEEDED})) UNION ALL "
        "SELECT t.id, t.state, 'record', r.gen FROM target t JOIN record r ON r.target = t.id WHERE t.job = ? "
        f"AND (r.gen > t.gen OR (r.gen = t.gen AND t.state NOT IN ({SUCCEEDED}, {SKIPPED})))",
    ),
    Invariant(
        "L2.records",
        "The records of one result are numbered 0, 1, 2 … and come from one commit.",
        "SELECT r.target, r.gen, count(*), min(r.n), max(r.n) FROM record r JOIN chunk c ON c.id = r.chunk "
        "WHERE c.job = ? GROUP BY r.target, r.gen HAVING min(r.n) <> 0 OR max(r.n) <> count(*) - 1 "
        "OR min(r.no) <> max(r.no) OR min(r.chunk) <> max(r.chunk)",
    ),
    Invariant(
        "L4.spent",
        "A target's attempts are its attempt rows, less the refunded ones, plus the one in hand.",
        "SELECT t.id, t.state, t.attempts, coalesce(s.spent, 0) FROM target t LEFT JOIN "
        f"(SELECT a.target, a.gen, sum(1 - a.refunded) AS spent FROM {ATTEMPTS} WHERE c.job = ? "
        "GROUP BY a.target, a.gen) s ON s.target = t.id AND s.gen = t.gen WHERE t.job = ? "
        f"AND t.attempts <> coalesce(s.spent, 0) + CASE WHEN t.state = {HELD} THEN 1 ELSE 0 END",
    ),
    Invariant(
        "L4.number",
        "Each attempt row is numbered one above the attempts spent before it.",
        "SELECT * FROM (SELECT a.target, a.chunk, a.no, a.n, coalesce(sum(1 - a.refunded) OVER "
        "(PARTITION BY a.target, a.gen ORDER BY a.no ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS spent "
        f"FROM {ATTEMPTS} WHERE c.job = ?) s WHERE s.n <> s.spent + 1",
    ),
    Invariant(
        "L4.refund",
        "An attempt handed back is refunded, one lost may be, and no other is.",
        f"SELECT a.target, a.chunk, a.no, a.outcome, a.refunded FROM {ATTEMPTS} WHERE c.job = ? AND CASE a.outcome "
        "WHEN 'handed_back' THEN a.refunded <> 1 WHEN 'lost' THEN a.refunded NOT IN (0, 1) ELSE a.refunded <> 0 END",
    ),
    Invariant(
        "L5.holder",
        "A target in hand carries its chunk's current epoch, and the chunk has an owner; no other carries one.",
        "SELECT t.id, t.state, t.held_epoch, c.epoch, c.owner_pid FROM target t JOIN lane l ON l.id = t.lane "
        f"JOIN chunk c ON c.id = l.chunk WHERE t.job = ? AND ((t.state <> {HELD} AND t.held_epoch IS NOT NULL) OR "
        f"(t.state = {HELD} AND (coalesce(t.held_epoch, -1) <> c.epoch OR c.owner_pid IS NULL)))",
    ),
    Invariant(
        "L5.owner",
        "A chunk names its owner in full and until when, or not at all.",
        f"SELECT id, {', '.join(OWNER_COLUMNS)} FROM chunk WHERE job = ? "
        f"AND {_OWNER_PARTS} NOT IN (0, {len(OWNER_COLUMNS)})",
    ),
    Invariant(
        "L5.epoch",
        "A chunk's epoch is the number of its leases and rollbacks: it rises by one with each and never otherwise.",
        "SELECT * FROM (SELECT e.chunk, e.no, e.verb, e.epoch, coalesce(lag(e.epoch) OVER "
        "(PARTITION BY e.chunk ORDER BY e.no), 0) AS earlier "
        f"FROM {ENTRIES} WHERE c.job = ?) s "
        "WHERE s.epoch <> s.earlier + CASE WHEN s.verb IN ('lease', 'rollback') THEN 1 ELSE 0 END UNION ALL "
        "SELECT c.id, c.no, 'chunk', c.epoch, count(e.no) FROM chunk c LEFT JOIN entry e ON e.chunk = c.id "
        "AND e.verb IN ('lease', 'rollback') WHERE c.job = ? GROUP BY c.id, c.no, c.epoch "
        "HAVING c.epoch <> count(e.no)",
    ),
    Invariant(
        "L5.lease",
        "A chunk is leased by one at a time, and settles, claims, plans and finishes only while it is.",
        "SELECT * FROM (SELECT e.chunk, e.no, e.verb, e.epoch, sum(CASE e.verb WHEN 'lease' THEN 1 WHEN 'release' "
        "THEN -1 WHEN 'rescue' THEN -1 ELSE 0 END) OVER (PARTITION BY e.chunk ORDER BY e.no) AS held "
        f"FROM {ENTRIES} WHERE c.job = ?) s WHERE s.held NOT IN (0, 1) "
        "OR (s.held = 0 AND s.verb IN ('settle', 'claim', 'plan', 'advance', 'finish'))",
    ),
    Invariant(
        "L6.numbers",
        "The commit numbers of a chunk are 1 to its last without gaps.",
        "SELECT c.id, c.no, count(e.no), min(e.no), max(e.no) FROM chunk c LEFT JOIN entry e ON e.chunk = c.id "
        "WHERE c.job = ? GROUP BY c.id, c.no HAVING count(e.no) <> c.no OR min(e.no) <> 1 OR max(e.no) <> c.no",
    ),
    Invariant(
        "L6.found",
        "The commit that found a target exists, and planned or settled.",
        "SELECT t.id, t.found_chunk, t.found_no, e.verb FROM target t LEFT JOIN chunk c ON c.id = t.found_chunk "
        "AND c.job = t.job LEFT JOIN entry e ON e.chunk = c.id AND e.no = t.found_no WHERE t.job = ? "
        "AND coalesce(e.verb, '') NOT IN ('plan', 'settle')",
    ),
    Invariant(
        "L6.done",
        "The commit that settled a target exists, and was of a kind that may end so.",
        "SELECT t.id, t.state, t.done_chunk, t.done_no, e.verb FROM target t LEFT JOIN chunk c ON c.id = t.done_chunk "
        "AND c.job = t.job LEFT JOIN entry e ON e.chunk = c.id AND e.no = t.done_no WHERE t.job = ? "
        f"AND t.state IN ({SETTLED}) AND t.done_no IS NOT NULL AND NOT CASE t.state "
        f"WHEN {SUCCEEDED} THEN coalesce(e.verb, '') = 'settle' "
        f"WHEN {SKIPPED} THEN coalesce(e.verb, '') IN ('settle', 'plan') "
        f"OR ({LEFT_OUT} AND coalesce(e.verb, '') IN ('exclude', 'claim')) "
        f"WHEN {FAILED} THEN coalesce(e.verb, '') IN ('settle', 'rescue') ELSE coalesce(e.verb, '') = 'cancel' END",
    ),
    Invariant(
        "L6.last",
        "A target points at its newest attempt.",
        "SELECT t.id, t.last_chunk, t.last_no, s.no FROM target t JOIN lane l ON l.id = t.lane LEFT JOIN "
        f"(SELECT a.target, max(a.no) AS no FROM {ATTEMPTS} WHERE c.job = ? GROUP BY a.target) s ON s.target = t.id "
        "WHERE t.job = ? AND (coalesce(t.last_no, 0) <> coalesce(s.no, 0) OR t.last_chunk <> l.chunk)",
    ),
    Invariant(
        "L6.attempts",
        "A settle, rescue or release has as many attempts as it says, unless it was undone; no other has any.",
        f"{UNDONE} SELECT e.chunk, e.no, e.verb, e.n, count(a.target) FROM {ENTRIES} "
        "LEFT JOIN attempt a ON a.chunk = e.chunk AND a.no = e.no WHERE c.job = ? AND NOT EXISTS (SELECT 1 "
        "FROM undone d WHERE d.chunk = e.chunk AND d.kept < e.no AND d.upto > e.no) "
        "GROUP BY e.chunk, e.no, e.verb, e.n HAVING count(a.target) <> CASE "
        "WHEN e.verb IN ('settle', 'rescue', 'release') THEN e.n ELSE 0 END UNION ALL "
        f"SELECT a.chunk, a.no, 'none', 0, count(*) FROM {ATTEMPTS} LEFT JOIN entry e ON e.chunk = a.chunk "
        "AND e.no = a.no WHERE c.job = ? AND e.no IS NULL GROUP BY a.chunk, a.no",
    ),
    Invariant(
        "L6.undone",
        "No row carries a commit that a rollback undid.",
        f"{UNDONE} "
        + " UNION ALL ".join(
            f"SELECT '{what}', x.{what_id}, x.{chunk}, x.{no} FROM undone d JOIN {table} x ON x.{chunk} = d.chunk "
            f"AND x.{no} > d.kept AND x.{no} < d.upto"
            for what, table, what_id, chunk, no in CARRIERS
        ),
    ),
    Invariant(
        "L6.page",
        "No half page: result and last attempt of a settled target carry the commit that settled it.",
        "SELECT id, state, done_chunk, done_no, last_chunk, last_no FROM target t WHERE job = ? "
        f"AND NOT {LEFT_OUT} AND "
        f"((state IN ({SUCCEEDED}, {FAILED}) OR (state = {SKIPPED} AND last_no IS NOT NULL)) "
        "AND (done_chunk <> coalesce(last_chunk, 0) OR done_no <> coalesce(last_no, 0)) OR "
        f"(state = {SKIPPED} AND last_no IS NULL AND (done_chunk <> found_chunk OR done_no <> found_no))) UNION ALL "
        "SELECT t.id, t.state, t.done_chunk, t.done_no, r.chunk, r.no FROM target t JOIN record r ON r.target = t.id "
        f"AND r.gen = t.gen WHERE t.job = ? AND t.state IN ({SUCCEEDED}, {SKIPPED}) "
        "AND (r.chunk <> t.done_chunk OR r.no <> t.done_no) UNION ALL "
        "SELECT t.id, t.state, t.done_chunk, t.done_no, f.chunk, f.no FROM target t JOIN artifact f ON f.target = t.id "
        f"AND f.gen = t.gen WHERE t.job = ? AND t.state IN ({SUCCEEDED}, {SKIPPED}) "
        "AND (f.chunk <> t.done_chunk OR f.no <> t.done_no)",
    ),
    Invariant(
        "L6.external",
        "An external link carries the commit of an attempt at the page that had it.",
        "SELECT x.url, x.target, x.found_chunk, x.found_no FROM external_link x LEFT JOIN attempt a "
        "ON a.chunk = x.found_chunk AND a.no = x.found_no AND a.target = x.target WHERE x.job = ? AND a.no IS NULL",
    ),
    Invariant(
        "L7.events",
        "The event numbers of a chunk are 1 to its last without gaps.",
        "SELECT c.id, c.seq, count(v.seq), min(v.seq), max(v.seq) FROM chunk c LEFT JOIN event v ON v.chunk = c.id "
        "WHERE c.job = ? GROUP BY c.id, c.seq HAVING count(v.seq) <> c.seq OR min(v.seq) <> 1 OR max(v.seq) <> c.seq",
    ),
    Invariant(
        "L7.attempts",
        "The attempts of a target are a chain in its own chunk: each names the one before it.",
        "SELECT * FROM (SELECT a.target, a.chunk, a.no, a.prev_chunk, a.prev_no, "
        "lag(a.chunk) OVER (PARTITION BY a.target ORDER BY a.no) AS before_chunk, "
        f"lag(a.no) OVER (PARTITION BY a.target ORDER BY a.no) AS before_no FROM {ATTEMPTS} WHERE c.job = ?) s "
        "WHERE coalesce(s.prev_chunk, 0) <> coalesce(s.before_chunk, 0) "
        "OR coalesce(s.prev_no, 0) <> coalesce(s.before_no, 0) UNION ALL "
        f"SELECT a.target, a.chunk, a.no, a.prev_chunk, a.prev_no, l.chunk, t.lane FROM {ATTEMPTS} "
        "JOIN target t ON t.id = a.target JOIN lane l ON l.id = t.lane WHERE c.job = ? AND l.chunk <> a.chunk",
    ),
    Invariant(
        "L7.settled",
        "Nothing follows a settled attempt in its generation: what is put back begins another one.",
        "SELECT * FROM (SELECT a.target, a.chunk, a.no, a.outcome, lead(a.no) OVER "
        f"(PARTITION BY a.target, a.gen ORDER BY a.no) AS later FROM {ATTEMPTS} WHERE c.job = ?) s "
        "WHERE s.later IS NOT NULL AND s.outcome IN ('succeeded', 'skipped', 'failed')",
    ),
    Invariant(
        "L7.undo",
        "What a named verb overwrote is kept: each generation after the first has the image of the one before it.",
        "SELECT t.id, t.gen, count(u.no) FROM target t LEFT JOIN undo u ON u.target = t.id "
        "AND u.verb IN ('retry', 'rescan', 'restart', 'mend', 'requeue') WHERE t.job = ? GROUP BY t.id, t.gen "
        "HAVING t.gen <> count(u.no) + 1 UNION ALL "
        "SELECT u.target, u.no, 0 FROM undo u JOIN chunk c ON c.id = u.chunk LEFT JOIN entry e ON e.chunk = u.chunk "
        "AND e.no = u.no AND (e.verb = u.verb OR u.verb = 'exclude') "
        "LEFT JOIN target t ON t.id = u.target AND t.job = c.job "
        "WHERE c.job = ? AND (e.no IS NULL OR t.id IS NULL)",
    ),
    Invariant(
        "L7.outcome",
        "A target's state is what its newest attempt left, or cancelled; without one it was never tried.",
        "SELECT t.id, t.state, t.code, a.outcome, a.code FROM target t LEFT JOIN attempt a ON a.chunk = t.last_chunk "
        f"AND a.no = t.last_no AND a.target = t.id WHERE t.job = ? AND NOT CASE WHEN {LEFT_OUT} THEN "
        "coalesce(a.outcome, '') NOT IN ('succeeded', 'failed') OR a.gen < t.gen "
        f"WHEN t.last_no IS NULL THEN t.state IN ({READY}, {HELD}, {SKIPPED}, {CANCELLED}) "
        "WHEN a.outcome IS NULL THEN 1 = 1 "  # a missing attempt is the affair of L6.last
        f"WHEN a.gen < t.gen THEN t.state IN ({READY}, {HELD}, {CANCELLED}) "  # put back, and not tried again yet
        "WHEN a.outcome = 'succeeded' THEN "
        f"t.state = {SUCCEEDED} WHEN a.outcome = 'skipped' THEN t.state = {SKIPPED} "
        f"WHEN a.outcome = 'failed' THEN t.state = {FAILED} AND coalesce(t.code, a.code, '') = coalesce(a.code, '') "
        f"WHEN a.outcome IN ('retry', 'handed_back') THEN t.state IN ({READY}, {WAITING}, {HELD}, {CANCELLED}) "
        f"WHEN a.outcome = 'lost' AND a.code = 'poison' THEN t.state = {FAILED} AND t.code = 'poison' "
        f"WHEN a.outcome = 'lost' THEN t.state IN ({READY}, {SOLO}, {HELD}, {CANCELLED}) ELSE 1 = 0 END",
    ),
)

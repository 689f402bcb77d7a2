"""What single rows must say, and what they point at: targets by status, attempts, bodies, runs. SQL only.

A row that contradicts the model is damage. Bytes are not read here: `verify --deep` compares
segments with their rows.
"""

from __future__ import annotations

from holdfast.audit.law import (
    ATTEMPTS,
    CANCELLED,
    FAILED,
    HELD,
    PENDING,
    SETTLED,
    SKIPPED,
    SUCCEEDED,
    WAITING,
    Invariant,
    quoted,
)
from holdfast.model.codes import CODES

SHA256_BYTES = 32
_OUTCOMES = ("succeeded", "skipped", "failed", "retry", "handed_back", "lost")

LAWS = (
    Invariant(
        "F1.page",
        "A page that succeeded has a body and a record in its generation.",
        "SELECT t.id, t.gen, b.target FROM target t LEFT JOIN body b ON b.target = t.id AND b.gen = t.gen "
        f"WHERE t.job = ? AND t.state = {SUCCEEDED} AND t.disposition = 'page' AND (b.target IS NULL OR NOT EXISTS "
        "(SELECT 1 FROM record r WHERE r.target = t.id AND r.gen = t.gen))",
    ),
    Invariant(
        "F1.unchanged",
        "A page that is unchanged has a body and a record of the same earlier generation; a target without a "
        "host has a record.",
        "SELECT t.id, t.gen FROM target t JOIN lane l ON l.id = t.lane "
        f"WHERE t.job = ? AND t.state = {SUCCEEDED} AND t.disposition = 'unchanged' AND NOT EXISTS "
        "(SELECT 1 FROM (SELECT max(r.gen) AS gen FROM record r WHERE r.target = t.id) k WHERE k.gen < t.gen "
        "AND (l.origin = '' OR EXISTS (SELECT 1 FROM body b WHERE b.target = t.id AND b.gen = k.gen)))",
    ),
    Invariant(
        "F1.body",
        "A body refers to bytes in a segment of its job, with a length and a sha256.",
        "SELECT b.target, b.gen, b.segment, b.off, b.len, b.size FROM target t JOIN body b ON b.target = t.id "
        "LEFT JOIN segment s ON s.id = b.segment AND s.job = t.job WHERE t.job = ? AND (s.id IS NULL OR b.off < 0 "
        f"OR b.len <= 0 OR b.size < 0 OR length(b.sha256) <> {SHA256_BYTES})",
    ),
    Invariant(
        "F1.artifact",
        "A file of a target has a path, a size and a sha256, is numbered without gaps, and came with a success.",
        "SELECT f.target, f.gen, f.n, f.path, f.size FROM target t JOIN artifact f ON f.target = t.id "
        "LEFT JOIN attempt a ON a.chunk = f.chunk AND a.no = f.no AND a.target = f.target AND a.gen = f.gen "
        "AND a.outcome = 'succeeded' WHERE t.job = ? AND (a.no IS NULL OR f.path = '' OR f.size < 0 OR f.n < 0 "
        f"OR length(f.sha256) <> {SHA256_BYTES} OR (f.n > 0 AND NOT EXISTS (SELECT 1 FROM artifact p "
        "WHERE p.target = f.target AND p.gen = f.gen AND p.n = f.n - 1)))",
    ),
    Invariant(
        "row.open",
        "A target that is not settled has no disposition, and no code but that of the attempt it is retried after.",
        "SELECT t.id, t.state, t.disposition, t.code, a.outcome, a.code FROM target t LEFT JOIN attempt a "
        "ON a.chunk = t.last_chunk AND a.no = t.last_no AND a.target = t.id WHERE t.job = ? "
        f"AND t.state IN ({PENDING}, {HELD}, {CANCELLED}) AND (t.disposition IS NOT NULL OR (t.code IS NOT NULL "
        "AND (coalesce(a.outcome, '') <> 'retry' OR coalesce(a.code, '') <> t.code)))",
    ),
    Invariant(
        "row.waiting",
        "A waiting target says until when, and no other does.",
        "SELECT id, state, not_before FROM target WHERE job = ? "
        f"AND ((state = {WAITING} AND not_before IS NULL) OR (state <> {WAITING} AND not_before IS NOT NULL))",
    ),
    Invariant(
        "row.settled",
        "A settled target names the commit that settled it, and no other does.",
        "SELECT id, state, done_chunk, done_no FROM target WHERE job = ? AND CASE "
        f"WHEN state IN ({SETTLED}) THEN done_chunk IS NULL OR done_no IS NULL "
        "ELSE done_chunk IS NOT NULL OR done_no IS NOT NULL END",
    ),
    Invariant(
        "row.failed",
        "A failed target has a code of the table of codes.",
        f"SELECT id, code FROM target WHERE job = ? AND state = {FAILED} "
        f"AND coalesce(code, '') NOT IN ({quoted(CODES)})",
    ),
    Invariant(
        "row.skipped",
        "A skipped target has a disposition.",
        f"SELECT id, rule FROM target WHERE job = ? AND state = {SKIPPED} AND coalesce(disposition, '') = ''",
    ),
    Invariant(
        "row.lane",
        "A target lies in a lane of its own job.",
        "SELECT t.id, t.lane, l.chunk FROM target t LEFT JOIN lane l ON l.id = t.lane LEFT JOIN chunk c "
        "ON c.id = l.chunk AND c.job = t.job AND c.kind = 'work' WHERE t.job = ? AND c.id IS NULL",
    ),
    Invariant(
        "row.attempt",
        "An attempt ended in a known way, with a code of the table where it failed or is retried.",
        f"SELECT a.target, a.chunk, a.no, a.outcome, a.code FROM {ATTEMPTS} WHERE c.job = ? "
        f"AND (a.outcome NOT IN ({quoted(_OUTCOMES)}) OR a.code NOT IN ({quoted(CODES)}) "
        "OR (a.outcome IN ('failed', 'retry') AND a.code IS NULL))",
    ),
    Invariant(
        "row.orphan",
        "Every attempt, record, file and body belongs to a target of the job.",
        f"SELECT 'attempt', a.target, a.no FROM {ATTEMPTS} LEFT JOIN target t ON t.id = a.target AND t.job = c.job "
        "WHERE c.job = ? AND t.id IS NULL UNION ALL SELECT 'record', r.target, r.no FROM record r JOIN chunk c "
        "ON c.id = r.chunk LEFT JOIN target t ON t.id = r.target AND t.job = c.job WHERE c.job = ? AND t.id IS NULL "
        "UNION ALL SELECT 'artifact', f.target, f.no FROM artifact f JOIN chunk c ON c.id = f.chunk LEFT JOIN target t "
        "ON t.id = f.target AND t.job = c.job WHERE c.job = ? AND t.id IS NULL "
        "UNION ALL SELECT 'body', b.target, b.off FROM body b JOIN segment s ON s.id = b.segment LEFT JOIN target t "
        "ON t.id = b.target AND t.job = s.job WHERE s.job = ? AND t.id IS NULL",
    ),
    Invariant(
        "row.run",
        "A job's runs are numbered without gaps, and only the newest may be open.",
        "SELECT j.id, j.run, count(r.n), min(r.n), max(r.n) FROM job j LEFT JOIN run r ON r.job = j.id WHERE j.id = ? "
        "GROUP BY j.id, j.run HAVING count(r.n) <> j.run OR min(r.n) <> 1 OR max(r.n) <> j.run "
        "OR sum(CASE WHEN r.ended_at IS NULL AND r.n <> j.run THEN 1 ELSE 0 END) > 0",
    ),
)

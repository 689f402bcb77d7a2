"""One damage per law and more: SQL that breaks exactly that law in the story. `:job` is the job it is done to."""

from __future__ import annotations

from dataclasses import dataclass

NEW = "SELECT min(id) FROM target WHERE job = :job AND state = 0 AND last_no IS NULL"  # found late, never tried
SKIPPED_LATE = "SELECT max(id) FROM target WHERE job = :job AND state = 5 AND last_no IS NULL"
WON = (
    "SELECT min(t.id) FROM target t JOIN attempt a ON a.target = t.id AND a.chunk = t.last_chunk AND a.no = t.last_no "
    "WHERE t.job = :job AND t.state = 4 AND t.parent IS NOT NULL AND a.prev_no IS NULL"
)
DOC = f"SELECT doc FROM record WHERE target = ({WON}) AND n = 0"
SEAL = f"SELECT seal FROM record WHERE target = ({WON}) AND n = 0"
SUSPECT = "SELECT min(id) FROM target WHERE job = :job AND state = 2"
RETRIED_AND_WON = "SELECT min(id) FROM target WHERE job = :job AND state = 4 AND attempts = 2"
WAITING = "SELECT min(id) FROM target WHERE job = :job AND state = 1"
CONTROL = "SELECT id FROM chunk WHERE job = :job AND kind = 'control'"
CHUNKS = "SELECT id FROM chunk WHERE job = :job"
IDLE_TALLY = "SELECT min(chunk) FROM tally WHERE chunk IN (SELECT id FROM chunk WHERE job = :job)"
LUNCH = f"SELECT at + 1 FROM event WHERE chunk IN ({CHUNKS}) AND verb = 'request_pause'"
TRIED_BEFORE_LUNCH = (
    "SELECT min(t.id) FROM target t JOIN entry e ON e.chunk = t.last_chunk AND e.no = t.last_no JOIN entry g "
    f"ON g.chunk = e.chunk AND g.epoch = e.epoch AND g.verb = 'lease' WHERE t.job = :job AND g.at < ({LUNCH})"
)


@dataclass(frozen=True, slots=True)
class Damage:
    """What is done to which job of the story, and which law must then be the only one broken."""

    check: str
    sql: str
    job: str = "marsh"
    with_it: str = ""  # a law that cannot hold where this one does not


# fmt: off
DAMAGES = (
    Damage("L2.key", "DROP INDEX target_key; "
           f"UPDATE target SET key = (SELECT key FROM target WHERE id = ({WON})) WHERE id = ({NEW})",
           with_it="L2.address"),
    Damage("L2.result", f"INSERT INTO body SELECT ({NEW}), 1, segment, off, len, size, sha256, media "
           f"FROM body WHERE target = ({WON})"),
    Damage("L2.result", f"UPDATE body SET gen = 2 WHERE target = ({WON}); "
           "INSERT INTO body SELECT target, 1, segment, off, len, size, sha256, media FROM body WHERE gen = 2"),
    Damage("L2.result", "INSERT INTO record SELECT id, 1, 0, last_chunk, last_no, 1, 'page', "
           f"({DOC}), ({SEAL}) FROM target WHERE id = ({WAITING})"),
    Damage("L2.records", f"UPDATE record SET n = 5 WHERE target = ({WON}) AND n = 1"),
    Damage("L2.address", f"UPDATE target SET path = '/frog/seven' WHERE id = ({NEW})"),
    Damage("F1.record", f"UPDATE record SET doc = (SELECT key FROM target WHERE id = ({NEW})) WHERE target = ({WON})"),
    Damage("L4.spent", f"UPDATE target SET attempts = 1 WHERE id = ({NEW})"),
    Damage("L4.number", f"UPDATE attempt SET n = 2 WHERE target = ({WON})"),
    Damage("L4.refund", "UPDATE attempt SET outcome = 'retry', code = 'internal' WHERE refunded = 1 "
           "AND outcome = 'handed_back' AND target = (SELECT id FROM target WHERE job = :job AND state = 1)"),
    Damage("L4.limit", "UPDATE job SET options = replace(options, '\"max_attempts\":3', '\"max_attempts\":1') "
           "WHERE id = :job"),
    Damage("L5.holder", "UPDATE target SET held_epoch = held_epoch - 1 WHERE job = :job AND state = 3"),
    Damage("L5.holder", f"UPDATE target SET held_epoch = 1 WHERE id = ({NEW})"),
    Damage("L5.owner", f"UPDATE chunk SET until = NULL WHERE id = ({CONTROL})"),
    Damage("L5.epoch", f"UPDATE chunk SET epoch = epoch + 1 WHERE id = ({CONTROL})"),
    Damage("L5.epoch", f"UPDATE entry SET epoch = 0 WHERE chunk IN ({CHUNKS}) AND verb = 'claim'"),
    Damage("L5.lease", "UPDATE entry SET verb = CASE verb WHEN 'finish' THEN 'release' ELSE 'finish' END "
           f"WHERE chunk = ({CONTROL}) AND verb IN ('finish', 'release')", "pond"),
    Damage("L6.numbers", f"DELETE FROM entry WHERE chunk IN ({CHUNKS}) AND no = 2 AND verb = 'claim'"),
    Damage("L6.numbers", f"UPDATE chunk SET no = no + 1 WHERE id = ({CONTROL})"),
    Damage("L6.found", f"UPDATE target SET found_no = 99 WHERE id = ({NEW})"),
    Damage("L6.done", "UPDATE target SET done_no = 99 WHERE job = :job", "bog"),
    Damage("L6.last", f"UPDATE target SET last_no = last_no - 1 WHERE id = ({SUSPECT})"),
    Damage("L6.attempts", f"UPDATE entry SET n = n + 1 WHERE chunk IN ({CHUNKS}) AND verb = 'settle'"),
    Damage("L6.attempts", f"UPDATE entry SET n = n - 1 WHERE chunk IN ({CHUNKS}) AND verb = 'rescue' AND n > 0"),
    Damage("L6.page", f"UPDATE record SET no = no - 1 WHERE target = ({WON})"),
    Damage("L6.external", "UPDATE external_link SET found_no = found_no + 1 WHERE job = :job"),
    Damage("L7.attempts", f"UPDATE attempt SET prev_no = prev_no - 1 WHERE target = ({RETRIED_AND_WON}) "
           "AND prev_no IS NOT NULL"),
    Damage("L7.undo", "DELETE FROM undo WHERE target = (SELECT min(id) FROM target WHERE job = :job AND gen = 2)",
           job="weir", with_it="F3.counts"),
    Damage("L7.undo", f"UPDATE undo SET verb = 'rescan' WHERE chunk IN ({CHUNKS})", job="weir"),
    Damage("F3.counts", f"UPDATE undo SET done_no = done_no + 1 WHERE chunk IN ({CHUNKS})", job="weir"),
    Damage("L10.completed", "INSERT INTO walk (job, verb, actor, cursor, doc) "
           "SELECT :job, 'retry', 'x', 0, salt FROM ledger", job="pond"),
    Damage("L7.settled", f"UPDATE attempt SET outcome = 'failed' WHERE target = ({RETRIED_AND_WON}) "
           "AND outcome = 'retry'"),
    Damage("L7.outcome", f"UPDATE attempt SET outcome = 'skipped' WHERE target = ({WON})"),
    Damage("L7.events", f"UPDATE event SET seq = seq + 1 WHERE chunk = ({CONTROL}) "
           f"AND seq = (SELECT seq FROM chunk WHERE id = ({CONTROL}))"),
    Damage("L7.job", f"UPDATE event SET verb = 'resume' WHERE chunk = ({CONTROL}) AND verb = 'start'"),
    Damage("L7.job", f"UPDATE event SET target = 'completed' WHERE chunk = ({CONTROL}) AND verb = 'pause'"),
    Damage("L7.job", "UPDATE job SET status = 'paused' WHERE id = :job"),
    Damage("L7.job", "UPDATE job SET requested = 'pause' WHERE id = :job; "
           "UPDATE chunk SET requested = 'pause' WHERE job = :job"),
    Damage("L7.chunks", f"UPDATE event SET verb = 'rescue' WHERE chunk = ({CONTROL}) AND verb = 'release'"),
    Damage("L7.chunks", "UPDATE chunk SET owner_host = NULL, owner_boot = NULL, owner_ns = NULL, owner_pid = NULL, "
           f"owner_start = NULL, until = NULL WHERE id = ({CONTROL})"),
    Damage("L8.tally", f"UPDATE tally SET n = n + 1 WHERE chunk = ({IDLE_TALLY}) AND status = 'pending'"),
    Damage("L8.tally", f"DELETE FROM tally WHERE chunk IN ({CHUNKS}) AND reason = 'poison'"),
    Damage("L8.lane", f"UPDATE lane SET todo = todo + 1 WHERE chunk IN ({CHUNKS})"),
    Damage("L8.lane", f"UPDATE lane SET held = 0 WHERE chunk IN ({CHUNKS})"),
    Damage("L8.host", "UPDATE host SET busy = 1 WHERE key = 'marsh.test'"),
    Damage("L9.parent", f"UPDATE target SET parent = 9999 WHERE id = ({WAITING})"),
    Damage("L9.parent", f"UPDATE target SET parent = NULL WHERE id = ({WAITING})"),
    Damage("L9.plan", "UPDATE job SET plan_done = 0 WHERE id = :job"),
    Damage("L10.completed", "UPDATE job SET plan_done = 0 WHERE id = :job; UPDATE plan SET done = 0 WHERE job = :job",
           "pond"),
    Damage("L10.completed", "UPDATE job SET health = NULL WHERE id = :job", "pond"),
    Damage("L11.request", f"UPDATE chunk SET requested = 'pause' WHERE id = ({CONTROL})"),
    Damage("L11.request", "UPDATE job SET phase = 'extracting' WHERE id = :job", "pond"),
    # A claim, and what came after it: later than only the claim, time would have been set back.
    Damage("L11.claims", f"UPDATE entry SET at = ({LUNCH}) WHERE chunk IN ({CHUNKS}) AND no >= 2 AND at < ({LUNCH})"),
    Damage("L11.claims", f"UPDATE target SET tried_at = ({LUNCH}) WHERE id = ({TRIED_BEFORE_LUNCH})"),
    Damage("L12.version", "UPDATE job SET version = version + 1 WHERE id = :job"),
    Damage("L13.lane", f"UPDATE lane SET due = 4503599627370496 WHERE chunk IN ({CHUNKS}) AND todo > 1"),
    Damage("F1.page", f"DELETE FROM body WHERE target = ({WON})"),
    Damage("F1.page", f"DELETE FROM record WHERE target = ({WON})"),
    Damage("F1.unchanged", "UPDATE target SET disposition = 'unchanged' WHERE job = :job AND disposition = 'page'; "
           f"UPDATE tally SET reason = 'unchanged' WHERE chunk IN ({CHUNKS}) AND reason = 'page'"),
    Damage("F1.body", f"UPDATE body SET len = 0 WHERE target = ({WON})"),
    Damage("F1.body", "UPDATE segment SET job = (SELECT id FROM job WHERE name = 'fen') WHERE id = "
           f"(SELECT segment FROM body WHERE target = ({WON}))"),
    Damage("F1.artifact", "INSERT INTO artifact SELECT b.target, b.gen, 1, t.done_chunk, t.done_no, 'pdf', 'a.pdf', 5, "
           f"b.sha256, '', '' FROM body b JOIN target t ON t.id = b.target WHERE b.target = ({WON})"),
    Damage("F1.artifact", "INSERT INTO artifact SELECT b.target, b.gen, 0, t.done_chunk, t.done_no, 'pdf', '', 5, "
           f"b.sha256, '', '' FROM body b JOIN target t ON t.id = b.target WHERE b.target = ({WON})"),
    Damage("F3.chain", "UPDATE checkpoint SET checksum = doc WHERE job = :job AND number = "
           "(SELECT max(number) FROM checkpoint WHERE job = :job)"),
    Damage("F3.chain", "DELETE FROM checkpoint WHERE job = :job AND number = 2"),
    Damage("F3.chain", "UPDATE checkpoint SET undone_by = 4 WHERE job = :job AND number = 2", job="tarn"),
    Damage("F3.counts", "UPDATE checkpoint SET undone_by = NULL WHERE job = :job AND number = 2", job="tarn"),
    Damage("L5.epoch", f"UPDATE entry SET verb = 'label' WHERE verb = 'rollback' AND chunk = ({CONTROL})", job="tarn"),
    Damage("L6.undone", "INSERT INTO external_link SELECT t.job, t.key, 'https://late.test/', t.id, e.chunk, e.no - 1 "
           "FROM entry e JOIN target t ON t.done_chunk = e.chunk WHERE e.verb = 'rollback' AND t.job = :job LIMIT 1",
           job="tarn", with_it="L6.external"),
    Damage("row.attempt", f"UPDATE attempt SET code = 'gremlins' WHERE target = ({WON})"),
    Damage("row.failed", "UPDATE target SET code = NULL WHERE job = :job AND code = 'http_404'; "
           f"UPDATE tally SET reason = '' WHERE chunk IN ({CHUNKS}) AND reason = 'http_404'"),
    Damage("row.lane", f"UPDATE target SET lane = 9999 WHERE id = ({SKIPPED_LATE})"),
    Damage("row.open", f"UPDATE target SET code = 'http_404' WHERE id = ({NEW})"),
    Damage("row.open", f"UPDATE target SET disposition = 'page' WHERE id = ({WAITING})"),
    Damage("row.orphan", "INSERT INTO record SELECT 9999, 1, 0, id, 1, 1, 'page', "
           f"({DOC}), ({SEAL}) FROM chunk WHERE id = ({CONTROL})"),
    Damage("row.run", "UPDATE run SET ended_at = NULL WHERE job = :job"),
    Damage("row.run", "DELETE FROM run WHERE job = :job AND n = 1"),
    Damage("row.settled", f"UPDATE target SET done_chunk = NULL, done_no = NULL WHERE id = ({SKIPPED_LATE})"),
    Damage("row.skipped", f"UPDATE target SET disposition = NULL WHERE job = :job AND disposition = 'duplicate'; "
           f"UPDATE tally SET reason = '' WHERE chunk IN ({CHUNKS}) AND reason = 'duplicate'"),
    Damage("row.waiting", f"UPDATE target SET not_before = 1 WHERE id = ({NEW})"),
    Damage("row.waiting", f"UPDATE target SET not_before = NULL WHERE id = ({WAITING})"),
)
# fmt: on

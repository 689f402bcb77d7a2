"""Settling: what happened together commits together. The only writer of a settled target.

Per chunk: 1 look up the key, 2 fence, 3 store the entry, 4 targets, attempts, bodies, records, 5 found links, 6 lanes
and hosts, 7 the next claim, 8 a checkpoint when one is due; all of it is one transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from holdfast.errors import BatchMismatch, Corrupt, LostLease
from holdfast.ledger.books import add_entry, count, write_checkpoint, write_tallies
from holdfast.ledger.tx import NO_HOST, Row, Tx, marks, one, padded
from holdfast.ledger.verbs.claim import BUSY_POLL_MS, ChunkRow, Claim, fence, next_due_ms, suspects_waiting, with_names
from holdfast.ledger.verbs.due_time import AT_ONCE, FAR_FUTURE, set_back, set_back_host
from holdfast.ledger.verbs.exclude import rules_of
from holdfast.ledger.verbs.host_cap import FoundRow
from holdfast.ledger.verbs.jobs import read_job
from holdfast.ledger.verbs.last_results import with_records
from holdfast.ledger.verbs.leases import CHUNK_COLUMNS, lease_from
from holdfast.ledger.verbs.links import add_todo, insert_external, insert_found
from holdfast.model.claim import SettleAnswer, Settled, Wish
from holdfast.model.host import ANSWERED, FORBADE, Breaker
from holdfast.model.lease import Lease
from holdfast.model.outcome import Batch, PlanBatch, Verdict, seal_of
from holdfast.model.states import TARGET, State, move
from holdfast.policy.exclusion import ExclusionRules
from holdfast.policy.politeness import breaker, heard_of_host

STATE_AFTER = {
    "succeed": State.SUCCEEDED,
    "skip": State.SKIPPED,
    "fail": State.FAILED,
    "retry": State.WAITING,
    "hand_back": State.WAITING,
}
KEYS_PER_QUERY = 256
HELD_COLUMNS = (
    "t.id", "t.lane", "l.host", "l.chunk", "t.type", "t.gen", "t.attempts", "t.state", "t.held_epoch", "t.last_chunk",
    "t.last_no",
)  # fmt: skip
ENDS_OF_A_LEASE = ("rescue", "release")


def settle(
    tx: Tx, job: int, batches: Sequence[Batch], wish: Wish | None, checkpoint: str | None, per_host_max: int = 0
) -> Settled:
    """Settle, claim and checkpoint in one transaction; the answer is per chunk."""
    if checkpoint or per_host_max or (wish is not None and wish.pages_max is not None):
        tx.take_turns(job)  # before any row: the rest of a limit is exact only while no other worker settles
    chunks = {batch.chunk for batch in batches} | ({lease.chunk for lease in wish.leases} if wish else set())
    rows = open_chunks(tx, chunks)
    rules = rules_of(tx, job) if any(row.ruled for row in rows.values()) else None
    answers: dict[int, SettleAnswer] = {}
    admitted: list[Batch] = []
    for batch in sorted(batches, key=lambda item: item.chunk):
        answer = answers[batch.chunk] = _admit(tx, batch, rows.get(batch.chunk))
        if answer.kind == "settled":
            admitted.append(batch)
    phases = {batch.chunk: answers[batch.chunk].phase for batch in admitted}
    forbade = Settle(tx, job, phases, wish, rules, per_host_max).apply(admitted) if admitted else {}
    claim = None
    if wish is not None and wish.leases and wish.room > 0:
        claim = Claim(tx, job, wish, answers, rows, rules)
        claim.fulfil()
    write_tallies(tx)
    number = write_checkpoint(tx, job, checkpoint) if checkpoint and admitted else None
    if wish is None or not wish.leases:
        return Settled(answers=answers, checkpoint=number, forbade=forbade)
    claimed = () if claim is None else tuple(claim.claimed)
    if wish.named:
        claimed = tuple(with_names(tx, claimed))
    if wish.compared:
        claimed = tuple(with_records(tx, claimed))
    return Settled(
        answers=answers,
        claimed=claimed,
        suspects=suspects_waiting(tx, wish),
        next_due_ms=0 if claimed else next_due_ms(tx, wish),
        checkpoint=number,
        pages_left=None if claim is None else claim.pages_left,
        forbade=forbade,
    )


def open_chunks(tx: Tx, chunks: set[int]) -> dict[int, ChunkRow]:
    """Lock all rows that this call may fence, by id, before anything else: a wish names them in its own order.

    Whether there are exclusions stands on them, so a job without any pays nothing for the question.
    """
    ordered = sorted(chunks)
    columns = "id, at, no, epoch, owner_pid, requested, phase, ruled"
    sql = f"SELECT {columns} FROM chunk WHERE id IN ({marks(ordered)}) ORDER BY id {tx.lock('chunk')}"
    opened = {}
    for chunk, at, no, epoch, owner_pid, requested, phase, ruled in tx.rows(sql, ordered):
        set_back(tx, chunk, at)
        opened[chunk] = ChunkRow(no, None if owner_pid is None else epoch, requested, phase, bool(ruled))
    return opened


def _admit(tx: Tx, batch: Batch | PlanBatch, row: ChunkRow | None = None) -> SettleAnswer:
    """The key is looked up first: a committed settle whose reply was lost must not look like a lost lease.

    Where the locked row says that our number is the next one under our epoch, nothing can be stored under it.
    """
    is_next = row is not None and (row.no, row.epoch) == (batch.no - 1, batch.epoch)
    known = None if is_next else _replayed(tx, batch)
    if known is not None:
        return known
    fenced = fence(tx, batch.chunk, batch.epoch, batch.no)
    if fenced is None:
        # The original may have committed while we waited for the row: look once more before calling it lost.
        return _replayed(tx, batch) or SettleAnswer("lost")
    verb, n = ("settle", len(batch.verdicts)) if isinstance(batch, Batch) else ("plan", len(batch.found))
    add_entry(tx, batch.chunk, batch.no, batch.epoch, verb, digest=batch.digest, n=n)
    return SettleAnswer("settled", fenced[0], fenced[1], fenced[2])


def _replayed(tx: Tx, batch: Batch | PlanBatch) -> SettleAnswer | None:
    """The answer to a batch that is stored already; None where it is not."""
    row = one(
        tx,
        "SELECT e.epoch, e.digest, e.verb, c.no, c.requested, c.phase FROM entry e JOIN chunk c ON c.id = e.chunk "
        "WHERE e.chunk = ? AND e.no = ?",
        (batch.chunk, batch.no),
    )
    if row is None or row[0] != batch.epoch:
        return None
    if row[2] in ENDS_OF_A_LEASE:
        return SettleAnswer(
            "lost"
        )  # the number belongs to the commit that ended our lease: the same epoch, not our batch
    if bytes(row[1]) != batch.digest:
        raise BatchMismatch(f"commit {batch.no} of chunk {batch.chunk} was stored with other contents")
    return SettleAnswer("replayed", row[3], row[4], row[5])


class Settle:
    """The admitted batches of one transaction being written."""

    def __init__(
        self,
        tx: Tx,
        job: int,
        phases: dict[int, str],
        wish: Wish | None,
        rules: ExclusionRules | None,
        per_host_max: int,
    ) -> None:
        self._tx, self._job, self._phases, self._rules, self._per_host_max = tx, job, phases, rules, per_host_max
        self._own_chunks = [lease.chunk for lease in wish.leases] if wish else []
        self._now = tx.wall()
        self._held: defaultdict[int, int] = defaultdict(int)  # lane -> targets no longer held
        self._back: dict[int, list[int]] = defaultdict(list)  # lane -> due times of targets put back
        self._freed: defaultdict[int, int] = defaultdict(int)  # host -> slots freed
        self._hold: dict[int, int] = {}  # host -> wait until
        self._heard: dict[int, list[str]] = defaultdict(list)  # host -> what was heard of it, in order
        self._forbade: dict[str, int] = {}  # host -> answers 403 in a row, the last of them here
        self._found: defaultdict[int, int] = defaultdict(int)  # lane -> new targets
        self._segments: dict[str, int] = {}

    def apply(self, batches: Sequence[Batch]) -> dict[str, int]:
        """Write everything; the hosts that answered 403 last, with how many times in a row."""
        rows = self._read_held([verdict.target for batch in batches for verdict in batch.verdicts])
        for batch in batches:
            self._settle_targets(batch, rows)
            self._store_attempts(batch, rows)
            self._store_results(batch, rows)
        found = [
            (batch.chunk, batch.no, verdict.target, item)
            for batch in batches
            for verdict in batch.verdicts
            for item in verdict.found
        ]
        self._found = insert_found(self._tx, self._job, found, self._phases, self._rules, self._per_host_max)
        external = [
            (batch.chunk, batch.no, verdict.target, item)
            for batch in batches
            for verdict in batch.verdicts
            for item in verdict.external
        ]
        insert_external(self._tx, self._job, external)
        self._write_lanes()
        self._write_hosts()
        return self._forbade

    def _read_held(self, targets: list[int]) -> dict[int, Row]:
        """id -> (lane, host, chunk, type, gen, attempts, state, held_epoch, last_chunk, last_no)."""
        found: dict[int, Row] = {}
        for start in range(0, len(targets), KEYS_PER_QUERY):
            part = padded(targets[start : start + KEYS_PER_QUERY])
            rows = self._tx.bulk(
                HELD_COLUMNS, f"FROM target t JOIN lane l ON l.id = t.lane WHERE t.id IN ({marks(part)})", part
            )
            found.update((row[0], tuple(row[1:])) for row in rows)
        return found

    def _settle_targets(self, batch: Batch, rows: dict[int, Row]) -> None:
        """Targets that end alike are one statement."""
        alike: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
        for verdict in batch.verdicts:
            alike[self._settle_one(batch, verdict, rows)].append(verdict.target)
        touched = 0
        for change, targets in alike.items():
            ids = padded(targets)
            touched += self._tx.run(
                "UPDATE target SET state = ?, disposition = ?, code = ?, rule = ?, because = ?, not_before = ?, "
                "attempts = attempts - ?, held_epoch = NULL, alone = 0, done_chunk = ?, done_no = ?, last_chunk = ?, "
                f"last_no = ? WHERE id IN ({marks(ids)}) AND state = 3 AND held_epoch = ?",
                (*change, *ids, batch.epoch),
            )
        if touched != len(batch.verdicts):
            missing = len(batch.verdicts) - touched
            raise Corrupt(f"{missing} targets of chunk {batch.chunk} were not held under {batch.epoch}")

    def _settle_one(self, batch: Batch, verdict: Verdict, rows: dict[int, Row]) -> tuple[object, ...]:
        row = rows.get(verdict.target)
        if row is None or row[2] != batch.chunk or row[6] != State.HELD or row[7] != batch.epoch:
            raise Corrupt(f"target {verdict.target} is not held by chunk {batch.chunk} under epoch {batch.epoch}")
        lane, host, _, type_ = row[:4]
        if verdict.move not in STATE_AFTER:
            raise Corrupt(f"{verdict.move!r} is not a verdict; allowed: {', '.join(STATE_AFTER)}")
        step = move(TARGET, "in_progress", verdict.move)
        state = STATE_AFTER[verdict.move]
        if state == State.WAITING and verdict.wait_ms is None:
            state = State.READY
        not_before = self._now + (verdict.wait_ms or 0)
        settled = step.target != "pending"
        reason = verdict.code if step.target == "failed" else verdict.disposition
        count(self._tx, batch.chunk, type_, "in_progress", "", -1)
        count(self._tx, batch.chunk, type_, step.target, reason if settled else "", 1)
        self._held[lane] += 1
        if host != NO_HOST:
            self._freed[host] += 1
            heard = heard_of_host(verdict)
            if heard is not None:
                self._heard[host].append(heard)
        if not settled:
            self._back[lane].append(not_before if state == State.WAITING else AT_ONCE)
        if verdict.hold_host_ms and host != NO_HOST:
            self._hold[host] = max(self._hold.get(host, 0), self._now + verdict.hold_host_ms)
        done = (batch.chunk, batch.no) if settled else (None, None)
        return (
            int(state), verdict.disposition or None, verdict.code or None, verdict.rule or None,
            verdict.because or None, not_before if state == State.WAITING else None,
            int(verdict.move == "hand_back"), *done, batch.chunk, batch.no,
        )  # fmt: skip

    def _store_attempts(self, batch: Batch, rows: dict[int, Row]) -> None:
        self._tx.many(
            "INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    batch.chunk, batch.no, verdict.target, rows[verdict.target][4], rows[verdict.target][5],
                    batch.worker, verdict.began_at, verdict.ended_at, _attempt_outcome(verdict),
                    int(verdict.move == "hand_back"), verdict.code or None, verdict.status_code,
                    verdict.because or None, verdict.bytes, rows[verdict.target][8], rows[verdict.target][9],
                )
                for verdict in batch.verdicts
            ],
        )  # fmt: skip

    def _store_results(self, batch: Batch, rows: dict[int, Row]) -> None:
        bodies, records, files = [], [], []
        for verdict in batch.verdicts:
            generation = rows[verdict.target][4]
            if verdict.body is not None:
                ref = verdict.body
                segment = self._segment(ref.segment)
                bodies.append(
                    (verdict.target, generation, segment, ref.offset, ref.length, ref.size, ref.sha256, ref.media)
                )
            for n, record in enumerate(verdict.records):
                records.append(
                    (
                        verdict.target,
                        generation,
                        n,
                        batch.chunk,
                        batch.no,
                        record.kind,
                        record.doc,
                        seal_of(record.doc),
                        self._job,
                    )
                )
            for n, each in enumerate(verdict.artifacts):
                place = (verdict.target, generation, n, batch.chunk, batch.no)
                files.append((*place, each.role, each.path, each.size, each.sha256, each.media, each.url))
        if files:
            self._tx.many("INSERT INTO artifact VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", files)
        if bodies:
            self._tx.many("INSERT INTO body VALUES (?, ?, ?, ?, ?, ?, ?, ?)", bodies)
        if records:
            self._tx.many(
                "INSERT INTO record (target, gen, n, chunk, no, kind, doc, seal, run) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT run FROM job WHERE id = ?))",
                records,
            )

    def _segment(self, name: str) -> int:
        if name not in self._segments:
            self._segments[name] = segment_id(self._tx, self._job, name)
        return self._segments[name]

    def _write_lanes(self) -> None:
        """Every lane once and by id, before any host: of what was settled, of what was found, and our own ones that
        waited for a slot which is free now."""
        rows = []
        waiting = self._waiting_lanes()
        for lane in sorted({*self._held, *self._found, *waiting}):
            back = self._back.get(lane, [])
            wake = due = min(back, default=FAR_FUTURE)
            if lane in waiting or lane in self._found:
                wake, due = min(wake, self._now), AT_ONCE
            rows.append((self._held[lane], len(back) + self._found[lane], wake, due, lane))
        self._tx.many(
            "UPDATE lane SET held = held - ?, todo = todo + ?, due = CASE WHEN due > ? THEN ? ELSE due END "
            "WHERE id = ?",
            rows,
        )

    def _waiting_lanes(self) -> set[int]:
        hosts = padded(sorted(self._freed))
        if not self._own_chunks or not hosts:
            return set()
        rows = self._tx.rows(
            f"SELECT id FROM lane WHERE host IN ({marks(hosts)}) AND todo > 0 AND due > ? AND due <= ? "
            f"AND chunk IN ({marks(self._own_chunks)})",
            (*hosts, self._now, self._now + BUSY_POLL_MS, *self._own_chunks),
        )
        return {lane for (lane,) in rows}

    def _write_hosts(self) -> None:
        """Free the hosts' slots."""
        for host in sorted(self._freed):
            row = one(
                self._tx,
                "UPDATE host SET busy = busy - ? WHERE id = ? RETURNING set_at, hold_until, fails, trips, forbade",
                (self._freed[host], host),
            )
            if row is not None:
                back = set_back_host(self._tx, host, row[0])
                is_open = bool(row[3]) and row[1] - back > self._now
                self._turn_breaker(host, Breaker(row[2], row[3], is_open, row[4]))
            if host in self._hold:
                self._tx.run(
                    "UPDATE host SET hold_until = CASE WHEN hold_until < ? THEN ? ELSE hold_until END, set_at = ? "
                    "WHERE id = ?",
                    (self._hold[host], self._hold[host], self._now, host),
                )

    def _turn_breaker(self, host: int, before: Breaker) -> None:
        """A host that failed five times in a row rests; one that answers is as good as new."""
        heard = self._heard.get(host, [])
        if not (before.fails or before.trips or before.forbade) and heard.count(ANSWERED) == len(heard):
            return
        after, rest_ms = breaker(before, heard)
        if rest_ms:
            self._hold[host] = max(self._hold.get(host, 0), self._now + rest_ms)
        if after == before and FORBADE not in heard:
            return
        row = one(
            self._tx,
            "UPDATE host SET fails = ?, trips = ?, forbade = ? WHERE id = ? RETURNING key",
            (after.fails, after.trips, after.forbade, host),
        )
        if row is not None and after.forbade and FORBADE in heard:
            self._forbade[row[0]] = after.forbade


def _attempt_outcome(verdict: Verdict) -> str:
    names = {"succeed": "succeeded", "skip": "skipped", "fail": "failed", "retry": "retry", "hand_back": "handed_back"}
    return names[verdict.move]


def segment_id(tx: Tx, job: int, name: str) -> int:
    select = "SELECT id FROM segment WHERE job = ? AND name = ?"
    row = one(tx, select, (job, name))
    if row is None:
        tx.run("INSERT INTO segment (job, name) VALUES (?, ?) ON CONFLICT (job, name) DO NOTHING", (job, name))
        row = one(tx, select, (job, name))
    assert row is not None
    return int(row[0])


def enqueue(tx: Tx, job: int, batch: PlanBatch) -> Lease:
    """Planned targets with their cursor. Creates work without a held parent, so the job row is locked first."""
    read_job(tx, job, locked=True)
    answer = _admit(tx, batch)
    if answer.kind == "lost":
        raise LostLease(f"the plan of job {job} is held by another worker now")
    if answer.kind == "settled":
        moved = tx.run(
            "UPDATE plan SET cursor = ?, done = ?, trail = ? WHERE job = ? AND cursor = ? AND done = 0",
            (batch.next_cursor, int(batch.done), batch.trail or None, job, batch.cursor),
        )
        if moved != 1:
            raise Corrupt(f"the plan of job {job} does not stand at {batch.cursor}")
        if batch.done:
            tx.run("UPDATE job SET plan_done = 1 WHERE id = ?", (job,))
        found: list[FoundRow] = [(batch.chunk, batch.no, None, item) for item in batch.found]
        ruled = one(tx, "SELECT ruled FROM chunk WHERE id = ?", (batch.chunk,))
        rules = rules_of(tx, job) if ruled is not None and ruled[0] else None
        add_todo(tx, insert_found(tx, job, found, {batch.chunk: answer.phase}, rules))
        write_tallies(tx)
    row = one(tx, f"SELECT {CHUNK_COLUMNS} FROM chunk WHERE id = ?", (batch.chunk,))
    assert row is not None
    return lease_from(row)

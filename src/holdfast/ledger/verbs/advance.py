"""From phase to phase, and the word "finished": said in the transaction that proves the books balance, nowhere else.

A drained phase opens the next one, whose plan begins at its first target; behind the last phase the job ends. What was
put back into an earlier phase (by a retry, a rescan, a removed exclusion) opens that phase again, and the later ones
are planned anew behind it: targets that they know already are not planned twice.
"""

from __future__ import annotations

from holdfast.errors import Corrupt
from holdfast.ledger.books import add_entry, add_event, counts_of, write_checkpoint
from holdfast.ledger.tx import Tx, one
from holdfast.ledger.verbs.claim import fence
from holdfast.ledger.verbs.jobs import control_chunk, end_job, read_job
from holdfast.model.job import FETCHING, ONE_PHASE, PHASES, Counts, Job, Phases
from holdfast.model.lease import Lease
from holdfast.model.outcome import DEAD_END, REFRESHES
from holdfast.policy import limits
from holdfast.policy.health import Ending, may_be_dead_end, stale_ending, verdict
from holdfast.policy.phases import Ends, Opens, WorkLeft, following

# One statement, so that it is one snapshot: a running settle still shows its parent as held.
_WORK = "SELECT (SELECT done FROM plan WHERE job = ?), EXISTS (SELECT 1 FROM walk WHERE job = ?), " + ", ".join(
    "EXISTS (SELECT 1 FROM lane l JOIN chunk c ON c.id = l.chunk WHERE c.job = ? "
    f"AND l.phase = '{phase}' AND (l.todo > 0 OR l.held > 0)) "
    f"OR EXISTS (SELECT 1 FROM phase_plan p WHERE p.job = ? AND p.phase = '{phase}' AND p.done = 0)"
    for phase in PHASES
)


def advance(
    tx: Tx,
    job: int,
    lease: Lease,
    phases: Phases = ONE_PHASE,
    plan_failed: str = "",
    pages_max: int | None = None,
    stale: str = "",
) -> Job | None:
    """Under the control lease: open what follows a drained phase, or end the job. A `stale` job fails.

    None while work, a request or another owner stands. The page limit is what the job's workers claim by: at the limit
    nothing of the first phase is in hand, and nothing of it can be claimed.
    """
    tx.take_turns(job)
    before = read_job(tx, job, locked=True)
    if before.status in ("completed", "failed", "timeout"):
        return before  # said already: the reply to the first call was lost
    if before.status != "in_progress" or before.requested is not None:
        return None
    limit = limits.at_page_limit(counts_of(tx, job).without(phases.made), pages_max)
    step = following(before.phase, phases, _work(tx, job, bool(plan_failed), limit is not None))
    if step is None and not stale:
        return None
    row = fence(tx, lease.chunk, lease.epoch)
    if row is None:
        return None
    ending = stale_ending(stale) if step is None else _ending(tx, before, step, phases, plan_failed, limit, pages_max)
    if ending is None:
        assert isinstance(step, Opens)
        add_entry(tx, lease.chunk, row[0], lease.epoch, "advance")
        return _open(tx, before, step)
    add_entry(tx, lease.chunk, row[0], lease.epoch, "finish")
    return end_job(
        tx, before, ending.verb, health=ending.health, because=ending.because, stop_reason=ending.stop_reason
    )


def _work(tx: Tx, job: int, plan_failed: bool, limited: bool) -> WorkLeft:
    row = one(tx, _WORK, (job,) * (2 + 2 * len(PHASES)))
    assert row is not None
    busy = tuple(phase for phase, is_busy in zip(PHASES, row[2:], strict=True) if is_busy)
    return WorkLeft(bool(row[0]) or plan_failed, bool(row[1]), busy, limited)


def _ending(
    tx: Tx,
    before: Job,
    step: Opens | Ends,
    phases: Phases,
    plan_failed: str,
    limit: Ending | None,
    pages_max: int | None,
) -> Ending | None:
    """How the job ends here; None: another phase opens. A plan that raised, or seeds that all failed, end it at once:
    later phases would have nothing to work on."""
    if isinstance(step, Opens) and not plan_failed and (before.phase != FETCHING or limit is not None):
        return None
    if isinstance(step, Ends) and step.limited and not plan_failed:
        return limit
    counts = counts_of(tx, before.id)
    seeds_failed = counts.succeeded == 0 and _seeds_failed(tx, before.id)
    pages = counts.without(phases.made)
    dead_end = _dead_end(tx, before.id, pages) if may_be_dead_end(pages, pages_max) else ""
    ending = verdict(counts, seeds_failed_only=seeds_failed, plan_failed=plan_failed, dead_end=dead_end)
    if isinstance(step, Ends) and ending is None:
        raise Corrupt(f"{before}: lanes are empty, yet the books say {counts.left} are left")
    return None if isinstance(step, Opens) and (ending is None or ending.verb != "fail") else ending


def _dead_end(tx: Tx, job: int, pages: Counts) -> str:
    """What the first of them says, where every page is the dead end of a seed; else nothing."""
    rows = tx.rows(
        "SELECT because FROM target WHERE job = ? AND state = 4 AND rule IN (?, ?) ORDER BY rule, id",
        (job, DEAD_END, REFRESHES),
    )
    return (rows[0][0] or "") if len(rows) == pages.succeeded else ""


def _open(tx: Tx, before: Job, step: Opens) -> Job:
    turn_to(tx, before, step, actor="worker")
    write_checkpoint(tx, before.id, "phase")
    return read_job(tx, before.id)


def turn_to(tx: Tx, before: Job, step: Opens, *, actor: str) -> None:
    """The phase stands on the job and on every chunk; writing it there waits for running settles, as a request does."""
    tx.run("UPDATE job SET phase = ? WHERE id = ?", (step.phase, before.id))
    for (chunk,) in tx.rows(f"SELECT id FROM chunk WHERE job = ? ORDER BY id {tx.lock('chunk')}", (before.id,)):
        tx.run("UPDATE chunk SET phase = ? WHERE id = ?", (step.phase, chunk))
    _turn_plan(tx, before, step)
    control = control_chunk(tx, before.id)
    add_event(tx, control, "phase", "advance", before.phase, step.phase, actor=actor, because="")


def _turn_plan(tx: Tx, before: Job, step: Opens) -> None:
    """The plan of the phase that is left is kept; that of the phase that opens begins, or goes on where it was."""
    job = before.id
    tx.run(
        "INSERT INTO phase_plan (job, phase, cursor, done, trail) SELECT job, ?, cursor, done, trail FROM plan "
        "WHERE job = ? ON CONFLICT (job, phase) DO UPDATE SET cursor = excluded.cursor, done = excluded.done, "
        "trail = excluded.trail",
        (before.phase, job),
    )
    kept = one(tx, "SELECT cursor, done, trail FROM phase_plan WHERE job = ? AND phase = ?", (job, step.phase))
    cursor, done, trail = (0, 0, None) if step.anew or kept is None else kept
    tx.run("DELETE FROM phase_plan WHERE job = ? AND phase = ?", (job, step.phase))
    tx.run("UPDATE plan SET cursor = ?, done = ?, trail = ? WHERE job = ?", (cursor, done, trail, job))
    tx.run("UPDATE job SET plan_done = ? WHERE id = ?", (done, job))


def _seeds_failed(tx: Tx, job: int) -> bool:
    """Whether whatever failed was planned, or where a planned target led by redirects."""
    row = one(tx, "SELECT min(depth), max(depth) FROM target WHERE job = ? AND state = 6", (job,))
    return row is not None and tuple(row) == (0, 0)

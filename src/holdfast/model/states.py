"""The three lifecycle tables (job, chunk, target) and the one guard over them.

CHECK constraints, `allowed_actions`, exit code 6, the docs' lifecycle page and the audit all derive from these rows.
A state is a fact: "pausing" is `in_progress` plus a request, "waiting" is `pending` plus a time and a because.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

from holdfast.errors import Corrupt, IllegalMove


class Move(msgspec.Struct, frozen=True):
    """One lawful step of one machine. `fenced` moves need the chunk's current epoch."""

    verb: str
    source: str
    target: str
    by: str
    fenced: bool
    why: str


class Machine(msgspec.Struct, frozen=True):
    """A lifecycle: its states in reading order, its moves, and the states only an operator may leave."""

    thing: str
    states: tuple[str, ...]
    moves: tuple[Move, ...]
    final: frozenset[str]

    def verbs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.verb for row in self.moves))


# fmt: off
#          verb         from           to             by          fenced  why
JOB_MOVES = (
    Move("start",      "pending",     "in_progress", "user",     False, "a worker may take its chunks"),
    Move("pause",      "in_progress", "paused",      "user",     False, "asked for; pages in hand were finished"),
    Move("resume",     "paused",      "in_progress", "user",     False, "goes on with what is pending"),
    Move("resume",     "timeout",     "in_progress", "user",     False, "with a raised limit"),
    Move("resume",     "failed",      "in_progress", "user",     False, "after the cause was mended"),
    Move("complete",   "in_progress", "completed",   "worker",   True,  "nothing pending, the books balance"),
    Move("fail",       "in_progress", "failed",      "worker",   True,  "no seed reachable, a plan that raises, stale"),
    Move("time_out",   "in_progress", "timeout",     "worker",   True,  "a limit was reached; results stay readable"),
    Move("cancel",     "pending",     "cancelled",   "user",     False, "for good; results stay"),
    Move("cancel",     "in_progress", "cancelled",   "user",     False, "for good; results stay"),
    Move("cancel",     "paused",      "cancelled",   "user",     False, "for good; results stay"),
    Move("cancel",     "timeout",     "cancelled",   "user",     False, "for good; results stay"),
    Move("restart",    "paused",      "pending",     "user",     False, "to run again from its seeds"),
    Move("rescan",     "completed",   "in_progress", "user",     False, "every target once more, as a new generation"),
    Move("retry",      "completed",   "in_progress", "user",     False, "failed targets go back to pending"),
    Move("retry",      "failed",      "in_progress", "user",     False, "failed targets go back to pending"),
    Move("retry",      "paused",      "paused",      "user",     False, "failed targets go back to pending"),
    Move("retry",      "timeout",     "timeout",     "user",     False, "failed targets go back to pending"),
    Move("rollback",   "pending",     "paused",      "user",     False, "to a checkpoint"),
    Move("rollback",   "in_progress", "paused",      "user",     False, "to a checkpoint; workers lose their leases"),
    Move("rollback",   "paused",      "paused",      "user",     False, "to a checkpoint"),
    Move("rollback",   "completed",   "paused",      "user",     False, "to a checkpoint"),
    Move("rollback",   "failed",      "paused",      "user",     False, "to a checkpoint"),
    Move("rollback",   "timeout",     "paused",      "user",     False, "to a checkpoint"),
)

CHUNK_MOVES = (
    Move("lease",      "idle",        "leased",      "worker",   False, "raises the epoch by one"),
    Move("release",    "leased",      "idle",        "worker",   True,  "paused, stopped or drained"),
    Move("rescue",     "leased",      "idle",        "rescuer",  False, "its owner is dead or its time ran out"),
)

TARGET_MOVES = (
    Move("claim",      "pending",     "in_progress", "worker",   True,  "spends an attempt"),
    Move("succeed",    "in_progress", "succeeded",   "worker",   True,  "its result commits with it"),
    Move("skip",       "in_progress", "skipped",     "worker",   True,  "with a disposition"),
    Move("fail",       "in_progress", "failed",      "worker",   True,  "with a code"),
    Move("retry",      "in_progress", "pending",     "worker",   True,  "with not_before and a because"),
    Move("hand_back",  "in_progress", "pending",     "worker",   True,  "stopped before its end: attempt refunded"),
    Move("rescue",     "in_progress", "pending",     "rescuer",  False, "its worker died; refunded unless alone"),
    Move("poison",     "in_progress", "failed",      "rescuer",  False, "killed its worker three times, alone"),
    Move("cancel",     "pending",     "cancelled",   "user",     False, "its job was cancelled"),
    Move("requeue",    "failed",      "pending",     "user",     False, "retry, by an operator"),
    Move("rescan",     "succeeded",   "pending",     "user",     False, "generation + 1"),
    Move("rescan",     "skipped",     "pending",     "user",     False, "generation + 1"),
    Move("rescan",     "failed",      "pending",     "user",     False, "generation + 1"),
    Move("exclude",    "pending",     "skipped",     "user",     False, "an exclusion was added"),
    Move("include",    "skipped",     "pending",     "user",     False, "its exclusion was removed"),
    Move("rollback",   "succeeded",   "pending",     "user",     False, "settled after the checkpoint"),
    Move("rollback",   "skipped",     "pending",     "user",     False, "settled after the checkpoint"),
    Move("rollback",   "failed",      "pending",     "user",     False, "settled after the checkpoint"),
)
# fmt: on

JOB = Machine(
    "job",
    ("pending", "in_progress", "paused", "completed", "failed", "timeout", "cancelled"),
    JOB_MOVES,
    frozenset({"completed", "failed", "timeout", "cancelled"}),
)
CHUNK = Machine("chunk", ("idle", "leased"), CHUNK_MOVES, frozenset())
TARGET = Machine(
    "target",
    ("pending", "in_progress", "succeeded", "skipped", "failed", "cancelled"),
    TARGET_MOVES,
    frozenset({"succeeded", "skipped", "failed", "cancelled"}),
)
MACHINES = (JOB, CHUNK, TARGET)


def move(machine: Machine, status: str, verb: str) -> Move:
    """The row for this verb from this status, or `IllegalMove` naming what is allowed here."""
    if status not in machine.states:
        raise Corrupt(f"a {machine.thing} has the unknown status {status!r}")
    for row in machine.moves:
        if row.verb == verb and row.source == status:
            return row
    raise IllegalMove(machine.thing, status, verb, allowed(machine, status))


def allowed(machine: Machine, status: str, by: str | None = None) -> tuple[str, ...]:
    """The verbs that lead somewhere from this status, in table order."""
    rows = (row for row in machine.moves if row.source == status and (by is None or row.by == by))
    return tuple(dict.fromkeys(row.verb for row in rows))


class State(IntEnum):
    """A target's physical state: `pending` is three of them, so that each claim index stays small."""

    READY = 0
    WAITING = 1  # until not_before
    SOLO = 2  # suspect: claimed alone
    HELD = 3
    SUCCEEDED = 4
    SKIPPED = 5
    FAILED = 6
    CANCELLED = 7


WIRE_STATUS: dict[State, str] = {
    State.READY: "pending",
    State.WAITING: "pending",
    State.SOLO: "pending",
    State.HELD: "in_progress",
    State.SUCCEEDED: "succeeded",
    State.SKIPPED: "skipped",
    State.FAILED: "failed",
    State.CANCELLED: "cancelled",
}
STATES_OF: dict[str, tuple[State, ...]] = {
    status: tuple(state for state, wire in WIRE_STATUS.items() if wire == status) for status in TARGET.states
}
COUNTED = ("succeeded", "failed", "skipped", "cancelled", "pending", "in_progress")
_BY_NUMBER: dict[int, str] = dict(WIRE_STATUS.items())  # views ask for tens of thousands, and `State(3)` is not cheap


def wire_status(state: int) -> str:
    """The status people and programs see; an unknown number is damage, never a default."""
    try:
        return _BY_NUMBER[state]
    except KeyError as unknown:
        raise Corrupt(f"a target has the unknown state {state}") from unknown

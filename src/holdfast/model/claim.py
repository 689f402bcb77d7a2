"""What a worker wishes to claim, and what the ledger answers to a settle."""

from __future__ import annotations

import msgspec

from holdfast.model.lease import Lease
from holdfast.model.target import Claimed


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """Claim up to `room` targets from these leased chunks. `alone`: one suspect, with nothing else in hand.

    `in_levels`: only targets of the lowest rank that is unsettled anywhere in the job, so that a page is first found
    at its least depth, whatever the pace of the workers.
    """

    leases: tuple[Lease, ...]
    room: int
    delay_ms: int
    per_host: int
    alone: bool = False
    in_levels: bool = False
    named: bool = False  # whether targets of this job may have names and params to be handed along
    compared: bool = False  # whether targets are handed the records of their last good results along
    made: tuple[str, ...] = ()  # types of targets that a page limit does not count
    pages_max: int | None = None  # the job's page limit, which all workers' claims together must not pass


class SettleAnswer(msgspec.Struct, frozen=True):
    """What became of one chunk's batch: `settled`, `replayed` (it was already stored), or `lost` (fenced off)."""

    kind: str
    no: int = 0
    requested: str | None = None
    phase: str = ""


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """The ledger's answer, per chunk. Nothing of it is true before the commit that it reports."""

    answers: dict[int, SettleAnswer]
    claimed: tuple[Claimed, ...] = ()
    suspects: int = 0  # targets that wait to be claimed alone in the wished chunks
    next_due_ms: int | None = None  # ms from now until a lane may have work; None: nothing is waiting
    checkpoint: int | None = None
    pages_left: int | None = None  # how many more may be claimed under the page limit; None: there is none
    forbade: dict[str, int] = {}  # hosts whose last answer in this commit was 403 -> how many in a row


class Holding(msgspec.Struct, frozen=True):
    """What the ledger says a worker holds: current leases with their numbers, and every held target."""

    leases: tuple[Lease, ...]
    claimed: tuple[Claimed, ...]

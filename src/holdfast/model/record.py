"""Events, checkpoints and runs as a reader sees them."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from holdfast.model.edit import Walk
from holdfast.model.job import Counts

CHECKPOINT_REASONS = ("targets", "interval", "phase", "pause", "limit", "timeout", "final", "manual", "rollback")


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One line of history: who moved what, from where to where, why."""

    chunk: int
    seq: int
    at: int
    actor: str
    thing: str
    verb: str
    source: str
    target: str
    because: str


class StandingWalk(msgspec.Struct, frozen=True, kw_only=True):
    """A walk that was under way. How far it was is not kept: walked again, it ends alike."""

    verb: str
    actor: str
    doc: Walk


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """What stood beside the targets at a checkpoint: where the plan was, which exclusions held, what was under way.

    Of all that only the present is in the rows; a rollback needs how it was.
    """

    plan_done: bool
    trail: bytes = b""
    mode: str = "full"
    opening: str | None = None
    exclusions: tuple[int, ...] = ()
    walks: tuple[StandingWalk, ...] = ()


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A restore point: commit numbers and counts. The lists people want are queries as of `commits`."""

    job: int
    number: int
    reason: str
    at: int
    run: int
    phase: str
    generation: int
    cursor: int
    commits: dict[str, int]
    counts: Counts
    active_ms: int
    previous: bytes
    beside: Circumstances | None = None  # None: written by a program that could not roll back
    checksum: bytes = b""

    def sealed(self) -> Checkpoint:
        """The same checkpoint with its checksum, which covers every other field and the predecessor's."""
        bare = msgspec.structs.replace(self, checksum=b"")
        return msgspec.structs.replace(self, checksum=sha256(msgspec.json.encode(bare)).digest())

    def is_valid(self) -> bool:
        return self.sealed().checksum == self.checksum

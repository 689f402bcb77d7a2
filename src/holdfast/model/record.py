"""Events, checkpoints and runs as a reader sees them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

import msgspec

from holdfast.model.job import Counts

CHECKPOINT_REASONS = ("targets", "interval", "phase", "pause", "limit", "timeout", "final", "manual")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
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
    checksum: bytes = b""

    def sealed(self) -> Checkpoint:
        """The same checkpoint with its checksum, which covers every other field and the predecessor's."""
        bare = msgspec.structs.replace(self, checksum=b"")
        return msgspec.structs.replace(self, checksum=sha256(msgspec.json.encode(bare)).digest())

    def is_valid(self) -> bool:
        return self.sealed().checksum == self.checksum

"""Owners and leases: who holds which chunk, under which epoch, and up to which commit number."""

from __future__ import annotations

import msgspec

LEASE_S = 30.0
OUTAGE_S = 300.0


class Owner(msgspec.Struct, frozen=True):
    """One process, named so that another process of the same machine can prove it dead.

    `boot` is one start of one kernel, `namespace` the machine and the place where `pid` counts; `host` is only shown.
    `session` tells apart what one process leases for several purposes: only the very same asker gets its leases again.
    """

    host: str
    boot: str
    namespace: str
    pid: int
    started: int
    session: str = ""

    def __str__(self) -> str:
        return f"pid {self.pid} on {self.host}"


class Lease(msgspec.Struct, frozen=True):
    """One worker's hold on a chunk. `epoch` fences every write; `no` is the chunk's last commit number."""

    chunk: int
    job: int
    kind: str  # "control", "plan" or "work"
    index: int
    epoch: int
    no: int
    phase: str
    requested: str | None = None


class Holder(msgspec.Struct, frozen=True):
    """The owner of a chunk, as a reader sees it."""

    chunk: int
    kind: str
    epoch: int
    owner: Owner
    lapsed: bool


class Rescued(msgspec.Struct, frozen=True):
    """What taking over dead or lapsed chunks put back."""

    chunks: int = 0
    targets: int = 0
    poisoned: int = 0

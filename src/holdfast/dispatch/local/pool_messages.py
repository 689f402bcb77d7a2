"""What a program and the process that supervises its worker pool send each other: lines of JSON. Values."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from holdfast.config import Settings
from holdfast.dispatch.local.messages import Failure
from holdfast.model.job import Counts, Job
from holdfast.model.lease import Rescued
from holdfast.ports import SessionEnd

Why = Literal["pause", "drain"]


class PoolAssignment(msgspec.Struct, frozen=True, kw_only=True):
    """The first line to the supervising process: what is worked, by how many, and for which program."""

    parent: int
    job: Job
    processes: int
    trigger: str
    settings: dict[str, Any]

    def settings_read(self) -> Settings:
        return Settings(**{**self.settings, "data": Path(self.settings["data"])})


class Order(msgspec.Struct, frozen=True):
    """Every other line to it."""

    why: Why


class PoolProgress(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """How far the job is, after a commit. The job comes without its params: they may be long, and do not change."""

    job: Job
    counts: Counts
    in_flight: int
    checkpoint: int | None
    waiting: str
    rescued: Rescued | None


class Said(msgspec.Struct, frozen=True, tag=True):
    """A sentence for people."""

    words: str


class PoolEnd(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Its last line; a process that was killed sends none."""

    end: SessionEnd | None = None
    not_saved: int = 0
    rescued: Rescued | None = None
    failure: Failure | None = None


PoolMessage = PoolProgress | Said | PoolEnd


def pool_line(message: PoolMessage | PoolAssignment | Order) -> bytes:
    return msgspec.json.encode(message) + b"\n"


def pool_messages_in(heard: bytes) -> tuple[list[PoolMessage], bytes]:
    """The messages in whole lines, and the beginning of one that is not complete yet."""
    *whole, begun = heard.split(b"\n")
    return [msgspec.json.decode(line, type=PoolMessage) for line in whole], begun

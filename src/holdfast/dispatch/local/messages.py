"""What a supervisor and its worker processes send each other: an assignment, messages, a final report. Values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict, replace

from holdfast import errors
from holdfast.config import Settings
from holdfast.dispatch.crashes import Unexpected
from holdfast.errors import HoldfastError
from holdfast.model.job import Job
from holdfast.model.spread import Spread

OF_NEW_JOBS: dict[str, Any] = {"pace": {}, "pace_origins": {}, "hosts": {}, "sources": {}, "jobs": {}, "obsolete": {}}


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """What one worker process works on, and as which of how many."""

    job: Job
    workers: int
    place: int
    settings: dict[str, Any]

    def settings_read(self) -> Settings:
        return Settings(**{**self.settings, "data": Path(self.settings["data"])})


class Failure(msgspec.Struct, frozen=True):
    """An error on its way to another process."""

    kind: str
    message: str
    hint: str

    def error(self) -> HoldfastError:
        """The same error here; one with a constructor of its own, or an unexpected one, by its sentence only."""
        kind = getattr(errors, self.kind, Unexpected)
        if kind in (errors.IllegalMove, errors.FetchError):
            kind = errors.Refused
        made: HoldfastError = kind(self.message, hint=self.hint)
        return made


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The first message of a worker process: it is at work."""


class Drained(msgspec.Struct, frozen=True, tag=True):
    """It has nothing left to do, and perhaps no worker has."""


class PlanRaised(msgspec.Struct, frozen=True, tag=True):
    """What its plan raised; empty where the plan goes on after all. It works on."""

    why: str


class FinalReport(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The last message of a worker process that ended by itself; one that was killed sends none."""

    how: str = ""
    not_saved: int = 0
    failure: Failure | None = None
    waits: dict[int, int] = {}
    waits_sum_ns: int = 0
    waits_max_ns: int = 0

    def with_waits(self, spread: Spread | None) -> FinalReport:
        if spread is None:
            return self
        return msgspec.structs.replace(
            self, waits=dict(spread.ranges), waits_sum_ns=spread.sum_ns, waits_max_ns=spread.max_ns
        )

    def spread(self) -> Spread:
        found = Spread(sum_ns=self.waits_sum_ns, max_ns=self.waits_max_ns)
        found.ranges.update(self.waits)
        return found


Message = Ready | Drained | PlanRaised | FinalReport


def line_of(message: Message) -> bytes:
    return msgspec.json.encode(message) + b"\n"


def messages_in(heard: bytes) -> tuple[list[Message], bytes]:
    """The messages in whole lines, and the beginning of one that is not complete yet."""
    *whole, begun = heard.split(b"\n")
    return [msgspec.json.decode(line, type=Message) for line in whole], begun


def settings_sent(settings: Settings) -> dict[str, Any]:
    """What a worker needs of them; what jobs are made from is none of its business."""
    return {**asdict(replace(settings, **OF_NEW_JOBS)), "data": str(settings.data)}


def failure_of(error: HoldfastError) -> Failure:
    return Failure(type(error).__name__, error.message, error.hint)

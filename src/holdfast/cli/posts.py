"""What a supervisor and its worker processes say to each other: the post that one is given, its farewell. Values."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import msgspec

from holdfast import errors
from holdfast.cli.crashes import Unexpected
from holdfast.config import Settings
from holdfast.errors import HoldfastError
from holdfast.model.job import Job
from holdfast.model.spread import Spread

OF_NEW_JOBS: dict[str, Any] = {"pace": {}, "pace_origins": {}, "hosts": {}, "sources": {}, "jobs": {}, "obsolete": {}}
READY = b"ready\n"  # the first thing a worker process says
DRAINED = b"holdfast worker: drained"  # it has nothing left to do, and perhaps nobody has
PLAN_FAILED = b"holdfast worker: plan failed: "  # before what its plan raised, as JSON; it goes on working


class Post(msgspec.Struct, frozen=True, kw_only=True):
    """What one worker process works at, and as which of how many."""

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
        """The same error here; one with a constructor of its own, or that nobody foresaw, by its sentence only."""
        kind = getattr(errors, self.kind, Unexpected)
        if kind in (errors.IllegalMove, errors.FetchError):
            kind = errors.Refused
        made: HoldfastError = kind(self.message, hint=self.hint)
        return made


class Farewell(msgspec.Struct, frozen=True, kw_only=True):
    """The last line of a worker process that came to its own end; who was killed says nothing."""

    how: str = ""
    not_saved: int = 0
    failure: Failure | None = None
    waits: dict[int, int] = {}
    waits_sum_ns: int = 0
    waits_max_ns: int = 0

    def with_waits(self, spread: Spread | None) -> Farewell:
        if spread is None:
            return self
        return msgspec.structs.replace(
            self, waits=dict(spread.ranges), waits_sum_ns=spread.sum_ns, waits_max_ns=spread.max_ns
        )

    def spread(self) -> Spread:
        found = Spread(sum_ns=self.waits_sum_ns, max_ns=self.waits_max_ns)
        found.ranges.update(self.waits)
        return found


def settings_sent(settings: Settings) -> dict[str, Any]:
    """What a worker needs of them; what jobs are made from is none of its business."""
    return {**asdict(replace(settings, **OF_NEW_JOBS)), "data": str(settings.data)}


def line(news: bytes) -> bytes:
    """A line of its own for the supervisor. A recipe may have printed half a line: it is ended."""
    return b"\n" + news + b"\n"


def plan_failure(why: str) -> bytes:
    """The line that tells what the plan raised."""
    return line(PLAN_FAILED + msgspec.json.encode(why))


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What a living worker's words tell: what its plan raised, None without a word of it; whether it ran out of work.

    `rest` is everything else that it said.
    """

    plan_failed: str | None
    drained: bool
    rest: bytes


def told_by(said: bytes) -> Told:
    """Whole lines only; of several plan failures the last."""
    *whole, unfinished = said.split(b"\n")
    failures = [text for text in whole if text.startswith(PLAN_FAILED)]
    rest = [text for text in whole if text != DRAINED and not text.startswith(PLAN_FAILED)]
    return Told(
        plan_failed=msgspec.json.decode(failures[-1].removeprefix(PLAN_FAILED), type=str) if failures else None,
        drained=DRAINED in whole,
        rest=b"\n".join([*rest, unfinished]),
    )


def failure_of(error: HoldfastError) -> Failure:
    return Failure(type(error).__name__, error.message, error.hint)

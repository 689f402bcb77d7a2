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


def plan_failure(why: str) -> bytes:
    """The line that tells a supervisor what the plan raised. A recipe may have printed half a line: it is ended."""
    return b"\n" + PLAN_FAILED + msgspec.json.encode(why) + b"\n"


def plan_failure_read(said: bytes) -> tuple[str | None, bytes]:
    """What the plan raised by the last whole line that says so, None without one, and the rest of what was said."""
    lines = said.split(b"\n")
    news = [line for line in lines[:-1] if line.startswith(PLAN_FAILED)]
    if not news:
        return None, said
    rest = b"\n".join(line for line in lines if line not in news)
    return msgspec.json.decode(news[-1].removeprefix(PLAN_FAILED), type=str), rest


def failure_of(error: HoldfastError) -> Failure:
    return Failure(type(error).__name__, error.message, error.hint)

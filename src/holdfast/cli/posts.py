"""What a supervisor and its worker processes say to each other: the post that one is given, its words. Values."""

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


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The first word of a worker process: it is at work."""


class Drained(msgspec.Struct, frozen=True, tag=True):
    """It has nothing left to do, and perhaps nobody has."""


class PlanFailed(msgspec.Struct, frozen=True, tag=True):
    """What its plan raised; empty where the plan goes on after all. It works on."""

    why: str


class Farewell(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The last word of a worker process that came to its own end; who was killed says none."""

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


Word = Ready | Drained | PlanFailed | Farewell


def line_of(word: Word) -> bytes:
    return msgspec.json.encode(word) + b"\n"


def words_in(heard: bytes) -> tuple[list[Word], bytes]:
    """The words of whole lines, and the beginning of one that is not whole yet."""
    *whole, begun = heard.split(b"\n")
    return [msgspec.json.decode(line, type=Word) for line in whole], begun


def settings_sent(settings: Settings) -> dict[str, Any]:
    """What a worker needs of them; what jobs are made from is none of its business."""
    return {**asdict(replace(settings, **OF_NEW_JOBS)), "data": str(settings.data)}


def failure_of(error: HoldfastError) -> Failure:
    return Failure(type(error).__name__, error.message, error.hint)

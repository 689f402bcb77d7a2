"""Values as people type and read them: durations, sizes, numbers in a range, and times that have passed. Pure."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from holdfast.errors import BadParams
from holdfast.model import units
from holdfast.model.units import show_duration as show_duration
from holdfast.model.units import show_size as show_size

Value = TypeVar("Value")
_SPANS = ((60, 1, "s"), (3600, 60, "min"), (48 * 3600, 3600, "h"), (float("inf"), 86400, "d"))


def duration(least_s: float, most_s: float) -> Callable[[str], float]:
    """A reader of `500ms 2s 30m 2h`, in seconds; a bare number is seconds."""
    return of_an_option(units.duration(least_s, most_s))


def size(least: int, most: int) -> Callable[[str], int]:
    """A reader of `10kB 1.5GB`, in bytes; a bare number is bytes."""
    return of_an_option(units.size(least, most))


def whole(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers in a range."""
    return of_an_option(units.whole(least, most))


def of_an_option(reader: Callable[[str], Value]) -> Callable[[str], Value]:
    """argparse shows the sentence of this error, and of no other."""

    def read(text: str) -> Value:
        try:
            return reader(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None

    return read


def share(text: str) -> str | float:
    """`never`, `problems`, `any` or `N%` as a share of one: what counts for exit code 3."""
    if text in ("never", "problems", "any"):
        return text
    found = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)%", text)
    if found is None or float(found[1]) > 100:
        raise ArgumentTypeError(f"{text!r} is neither never, problems, any nor a percentage such as 5%")
    return float(found[1]) / 100


def since(text: str, now_ms: int) -> int:
    """Wall ms of `2026-03-01T14:00Z`, or of a time before now: `2h`. A time without a zone is UTC."""
    ago_s = units.seconds_ago(text)
    if ago_s is not None:
        return now_ms - round(1000 * ago_s)
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadParams(f"{text!r} is not a time", hint="2026-03-01T14:00Z, or how long ago: 30m, 2h, 3d") from None
    return round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)


def span(seconds: float) -> str:
    """A length of time in one unit: `9 s`, `5 min`, `2 h`, `3 d`."""
    seconds = max(0.0, seconds)
    _, scale, unit = next(row for row in _SPANS if seconds < row[0])
    return f"{int(seconds / scale)} {unit}"


def ago(then_ms: int, now_ms: int) -> str:
    return f"{span((now_ms - then_ms) / 1000)} ago"


def time_of_day(wall_ms: int) -> str:
    """`14:31:07Z`."""
    return f"{datetime.fromtimestamp(wall_ms / 1000, tz=UTC):%H:%M:%S}Z"


def moment(wall_ms: int, now_ms: int) -> str:
    """`14:00 UTC` of the last day, else with its date."""
    when = datetime.fromtimestamp(wall_ms / 1000, tz=UTC)
    return f"{when:%H:%M} UTC" if now_ms - wall_ms < 86_400_000 else f"{when:%Y-%m-%d %H:%M} UTC"

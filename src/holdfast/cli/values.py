"""Values as people type and read them: durations, sizes, numbers in a range, and times that have passed. Pure."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from datetime import UTC, datetime

DURATIONS_S = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_NUMBER = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([a-zA-Z]*)")
_SPANS = ((60, 1, "s"), (3600, 60, "min"), (48 * 3600, 3600, "h"), (float("inf"), 86400, "d"))


def duration(least_s: float, most_s: float) -> Callable[[str], float]:
    """A reader of `500ms 2s 30m 2h`, in seconds; a bare number is seconds."""

    def read(text: str) -> float:
        seconds = _scaled(text, DURATIONS_S, "a duration such as 500ms, 2s, 30m or 2h", fold=False)
        return _within(seconds, least_s, most_s, show_duration, text)

    return read


def size(least: int, most: int) -> Callable[[str], int]:
    """A reader of `10kB 1.5GB`, in bytes; a bare number is bytes."""

    def read(text: str) -> int:
        found = round(_scaled(text, SIZES, "a size such as 10kB or 1.5GB", fold=True))
        return round(_within(found, least, most, show_size, text))

    return read


def whole(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers in a range."""

    def read(text: str) -> int:
        if re.fullmatch(r"[+-]?[0-9]{1,15}", text) is None:
            raise ArgumentTypeError(f"{text!r} is not a whole number")
        return int(_within(int(text), least, most, lambda number: f"{number:.0f}", text))

    return read


def share(text: str) -> str | float:
    """`never`, `any` or `N%` as a share of one: what counts for exit code 3."""
    if text in ("never", "any"):
        return text
    found = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)%", text)
    if found is None or float(found[1]) > 100:
        raise ArgumentTypeError(f"{text!r} is neither never, any nor a percentage such as 5%")
    return float(found[1]) / 100


def _scaled(text: str, units: dict[str, float] | dict[str, int], what: str, *, fold: bool) -> float:
    found = _NUMBER.fullmatch(text.strip())
    unit = "?" if found is None else found[2].lower() if fold else found[2]
    if found is None or unit not in units:
        raise ArgumentTypeError(f"{text!r} is not {what}")
    return float(found[1]) * units[unit]


def _within(value: float, least: float, most: float, show: Callable[[float], str], text: str) -> float:
    if not least <= value <= most:
        raise ArgumentTypeError(f"must be from {show(least)} to {show(most)}, not {text}")
    return value


def show_duration(seconds: float) -> str:
    """The shortest spelling that reads back as the same: `500ms`, `2s`, `30m`."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms" if seconds else "0s"
    for unit in ("h", "m"):
        if seconds % DURATIONS_S[unit] == 0:
            return f"{seconds / DURATIONS_S[unit]:g}{unit}"
    return f"{seconds:g}s"


def show_size(count: float) -> str:
    """`50MB`, `1.5GB`."""
    for unit, scale in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= scale:
            return f"{count / scale:g}{unit}"
    return f"{count:g}B"


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

"""Durations, sizes and numbers as people write them, in options, files and the environment. Pure.

A reader takes text and answers a value, or raises ValueError with a sentence that says what would be right.
"""

from __future__ import annotations

import re
from collections.abc import Callable

DURATIONS_S = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
SIZES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_NUMBER = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([a-zA-Z]*)")
_WHOLE = re.compile(r"[+-]?[0-9]{1,15}")


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
        return int(_within(_whole(text), least, most, lambda number: f"{number:.0f}", text))

    return read


def clamped(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers that brings one out of range to its nearest end: for sizes of what runs at once."""
    return lambda text: min(max(_whole(text), least), most)


def seconds_ago(text: str) -> float | None:
    """`30m 2h 3d` in seconds; None for what carries no unit, and may be a date."""
    if text.strip().isdigit():
        return None
    try:
        return _scaled(text, {**DURATIONS_S, "d": 86_400.0}, "", fold=False)
    except ValueError:
        return None


def show_duration(seconds: float) -> str:
    """The shortest spelling that reads back as the same: `500ms`, `2s`, `30m`."""
    if seconds < 1:
        return f"{seconds * 1000:g}ms" if seconds else "0s"
    for unit in ("h", "m"):
        if seconds % DURATIONS_S[unit] == 0 and seconds != 60:  # everybody says 60s
            return f"{seconds / DURATIONS_S[unit]:g}{unit}"
    return f"{seconds:g}s"


def show_size(count: float) -> str:
    """`50MB`, `1.5GB`."""
    for unit, scale in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= scale:
            return f"{count / scale:g}{unit}"
    return f"{count:g}B"


def _whole(text: str) -> int:
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def _scaled(text: str, units: dict[str, float] | dict[str, int], what: str, *, fold: bool) -> float:
    found = _NUMBER.fullmatch(text.strip())
    unit = "?" if found is None else found[2].lower() if fold else found[2]
    if found is None or unit not in units:
        raise ValueError(f"{text!r} is not {what}")
    return float(found[1]) * units[unit]


def _within(value: float, least: float, most: float, show: Callable[[float], str], text: str) -> float:
    if not least <= value <= most:
        raise ValueError(f"must be from {show(least)} to {show(most)}, not {text}")
    return value

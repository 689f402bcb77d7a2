"""Types of values that people write, in a file, on a command line or in Python: how each is read and shown. Pure.

A reader returns the value as code wants it (seconds, bytes, tuples), or raises ValueError with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from holdfast.model import units

REFERENCES = ("env:", "file:")  # how a text begins that names a secret
FLAGS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


class ValueType(msgspec.Struct, frozen=True):
    """`word` names the type for people, `python` is the annotation of the same option in Python.

    `gather` makes one value of the words of a repeated option; None: the option takes one word.

    `reference_behind`: a text of it, or what stands behind this mark in it, may name a secret as `env:NAME` or
    `file:PATH`. None: it never does.
    """

    word: str
    read: Callable[[Any], Any]
    show: Callable[[Any], str] = str
    quoted: bool = True  # whether TOML has it in quotes
    python: Any = str
    gather: Callable[[Any], Any] | None = None
    choices: tuple[str, ...] = ()
    reference_behind: str | None = None

    def plain(self, value: Any) -> Any:
        """The value as a file or JSON has it: `30s`, 8, a list. Never a secret."""
        if self.quoted:
            return self.show(value)
        return list(value) if isinstance(value, tuple) else value


def duration(least_s: float, most_s: float) -> ValueType:
    return ValueType("duration", _from_text(units.duration(least_s, most_s)), units.show_duration, python=float | str)


def duration_ms(least_s: float, most_s: float) -> ValueType:
    """Kept in milliseconds."""
    read = _from_text(units.duration(least_s, most_s))
    return ValueType(
        "duration",
        lambda value: round(read(value) * 1000),
        lambda kept: units.show_duration(kept / 1000),
        python=float | str,
    )


def size(least: int, most: int) -> ValueType:
    return ValueType("size", _from_text(units.size(least, most)), units.show_size, python=int | str)


def whole(least: int, most: int) -> ValueType:
    return ValueType("number", _from_text(units.whole(least, most)), quoted=False, python=int)


def clamped(least: int, most: int) -> ValueType:
    """A number of things at once: more than there can be is brought down, not refused (CFG-01)."""
    read = _from_text(units.clamped(least, most))
    return ValueType(f"number, {least} to {most}", read, quoted=False, python=int)


def choice(*words: str) -> ValueType:
    """One of a few words."""

    def read(value: Any) -> str:
        if value not in words:
            raise ValueError(f"{as_typed(value)} is none of {', '.join(words)}")
        return str(value)

    return ValueType("text", read, choices=words)


def as_typed(value: Any) -> str:
    """A wrong value as an error quotes it."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def read_text(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"{as_typed(value)} is not a line of text")
    return value.strip()


def read_texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [part for part in (part.strip() for part in value.split(",")) if part]
    if not isinstance(value, (list, tuple)) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{as_typed(value)} is not a list of texts")
    return tuple(value)


def read_table(value: Any) -> dict[str, str]:
    if isinstance(value, dict) and all(isinstance(text, str) for text in value.values()):
        return value
    raise ValueError(f'{value!r} is not a table such as {{ id = "Actions", title = "Title" }}')


def read_params(value: Any) -> dict[str, str | int | float]:
    if isinstance(value, dict) and all(isinstance(each, (str, int, float)) for each in value.values()):
        return value
    raise ValueError(f"{value!r} is not a table of parameters")


def _reference(value: Any) -> str:
    """Not repeated where it is wrong: it may be the secret itself."""
    if not isinstance(value, str) or not value.isprintable() or not value.strip().startswith(REFERENCES):
        raise ValueError("a key would be stored in the clear; write env:NAME or file:PATH")
    return value.strip()


def _from_text(reader: Callable[[str], Any]) -> Callable[[Any], Any]:
    """A number may stand in a file as a number, with or without quotes."""

    def read(value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError(f"{as_typed(value)} is not a value with a unit such as 30s or 50MB, nor a number")
        return reader(value if isinstance(value, str) else f"{value}")

    return read


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    found = FLAGS.get(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(f"{as_typed(value)} is neither true nor false")
    return found


FLAG = ValueType("true or false", _flag, lambda kept: str(kept).lower(), quoted=False, python=bool)
TEXT = ValueType("text", read_text)
PATH = ValueType("path", read_text)
TEXTS = ValueType("list of texts", read_texts, ", ".join, quoted=False, python=Sequence[str], gather=tuple)
NUMBER = whole(0, 10**15)
REFERENCE = ValueType("env:NAME or file:PATH", _reference, reference_behind="")
TABLE = ValueType("table", read_table, quoted=False, python=Mapping[str, str] | str)
PARAMS = ValueType("table", read_params, quoted=False, gather=dict)
TABLE_OF_TEXTS = Mapping[str, str]  # the annotation of a type that is a table

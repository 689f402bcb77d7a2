"""One option of a job: the one row from which its command-line argument, its Python name, its key in job files and its
setting are made. No I/O.

Options of all kinds stand in config/options.py, those of one kind in its `Kind`.
"""

from __future__ import annotations

from collections.abc import Callable
from keyword import iskeyword
from typing import Any

import msgspec

from holdfast.model.value_types import ValueType

# What becomes of an option's value.
PACE = "pace"  # a field of the job's `Options`; a changed one is applied to a job that is there
PARAM = "param"  # of the kind's recipe; one of the kind's scope is changed by --update
INPUT = "input"  # what a job begins with
SHORTHAND = "shorthand"  # the start command makes inputs, params or pace of it
COMMAND = "command"  # what the command does that works the job; in Python the program's own affair


class Configured(msgspec.Struct, frozen=True, kw_only=True):
    """The setting that is an option's default. `type` and `meaning` are the option's unless others are given."""

    key: str
    type: ValueType | None = None
    meaning: str = ""


class StoredField(msgspec.Struct, frozen=True):
    """How a value is kept with its job: a field of the job's `Options`, which is generated from these.

    `type` is the field's annotation. A job from elsewhere may bring a harmless value (how fast, how long, how often,
    how much; or nothing but a name); what else it brings is told to people first, as `told` with the value for `{}`,
    or by name and value.
    """

    field: str
    type: Any
    default: Any
    harmless: bool = False
    told: str = ""


class Option(msgspec.Struct, frozen=True):
    """`name` is its key in job files and, with the same spelling, its name in Python; `meaning` is for lists of keys.

    `flag` is empty where the value stands without one, as seeds do. `joined` makes one word of a list. `is_path`: in a
    file, relative to the file. An option without `help` has no argument made for it: every start command adds it,
    or there is none yet. `typed` reads one word of the command line where `type` cannot; `python` is "" where
    Python does not have the option.
    """

    name: str
    type: ValueType
    meaning: str
    flag: str = ""
    joined: bool = False
    is_path: bool = False
    part: str = PARAM
    stored: StoredField | None = None  # None: not among the job's `Options`
    metavar: str | None = None
    help: str = ""
    heading: str = ""  # of --help that it stands under; empty: the first
    typed: Callable[[str], Any] | None = None
    python: str | None = None
    is_key: bool = True  # of job files
    commands: frozenset[str] | None = None  # start commands that have it; None: all
    configured: Configured | None = None

    @property
    def field(self) -> str:
        """Of the job's `Options`; empty where the value is not kept there."""
        return self.stored.field if self.stored is not None else ""

    @property
    def destination(self) -> str:
        """Where argparse puts the value."""
        name = self.flag.lstrip("-").replace("-", "_")
        return f"{name}_" if iskeyword(name) else name

    @property
    def python_name(self) -> str:
        """Its name in Python; empty where it has none."""
        if self.python is not None:
            return self.python
        return self.name if self.part in (PACE, PARAM) else ""

    @property
    def is_secret(self) -> bool:
        """Whether a text of it may name a secret."""
        return self.type.reference_behind is not None

    def parted(self, text: str) -> tuple[str, str]:
        """A text of a secret option: what stands before, and the part that may be a reference."""
        if not self.type.reference_behind:
            return "", text.strip()
        before, mark, behind = text.partition(self.type.reference_behind)
        return before + mark, behind.strip()

    def read_word(self, text: str) -> Any:
        """One word as typed. ValueError says what would be right."""
        if self.typed is not None:
            return self.typed(text)
        return text if self.type.gather is not None else self.type.read(text)

    def words(self, typed: str | list[Any]) -> list[Any]:
        """What was typed of an option that takes several words; empty ones stand for none at all."""
        if isinstance(typed, str):  # joined: one word, with commas between its parts
            return [part for each in typed.split(",") if (part := each.strip())]
        return [] if typed == [""] else typed

"""`--skip-where`: rows of a list that are not wanted, by the filter grammar of the command line over the list's
columns.

Space is AND, `key:a,b` OR, `-key:a` NOT, `*` globs, quotes keep spaces together: `category:*crim* -court:"Grand
Court"`. A key is a column's name without spaces and punctuation, or a field of `columns.KNOWN`. Letters match in
either case.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import msgspec

from holdfast.errors import BadParams
from holdfast.policy.patterns import glob_matches
from holdfast.recipes.documents.columns import normal_name

HINT = "--skip-where 'category:*criminal*'"
_TERM = re.compile(r'(-?)([^\s:",]+):((?:"[^"]*"|[^\s"])+)(?:\s+|\Z)')
_VALUE = re.compile(r'((?:"[^"]*"|[^,"])+)(?:,|\Z)')


class Condition(msgspec.Struct, frozen=True):
    """`column` is a normalised name; the values are globs in small letters, one of which must fit, or none."""

    column: str
    wanted: bool
    values: tuple[str, ...]


def read_filter(text: str) -> tuple[Condition, ...]:
    """All of which must hold for a row to be skipped; an empty text skips nothing."""
    text = text.strip()
    found: list[Condition] = []
    at = 0
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None:
            raise BadParams(f"--skip-where cannot be read from {text[at:]!r} on", hint=HINT)
        values = tuple(value.replace('"', "").casefold() for value in _VALUE.findall(term[3]))
        if "" in values or len(values) != re.sub(r'"[^"]*"', "", term[3]).count(",") + 1:
            raise BadParams(f"--skip-where: {term[2]}: needs a value", hint=HINT)
        found.append(Condition(normal_name(term[2]), not term[1], values))
        at = term.end()
    return tuple(found)


def check_filter(conditions: Sequence[Condition], known: Sequence[str]) -> None:
    """BadParams where a condition names a column that the list has not: a typo must not mean that nothing is
    skipped.
    """
    names = {normal_name(name) for name in known}
    for condition in conditions:
        if condition.column not in names:
            near = get_close_matches(condition.column, names, n=1)
            guess = f"; did you mean {near[0]}?" if near else ""
            raise BadParams(f"--skip-where: the list has no column {condition.column!r}{guess}", hint=HINT)


def is_skipped(cells: Mapping[str, str], conditions: Sequence[Condition]) -> bool:
    """Whether a row, its cells by normalised name, meets every condition; without conditions no row does."""
    return bool(conditions) and all(_holds(cells, condition) for condition in conditions)


def _holds(cells: Mapping[str, str], condition: Condition) -> bool:
    cell = cells.get(condition.column, "").strip().casefold()
    return any(glob_matches(value, cell) for value in condition.values) == condition.wanted

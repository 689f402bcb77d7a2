"""The filter grammar of `--where`, `?where=` and the search box (ux.md 5.1), for targets. Parses and matches; no SQL.

Space is AND, `key:a,b` OR, `-key:a` NOT, `key:>3` compares numbers, `*` globs, quotes keep spaces and commas together:
`status:failed -code:http_404 depth:>2 url:"*/a b*"`. A condition is `(column, wanted, values)`, as in Views.targets;
its values stay texts, and `reading` says how one is meant, so that every ledger reads them alike.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from holdfast.errors import BadParams
from holdfast.model.states import TARGET
from holdfast.model.target import TargetRow
from holdfast.policy.patterns import glob_matches

Condition = tuple[str, bool, tuple[str, ...]]

KEYS = ("status", "disposition", "rule", "code", "type", "host", "url", "depth", "attempts")
NUMBERS = frozenset({"depth", "attempts"})
STATUS_ALIASES = {"running": "in_progress", "success": "succeeded", "downloaded": "succeeded"}
NUMBER_MAX = 2**31 - 1

_TERM = re.compile(r'(?P<no>-?)(?P<key>[^\s:",]*):(?P<values>(?:"[^"]*"|[^\s"])*)(?:\s+|\Z)')
_VALUE = re.compile(r'((?:"[^"]*"|[^,"])+)(?:,|\Z)')
_COMPARE = {"=": operator.eq, ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_COMPARED = re.compile(r"(>=|<=|>|<|)(\d{1,10})")


@dataclass(frozen=True, slots=True)
class Reading:
    """How a value is meant: `op` is `=`, `>`, `>=`, `<`, `<=` (with a number) or `*` (a glob over text)."""

    op: str
    value: str | int


def parse(text: str) -> list[Condition]:
    """The conditions of a filter, all of which must hold; an empty text has none. BadParams says what is wrong."""
    conditions: list[Condition] = []
    at = len(text) - len(text.lstrip())
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None:
            raise BadParams(f"cannot read the filter from {text[at:]!r} on", hint="status:failed url:*/guide/*")
        conditions.append(_condition(term["key"], not term["no"], term["values"]))
        at = term.end()
    return conditions


def matches(row: TargetRow, conditions: Sequence[Condition]) -> bool:
    """Whether a target fits. A missing value (no code, no rule) fits no value, and so fits every `-key:`."""
    return all(_fits_any(getattr(row, key), key, values) == wanted for key, wanted, values in conditions)


def reading(key: str, value: str) -> Reading:
    """How one value of a condition is meant."""
    if key in NUMBERS:
        compared = _COMPARED.fullmatch(value)
        if compared is None or int(compared[2]) > NUMBER_MAX:
            raise BadParams(f"{key}:{value} needs a number, as in {key}:2 or {key}:>3")
        return Reading(compared[1] or "=", int(compared[2]))
    return Reading("*" if "*" in value else "=", value)


def _condition(key: str, wanted: bool, text: str) -> Condition:
    if key not in KEYS:
        near = get_close_matches(key, KEYS, n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise BadParams(f"no target has the filter key {key!r}{guess}", hint=f"keys: {' '.join(KEYS)}")
    values = tuple(_clean(key, value) for value in _VALUE.findall(text))
    if "" in values or len(values) != _commas(text) + 1:
        raise BadParams(f"{key}: needs a value, as in {key}:a or {key}:a,b")
    return key, wanted, values


def _clean(key: str, quoted: str) -> str:
    value = quoted.replace('"', "")
    if key == "status":
        value = STATUS_ALIASES.get(value, value)
        if "*" not in value and value not in TARGET.states:
            raise BadParams(f"no target has the status {value!r}", hint=f"one of: {' '.join(TARGET.states)}")
    reading(key, value)
    return value


def _commas(text: str) -> int:
    return re.sub(r'"[^"]*"', "", text).count(",")


def _fits_any(have: str | int | None, key: str, values: Sequence[str]) -> bool:
    return have is not None and any(_fits(have, reading(key, value)) for value in values)


def _fits(have: str | int, want: Reading) -> bool:
    if isinstance(have, int) and isinstance(want.value, int):
        return bool(_COMPARE[want.op](have, want.value))
    return glob_matches(str(want.value), str(have)) if want.op == "*" else have == want.value

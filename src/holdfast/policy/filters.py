"""The filter grammar of `--where`, `?where=` and the search box (ux.md 5.1). Parses and matches; no SQL.

Space is AND, `key:a,b` OR, `-key:a` NOT, `key:>3` compares numbers, `*` globs, quotes keep spaces and commas together:
`status:failed -code:http_404 depth:>2 url:"*/a b*"`. Times are ages or moments: `settled:<2h` is less than two hours
ago, `found:>2026-03-01` is after that day began. A condition is `(column, wanted, values)`, as in Views.targets; its
values stay texts, and `reading` says how one is meant, so that every ledger reads them alike.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches

import msgspec

from holdfast.errors import BadParams
from holdfast.model.codes import CODES
from holdfast.model.job import HEALTHS
from holdfast.model.states import JOB, TARGET
from holdfast.model.target import TargetRow
from holdfast.policy.patterns import glob_matches

Condition = tuple[str, bool, tuple[str, ...]]

KEYS = (
    "status", "disposition", "rule", "code", "type", "host", "url", "depth", "parent", "chunk", "run", "attempts",
    "bytes", "label", "found", "settled", "id",
)  # fmt: skip
NUMBERS = frozenset({"depth", "attempts", "bytes"})
IDS = {
    "id": ("T-", 16),
    "parent": ("T-", 16),
    "chunk": ("C-", 16),
    "run": ("R-", 10),
}  # key -> what its ids begin with, their base
TIMES = frozenset({"found", "settled"})
ATTRIBUTES = {"found": "found_at", "settled": "settled_at", "bytes": "size"}  # of a row, where it is not the key itself
STATUS_ALIASES = {"running": "in_progress", "success": "succeeded", "downloaded": "succeeded"}
NUMBER_MAX = 2**53
AGES_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
SIZES = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

_TERM = re.compile(r'(?P<no>-?)(?P<key>[^\s:",]*):(?P<values>(?:"[^"]*"|[^\s"])*)(?:\s+|\Z)')
_VALUE = re.compile(r'((?:"[^"]*"|[^,"])+)(?:,|\Z)')
_COMPARE = {"=": operator.eq, ">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
_COMPARED = re.compile(r"(>=|<=|>|<|)(\d{1,16}(?:\.\d{1,9})?)(\w*)")
_AGE = re.compile(r"(>=|<=|>|<|)(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h|d|w)")
_MOMENT = re.compile(r"(>=|<=|>|<)(\S+)")
_OLDER = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "": ">="}  # an age below is a moment above
_AT = "@"  # before a moment in wall milliseconds, as `resolved` writes it
# What screens call the condition of a job, in small letters: `interrupted` is in progress, and no process works it.
JOB_STATES = (
    "queued", "running", "interrupted", "pausing", "cancelling", "stopping", "paused", "done", "failed", "stopped",
    "timed out", "cancelled",
)  # fmt: skip


class Grammar(msgspec.Struct, frozen=True):
    """What may be asked of one noun: its keys, and those whose values are a closed list, with it."""

    noun: str
    keys: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]


TARGETS = Grammar("target", KEYS, {"status": TARGET.states, "code": tuple(CODES)})
JOBS = Grammar(
    "job",
    ("status", "state", "kind", "name", "health", "batch", "stale"),
    {"status": JOB.states, "state": JOB_STATES, "health": HEALTHS, "stale": ("true", "false")},
)


class FilterText(msgspec.Struct, frozen=True):
    """How a value is meant: `op` is `=`, `>`, `>=`, `<`, `<=` (with a number) or `*` (a glob over text)."""

    op: str
    value: str | int


def parse(text: str, grammar: Grammar = TARGETS) -> list[Condition]:
    """The conditions of a filter; all must hold, and an empty text has none. BadParams says what is wrong."""
    if any("\ud800" <= char <= "\udfff" for char in text):  # how Python passes on typed bytes that are not UTF-8
        raise BadParams(f"the filter {text!r} contains bytes that are not text")
    conditions: list[Condition] = []
    at = len(text) - len(text.lstrip())
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None:
            raise BadParams(f"cannot read the filter from {text[at:]!r} on", hint="status:failed url:*/guide/*")
        conditions.append(_condition(grammar, term["key"], not term["no"], term["values"]))
        at = term.end()
    return conditions


def matches(row: TargetRow, conditions: Sequence[Condition]) -> bool:
    """Whether a target fits. A missing value (no code, no rule) fits no value, and so fits every `-key:`."""
    return all(
        _fits_any(getattr(row, ATTRIBUTES.get(key, key)), key, values) == wanted for key, wanted, values in conditions
    )


def resolved(conditions: Iterable[Condition], now_ms: int) -> list[Condition]:
    """The same with ages (`<2h`) as the moments they mean now: what is kept must mean the same tomorrow."""
    return [
        (key, wanted, tuple(_moment_of(value, now_ms) for value in values) if key in TIMES else values)
        for key, wanted, values in conditions
    ]


def fits(values: dict[str, str | None], conditions: Sequence[Condition]) -> bool:
    """The same for any noun whose values are texts by key."""
    return all(_fits_any(values.get(key), key, wanted_values) == wanted for key, wanted, wanted_values in conditions)


def reading(key: str, value: str) -> FilterText:
    """How one value of a condition is meant; an age is meant as `resolved` leaves it."""
    if key in NUMBERS:
        return _number(key, value)
    if key in IDS:
        return _id(key, value)
    if key in TIMES:
        return _time(key, value)
    return FilterText("*" if "*" in value else "=", value)


def statuses(value: str) -> list[str]:
    """The statuses that a value means: itself, or all that fit its glob."""
    return [status for status in TARGET.states if glob_matches(value, status)]


def _number(key: str, value: str) -> FilterText:
    compared = _COMPARED.fullmatch(value)
    units = SIZES if key == "bytes" else {"": 1}
    if compared is not None and compared[3] in units:
        meant = float(compared[2]) * units[compared[3]]
        if meant == int(meant) <= NUMBER_MAX:
            return FilterText(compared[1] or "=", int(meant))
    example = "bytes:>1MB" if key == "bytes" else f"{key}:>3"
    raise BadParams(f"{key}:{value} needs a number, as in {key}:2 or {example}")


def _id(key: str, value: str) -> FilterText:
    """`T-9`, `C-3`, `R-4`, or the bare number."""
    mark, base = IDS[key]
    digits = value.removeprefix(mark)
    try:
        meant = int(digits, base) if re.fullmatch(r"[0-9a-fA-F]{1,13}", digits) else -1
    except ValueError:
        meant = -1
    if meant < 0:
        raise BadParams(f"{key}:{value} needs an id, as in {key}:{mark}4")
    return FilterText("=", meant)


def _time(key: str, value: str) -> FilterText:
    """Moments compare with moments; that an age can be read is checked, what it means is for `resolved`."""
    at = _moment_of(value, 0)
    compared = re.fullmatch(rf"(>=|<=|>|<){_AT}(-?[0-9]{{1,16}})", at)  # a ledger has room for no more
    if compared is None:
        raise BadParams(f"{key}:{value} needs an age or a moment, as in {key}:<2h or {key}:>2026-03-01")
    return FilterText(compared[1], int(compared[2]))


def _moment_of(value: str, now_ms: int) -> str:
    """`<2h` and `>2026-03-01T14:00` as `>@1772370000000`; anything else as it is."""
    age = _AGE.fullmatch(value)
    if age is not None:
        return f"{_OLDER[age[1]]}{_AT}{now_ms - round(float(age[2]) * AGES_MS[age[3]])}"
    moment = _MOMENT.fullmatch(value)
    if moment is None or moment[2].startswith(_AT):
        return value
    try:
        when = datetime.fromisoformat(moment[2])
    except ValueError:
        return value
    when = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return f"{moment[1]}{_AT}{round(when.timestamp() * 1000)}"


def _condition(grammar: Grammar, key: str, wanted: bool, text: str) -> Condition:
    if key not in grammar.keys:
        near = get_close_matches(key, grammar.keys, n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise BadParams(f"no {grammar.noun} has the filter key {key!r}{guess}", hint=f"keys: {' '.join(grammar.keys)}")
    values = tuple(_clean(grammar, key, value) for value in _VALUE.findall(text))
    if "" in values or len(values) != _commas(text) + 1:
        raise BadParams(f"{key}: needs a value, as in {key}:a or {key}:a,b")
    return key, wanted, values


def _clean(grammar: Grammar, key: str, quoted: str) -> str:
    value = quoted.replace('"', "")
    if key == "status":
        value = STATUS_ALIASES.get(value, value)
    words = grammar.words.get(key)
    if words is not None and not any(glob_matches(value, word) for word in words):
        elsewhere = [f"{other}:{value}" for other, there in grammar.words.items() if value in there]
        near = elsewhere or get_close_matches(value, words, n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise BadParams(f"no {grammar.noun} has the {key} {value!r}{guess}", hint=f"one of: {' '.join(words)}")
    reading(key, value)
    return value


def _commas(text: str) -> int:
    return re.sub(r'"[^"]*"', "", text).count(",")


def _fits_any(have: str | int | None, key: str, values: Sequence[str]) -> bool:
    return have is not None and any(_fits(have, reading(key, value)) for value in values)


def _fits(have: str | int, want: FilterText) -> bool:
    if isinstance(want.value, int):
        return isinstance(have, int) and bool(_COMPARE[want.op](have, want.value))
    return glob_matches(str(want.value), str(have)) if want.op == "*" else have == want.value

"""Regular expressions that people write about addresses, searched in bounded time (SEC-07). Never any I/O.

The texts come from sites that may be hostile, and backtracking on the wrong text takes minutes. RE2 takes time linear
in the text, and reads nearly every expression. What it cannot read (a look around, a possessive repeat, an atomic
group) goes to Python's `re`, on paths so short that the work stays below `STEPS_MAX`; nothing longer is tried on it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from re import _parser as parser  # type: ignore[attr-defined]  # re has no public way to look into a pattern
from typing import Any

import msgspec

from holdfast.errors import BadParams
from holdfast.model.keys import URL_LENGTH_MAX

STEPS_MAX = 500_000  # of backtracking per address, by a high estimate; below a millisecond
ANY_LENGTH = 1_000_000_000
SOURCE_LENGTH_MAX = 20_000
WITHOUT = "any expression is taken that has no (?=…), (?!…), (?<=…), (?<!…), (?>…), *+, ++, ?+ or \\1"
MEMORY_MAX = 4_000_000  # bytes that RE2 may take for one expression
# Both engines take these and mean different things: `{,3}` is a text to RE2, `[[:alpha:]]` a set of characters to `re`.
_READ_OTHERWISE = ("{,", "[:")
_GREEDY = frozenset({"MAX_REPEAT", "MIN_REPEAT"})
_SAFE_REPEATS = frozenset({"POSSESSIVE_REPEAT", "ATOMIC_GROUP"})
_REPEATS = _GREEDY | {"POSSESSIVE_REPEAT"}
_ONE_WAY = _SAFE_REPEATS | {"ASSERT", "ASSERT_NOT"}  # passed once, never tried another way
_BEGINNINGS = frozenset({"AT_BEGINNING", "AT_BEGINNING_STRING"})


class Expression(msgspec.Struct, frozen=True):
    """`found_in` says whether it fits somewhere in a path of at most `path_max` characters."""

    found_in: Callable[[str], object]
    path_max: int = ANY_LENGTH


def read_expression(source: str, shown: str) -> Expression:
    """BadParams says, of the pattern as `shown`, why it cannot be searched for."""
    if len(source) > SOURCE_LENGTH_MAX:  # reading one of 60,000 took more than a second
        raise BadParams(
            f"pattern {shown[:80]!r}… has {len(source):,} characters; at most {SOURCE_LENGTH_MAX:,} are read"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what `[[` may mean one day
            compiled = re.compile(source)
            tree = parser.parse(source)
            fast, reason = _fast(source)
            if fast is not None:
                return Expression(fast)
            if not _may_explode(tree, repeated=False):
                return Expression(compiled.search, _path_max(tree))
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise BadParams(f"pattern {shown!r} is not a regular expression: {error}") from None
    raise BadParams(
        f"pattern {shown!r} could take for ever on a long URL: it has a repeat or a choice inside a repeat, or a"
        f" reference back, and cannot be searched for in linear time ({reason})",
        hint=WITHOUT,
    )


def _fast(source: str) -> tuple[Callable[[str], object] | None, str]:
    """The search by RE2; else why it cannot read this."""
    import re2

    if any(mark in source for mark in _READ_OTHERWISE):
        return None, "a repeat without a lower bound, or a named set"
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MEMORY_MAX
    try:
        search = re2.compile(source, options).search
    except re2.error as error:
        return None, bytes(error.args[0]).decode("utf-8", "replace")
    return (lambda path: search(path.encode("utf-8", "replace"))), ""


def _path_max(tree: Any) -> int:
    """The longest path on which backtracking takes at most STEPS_MAX, by halving what it may lie between."""
    fits, beyond = 0, URL_LENGTH_MAX + 1
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if _steps(tree, middle) <= STEPS_MAX:
            fits = middle
        else:
            beyond = middle
    return fits


def _steps(tree: Any, length: int) -> int:
    """At most so many steps of a search: the work from one place, times the places where it may begin."""
    is_tied = len(tree) and str(tree[0][1]) in _BEGINNINGS
    return _work(tree, length)[0] * (1 if is_tied else length + 1)


def _work(tree: Iterable[tuple[Any, Any]], length: int) -> tuple[int, int]:
    """(steps, ways): every way through one part has the next part tried again."""
    steps = ways = 1
    for kind, value in tree:
        name = str(kind)
        within = [_work(part, length) for part in _parts(value)]
        inside = max(1, sum(each for each, _ in within))
        through = max(1, sum(each for _, each in within))
        if name in _REPEATS:
            least, most = int(value[0]), int(value[1])
            inside *= max(1, min(length, most))
            through *= min(length, most - least) + 1
        steps += ways * inside
        ways *= 1 if name in _ONE_WAY else through
        if steps > STEPS_MAX or ways > STEPS_MAX:
            return STEPS_MAX + 1, STEPS_MAX + 1  # more than that is not told apart
    return steps, ways


def _may_explode(tree: Iterable[tuple[Any, Any]], *, repeated: bool) -> bool:
    """Whether backtracking could be exponential: a variable part, or a look-back at one, inside a repeat."""
    for kind, value in tree:
        name = str(kind)
        if name == "GROUPREF" or (repeated and name == "BRANCH"):
            return True
        repeats = name in _GREEDY
        if repeats and repeated and value[0] != value[1]:
            return True
        deeper = False if name in _SAFE_REPEATS else repeated or (repeats and value[1] > 1)
        if any(_may_explode(part, repeated=deeper) for part in _parts(value)):
            return True
    return False


def _parts(value: Any) -> list[Any]:
    """The sub-patterns inside one node of a parsed pattern, whatever its kind."""
    if isinstance(value, parser.SubPattern):
        return [value]
    if isinstance(value, (tuple, list)):
        return [part for each in value for part in _parts(each)]
    return []

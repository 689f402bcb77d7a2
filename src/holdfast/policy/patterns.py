"""Patterns that people write about addresses and values: a glob, or `re:` and a regular expression. Never any I/O.

In a glob only `*` is special: it stands for any run of characters, slashes included. `?` and `[` are themselves,
since they are part of URLs. A glob is matched in linear time; the texts come from sites that may be hostile.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from re import _parser as parser  # type: ignore[attr-defined]  # re has no public way to look into a pattern
from typing import Any

from holdfast.errors import BadParams

REGEX_MARK = "re:"
_GREEDY = frozenset({"MAX_REPEAT", "MIN_REPEAT"})
_SAFE_REPEATS = frozenset({"POSSESSIVE_REPEAT", "ATOMIC_GROUP"})


@dataclass(frozen=True, slots=True)
class Pattern:
    """One include or exclude pattern, ready to be asked. Use `read_pattern` to make one."""

    text: str
    matches: Callable[[str], object]

    def __str__(self) -> str:
        return self.text


def read_pattern(text: str) -> Pattern:
    """`/guide/*` is tried on the path with and without its query; `re:\\.pdf$` is searched in path and query."""
    if text.startswith(REGEX_MARK):
        return Pattern(text, _read_regex(text).search)
    if not text.startswith(("/", "*")):
        raise BadParams(
            f"pattern {text!r} can match no path: it begins with neither / nor *", hint=f"/{text} or *{text}"
        )
    return Pattern(text, lambda path: glob_matches(text, path) or glob_matches(text, path.partition("?")[0]))


def glob_matches(glob: str, text: str) -> bool:
    """Whether the whole text fits the glob."""
    head, *rest = glob.split("*")
    if not rest:
        return text == head
    *middle, tail = rest
    if len(text) < len(head) + len(tail) or not (text.startswith(head) and text.endswith(tail)):
        return False
    at, end = len(head), len(text) - len(tail)
    # The leftmost fit of each piece leaves the most room for the next, so nothing is ever tried twice.
    for piece in middle:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def _read_regex(text: str) -> re.Pattern[str]:
    source = text.removeprefix(REGEX_MARK)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what `[[` may mean one day
            compiled = re.compile(source)
            may_explode = _may_explode(parser.parse(source), repeated=False)
    except (re.error, ValueError, OverflowError, RecursionError) as reason:
        raise BadParams(f"pattern {text!r} is no regular expression: {reason}") from None
    if may_explode:
        raise BadParams(
            f"pattern {text!r} could take for ever on a long URL: a repeat or a choice inside a repeat",
            hint="make the inner repeat possessive, as in re:^/([^/]++/)*index$",
        )
    return compiled


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

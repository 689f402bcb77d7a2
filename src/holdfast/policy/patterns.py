"""Patterns that people write about addresses and values: a glob, or `re:` and a regular expression. Never any I/O.

In a glob only `*` is special: it stands for any run of characters, slashes included. `?` and `[` are themselves,
since they are part of URLs. Both are matched in bounded time; the texts come from sites that may be hostile.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from holdfast.errors import BadParams
from holdfast.model.keys import URL_LENGTH_MAX
from holdfast.policy.expressions import ANY_LENGTH, WITHOUT, read_expression

REGEX_MARK = "re:"
PATH_USUAL = 200  # characters; a pattern that cannot be tried on so long a path is of no use


class Pattern(msgspec.Struct, frozen=True):
    """One include or exclude pattern, ready to be asked. Use `read_pattern` to make one.

    A path longer than `path_max` is not tried, and so does not fit: `leaves_untried` tells that apart.
    """

    text: str
    matches: Callable[[str], object]
    path_max: int = ANY_LENGTH

    def __str__(self) -> str:
        return self.text

    def leaves_untried(self, path: str) -> bool:
        return len(path) > self.path_max


def read_pattern(text: str) -> Pattern:
    """`/guide/*` is tried on the path with and without its query; `re:\\.pdf$` is searched in path and query."""
    if text.startswith(REGEX_MARK):
        return _by_expression(text)
    if not text.startswith(("/", "*")):
        raise BadParams(
            f"pattern {text!r} can match no path: it begins with neither / nor *", hint=f"/{text} or *{text}"
        )
    return Pattern(text, lambda path: glob_matches(text, path) or glob_matches(text, path.partition("?")[0]))


def of_use(pattern: Pattern) -> Pattern:
    """The pattern, for a job that is new; BadParams where it could be tried on short paths alone."""
    if pattern.path_max < PATH_USUAL:
        raise BadParams(
            f"pattern {pattern.text!r} could take for ever on a URL of more than {pattern.path_max} characters: it has"
            " too many repeats for one that looks around or repeats possessively",
            hint=WITHOUT,
        )
    return pattern


def untried(pattern: Pattern) -> str:
    """What is to be said of a pattern that is not tried on long paths; "" where it is tried on all."""
    if pattern.path_max >= URL_LENGTH_MAX:
        return ""
    beyond = f"URLs of more than {pattern.path_max} characters"
    return f"pattern {pattern.text!r} is not tried on {beyond}, which are fetched whatever it says; {WITHOUT}"


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


def _by_expression(text: str) -> Pattern:
    read = read_expression(text.removeprefix(REGEX_MARK), shown=text)
    found_in, path_max = read.found_in, read.path_max
    if path_max == ANY_LENGTH:
        return Pattern(text, found_in)
    return Pattern(text, lambda path: len(path) <= path_max and found_in(path), path_max)

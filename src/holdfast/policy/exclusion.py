"""Which exclusion of a job leaves a path out. Pure; patterns are read once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from holdfast.model.edit import Exclusion
from holdfast.policy.patterns import REGEX_MARK, Pattern, of_use, read_pattern

PATTERNS_KEPT = 256


class ExclusionRules:
    """The active exclusions of one job, in the order in which they were added."""

    def __init__(self, exclusions: Iterable[Exclusion]) -> None:
        self._patterns = [(exclusion.rule, pattern_of(exclusion)) for exclusion in exclusions]

    def rule_for(self, path: str) -> str | None:
        """The rule of the first one that fits a path (with its query); None: the target may be fetched."""
        return next((rule for rule, pattern in self._patterns if pattern.matches(path)), None)


def read(pattern: str, syntax: str) -> Pattern:
    """A pattern as `--exclude` knows them: a glob on the path, or a regular expression. BadParams: it is neither."""
    return of_use(_read(pattern, syntax))


def pattern_of(exclusion: Exclusion) -> Pattern:
    """Of an exclusion that stands: it was taken once, and is read whatever would be said of it today."""
    return _read(exclusion.pattern, exclusion.syntax)


@lru_cache(maxsize=PATTERNS_KEPT)
def _read(pattern: str, syntax: str) -> Pattern:
    marked = f"{REGEX_MARK}{pattern}" if syntax == "regex" and not pattern.startswith(REGEX_MARK) else pattern
    return read_pattern(marked)

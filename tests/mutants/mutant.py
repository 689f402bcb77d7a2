"""Mutants: each removes one protective line and names the test that must then fail.

Production code has no switch that turns safety off, so a mutant is an edit of a copy of the tree. A row whose `old`
text is no longer found exactly once breaks the build, like a mutant that survives.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """`guarantee` is what a user loses without the line; `test` must fail, and nothing else is asked of it.

    A test that comes to no end has judged nothing, unless that is what the line prevents: then the row says `hangs`.
    """

    name: str
    guarantee: str
    file: str
    edits: tuple[tuple[str, str], ...]
    test: str
    hangs: bool = False

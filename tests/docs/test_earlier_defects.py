"""Every line of the defects of earlier systems has a mutant, and the page names the test that catches it."""

from __future__ import annotations

import re

import pytest

from docs.reading import DOCS, text_of
from mutants.mutants import MUTANTS

LINES = {  # as worlds.md counts them
    "Judgments site": 16,
    "Court case search": 18,
    "Company website": 14,
    "Documentation site": 11,
    "Image search engines": 15,
    "Any world": 8,
}
WITHOUT = {("Any world", 5)}  # there is no Redis here that could be flushed


def rows(heading: str) -> list[tuple[int, str, str]]:
    """(line, test, mutant); a second mutant of a line stands below the first, without its number."""
    section = text_of(DOCS / "earlier-defects.md").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found, line = [], 0
    for number, test, mutant in re.findall(r"^\| (\d*) ?\| [^|]*\| ([^|]*) \| ?([^|]*?) ?\|$", section, re.MULTILINE):
        line = int(number) if number else line
        found.append((line, test.strip("`"), mutant.strip("`")))
    return found


@pytest.mark.parametrize("heading", LINES)
def test_every_line_has_a_mutant_and_the_test_that_catches_it(heading: str) -> None:
    caught_by = {mutant.name: mutant.test for mutant in MUTANTS}
    found = rows(heading)
    assert {line for line, _, _ in found} == set(range(1, LINES[heading] + 1))
    assert {(heading, line) for line, _, mutant in found if not mutant} <= WITHOUT
    assert [row for row in found if row[2] and caught_by.get(row[2]) != row[1]] == []

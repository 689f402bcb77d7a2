"""What people copy into a shell is what we mean, whatever a name or a path holds (SEC-10)."""

from __future__ import annotations

import re
import shlex

import pytest

from holdfast.model.spelling import as_word
from tidy.source_tree import ROOT

BARE_NAME = re.compile(r"holdfast (?:[a-z]+|\{[^}]*\}) \{[\w.]*(?:\.name|\bpath|\burl)\}")


@pytest.mark.parametrize(
    "text", ["docs", "docs.x-1~2", "$(touch x)", "a b", "~", "~root", "it's", "", "x;y", "a\nb", "/tmp/a b.tar", "-rf"]
)
def test_a_text_in_a_command_is_one_word_of_it(text: str) -> None:
    assert shlex.split(f"holdfast resume {as_word(text)}") == ["holdfast", "resume", text]
    assert as_word("docs.x-1~2") == "docs.x-1~2"
    assert as_word("~root") != "~root"


def test_no_command_that_is_printed_has_a_name_in_it_as_it_stands() -> None:
    """`job.word` is the name as a shell reads it."""
    files = [file for file in (ROOT / "src").rglob("*.py") if "testing" not in file.parts and "demo" not in file.parts]
    found = [f"{file.name}: {match[0]}" for file in files for match in BARE_NAME.finditer(file.read_text())]
    assert [each for each in found if not each.startswith("working.py: holdfast {job")] == []
    assert len(files) > 200
    assert BARE_NAME.search('f"holdfast resume {job.name}"')

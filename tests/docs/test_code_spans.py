"""Every `holdfast …` that stands in a sentence is a command that exists, and what stands behind it fits its parser.

A command's name alone is a name; with words behind it, it is a line that a reader may type. What people must put in
stands in capitals, what they may leave out in brackets, and a choice between bars.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from docs.reading import pages, spans
from holdfast.cli.arguments import take_globals
from holdfast.cli.commands import command
from holdfast.cli.main import main
from holdfast.errors import UsageError

# fmt: off
STANDS_FOR = {
    "JOB": "docs", "NAME": "docs", "URL": "http://docs.example.dev/", "TARGET": "T-1", "LABEL": "keep", "N": "3",
    "FILE": "docs.jsonl", "FILE.py": "forum.py", "FILE.py|MODULE:RECIPE": "forum.py", "FILE.toml": "docs.toml",
    "LIST": "list", "LIST.csv": "list.csv", "RANGE": "1..3", "TEMPLATE": "http://c.example/{number}",
    "CHECKPOINT": "57", "PATTERN": "/tags/*", "FILTER": "status:failed", "batch:LIST": "batch:list",
    "HOST": "c.example", "…": "docs",
}
# fmt: on
# They only look, or change a job that is not there: nothing comes of them in an empty folder but an answer.
ONLY_LOOK = ("checkpoints", "diff", "errors", "events", "exclude", "explain", "export", "frontier", "jobs", "label")
ONLY_LOOK += ("limits", "logs", "pause", "cancel", "restart", "rollback", "snapshot", "status", "targets", "verify")


def typed(span: str) -> list[str]:
    """The words as somebody might type them."""
    words = [re.sub(r"^(.+)\.\.\.$", r"\1", word) for word in shlex.split(re.sub(r"[\[\]]", "", span))]
    return [STANDS_FOR.get(word) or word.partition("|")[0] for word in words]


def all_spans() -> list[str]:
    return sorted({span for page in pages() for span in spans(page)})


def parse(words: list[str]) -> None:
    from generator.command_line import parser_of

    options, rest = take_globals(words)
    if options.version:
        return
    row = command(rest[0])
    assert row is not None, f"there is no command {rest[0]!r}"
    if len(words) > 1:
        parser_of(row).read(rest[1:])


@pytest.mark.parametrize("span", all_spans())
def test_a_command_in_a_sentence_can_be_typed(
    span: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """C14: by the real parser; what only looks is run, too, and may find nothing, but knows what is meant."""
    words = typed(span)
    if words[0] == "help":
        assert main(words) == 0
        return
    parse(words)
    if words[0] in ONLY_LOOK and len(words) > 1:
        monkeypatch.chdir(tmp_path)
        assert main(words) in (0, 5), capsys.readouterr().err


def test_a_span_that_cannot_be_typed_is_found() -> None:
    with pytest.raises(UsageError):
        parse(typed("crawl URL --no-such-option"))

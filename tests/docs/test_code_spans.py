"""Every `holdfast …` that stands in a sentence is a command that exists, and one with words behind it is run.

A command's name alone is a name; with words behind it, it is a line that a reader may type. What people must put in
stands in capitals, what they may leave out in brackets, and a choice between bars.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from docs.example_folders import DONE, folder_for, run_line
from docs.reading import pages, spans
from holdfast.cli.arguments import take_globals
from holdfast.cli.commands.table import command
from holdfast.errors import UsageError

# fmt: off
STANDS_FOR = {
    "JOB": "docs", "NAME": "docs", "URL": "http://docs.example.dev/", "TARGET": "T-1", "LABEL": "keep", "N": "3",
    "FILE": "docs.jsonl", "FILE.py": "forum.py", "FILE.py|MODULE:RECIPE": "forum.py", "FILE.toml": "job.toml",
    "LIST": "list", "LIST.csv": "companies.csv", "RANGE": "IMM-1-25..IMM-3-25", "TEMPLATE": "http://c.example/{number}",
    "CHECKPOINT": "57", "PATTERN": "/tags/*", "FILTER": "status:failed", "batch:LIST": "batch:list",
    "HOST": "c.example", "…": "docs",
}
BEHIND = {("restore", "FILE"): "docs.tar", ("--template", "FILE.toml"): "company.toml"}
# Only read: these take their minutes and have suites of their own, or ask a site that is not ours.
ONLY_READ = ("demo", "demo --data demo-data", "selftest", "selftest --json", "selftest --processes N",
             "crawl https://example.org")
# Understood and refused: a sentence names a part of a line, or a job unlike that of the examples.
REFUSED = {
    "cases IMM-1-25..IMM-100000-25": 2, "cases … --url NAME": 6, "cases RANGE --url NAME": 2,
    "crawl --processes N -v": 2, "crawl banana": 5, "crawl 127.0.0.1:8000": 2, "crawl docs --max-depth 4 --update": 6,
    "status JOB --by keyword": 2, "report JOB --audit DIR": 2,
    "resume JOB --extend 30m": 2, "resume JOB --extend-pages 500": 2, "resume JOB --extend-pages N": 2,
    "run FILE.py": 2, "run FILE.py --dry-run": 2, "run FILE.py|MODULE:RECIPE": 2, "run FILE.py --name JOB": 2,
    "run FILE.py --include PATTERN --exclude PATTERN --max-depth N": 2, "restore FILE": 6,
    "run my_package.forum:forum": 2, "run new/forum.py --name forum": 2, "run forumm": 2, "run FILE.toml --dry-run": 2,
}
# fmt: on


def typed(span: str) -> list[str]:
    """The words as somebody might type them."""
    words = [re.sub(r"^(.+)\.\.\.$", r"\1", word) for word in shlex.split(re.sub(r"[\[\]]", "", span))]
    pairs = zip(["", *words], words, strict=False)
    return [BEHIND.get(pair) or STANDS_FOR.get(pair[1]) or pair[1].partition("|")[0] for pair in pairs]


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
def test_a_command_in_a_sentence_can_be_typed(span: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """C14: its words fit the parser; with words behind its name it is run, where there is what it speaks of."""
    words = typed(span)
    if words[0] != "help":
        parse(words)
    if span in ONLY_READ or len(words) == 1:
        return
    done = run_line(words, folder_for(words, request, tmp_path))
    assert done.code in ({REFUSED[span]} if span in REFUSED else DONE), done.err


def test_what_is_not_run_or_refused_still_stands_somewhere() -> None:
    assert {*ONLY_READ, *REFUSED} <= set(all_spans())


def test_a_span_that_cannot_be_typed_is_found() -> None:
    with pytest.raises(UsageError):
        parse(typed("crawl URL --no-such-option"))

"""What a stranger reads is true today: links lead somewhere, commands parse, and nothing that exists is unnamed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.reading import DOCS, QUICKSTART, README, anchors, commands, links, pages, text_of
from holdfast import __version__
from holdfast.cli.arguments import take_globals
from holdfast.cli.commands import COMMANDS, command
from holdfast.cli.exits import MEANINGS
from holdfast.model.codes import CODES
from holdfast.model.page import page_object
from holdfast.model.states import JOB, TARGET
from holdfast.model.target import PageRow
from tidy.source_tree import ROOT, our_package


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_link_inside_the_project_leads_somewhere(page: Path) -> None:
    for link in links(page):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.is_relative_to(ROOT), f"{link} leads out of the project"
        assert target.exists(), f"{link} leads nowhere"
        assert not anchor or anchor in anchors(target), f"{link}: no such heading"


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, to_read = {README}, [README]
    while to_read:
        page = to_read.pop()
        found = {(page.parent / link.partition("#")[0]).resolve() for link in links(page)}
        new = {path for path in found if path.suffix == ".md"} - seen
        seen |= new
        to_read += new
    assert set(pages()) <= seen


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: row.name)
def test_every_command_is_on_the_first_screen_and_on_the_page_of_commands(row: object) -> None:
    name = getattr(row, "name", "")
    first_screen = text_of(README).partition("<picture>")[0]
    assert f"$ holdfast {name}" in first_screen
    assert f"\n## holdfast {name}" in text_of(DOCS / "cli.md")


@pytest.mark.parametrize("page", [README, QUICKSTART, DOCS / "cli.md"], ids=lambda page: page.name)
def test_every_command_line_parses_with_the_real_parser(page: Path) -> None:
    from generator.command_line import parser_of

    lines = commands(page)
    assert lines
    for words in lines:
        options, rest = take_globals(words)
        if options.version:
            continue
        row = command(rest[0])
        assert row is not None, f"{page.name}: holdfast {' '.join(words)}"
        parser_of(row).read(rest[1:])


def test_a_command_line_that_does_not_parse_is_found() -> None:
    from generator.command_line import parser_of

    from holdfast.errors import UsageError

    row = command("crawl")
    assert row is not None
    with pytest.raises(UsageError):
        parser_of(row).read(["https://marsh.test", "--no-such-option"])


def test_every_status_code_and_exit_code_is_documented() -> None:
    lifecycle, codes = text_of(DOCS / "lifecycle.md"), text_of(DOCS / "failure-codes.md")
    glossary, cli = text_of(DOCS / "glossary.md"), text_of(DOCS / "cli.md")
    for status in (*JOB.states, *TARGET.states):
        assert f"`{status}`" in lifecycle
        assert f"`{status}`" in glossary
    assert [name for name in CODES if f"\n| `{name}` |" not in codes] == []
    assert [code for code in MEANINGS if f"\n| `{code}` |" not in cli] == []


def test_every_exit_code_from_1_on_has_its_advice() -> None:
    headings = re.findall(r"^## Exit codes? (.*)$", text_of(DOCS / "troubleshooting.md"), re.MULTILINE)
    advised = {int(number) for heading in headings for number in re.findall(r"\d+", heading)}
    assert set(MEANINGS) - {0} <= advised


def test_every_environment_variable_is_documented() -> None:
    config = our_package()["holdfast.config"].text
    names = set(re.findall(r'"(HOLDFAST_\w+)"', config))
    assert names
    assert {name for name in names if f"`{name}`" not in text_of(DOCS / "cli.md")} == set()


def test_every_key_of_an_exported_page_is_explained() -> None:
    record = b'{"final_url":"u","title":null,"status_code":200,"fetched_at":0,"content_type":null,"links":0}'
    row = PageRow(
        target=1, url="u", depth=0, parent_url=None, record=record, segment="s", offset=0, length=1, size=1,
        sha256=b"", media="", found_at=0, run=1,
    )  # fmt: skip
    assert [key for key in page_object(row) if f"`{key}`" not in text_of(QUICKSTART)] == []


def test_the_changelog_has_the_version_of_the_program() -> None:
    assert f"\n## [{__version__}] - " in text_of(ROOT / "CHANGELOG.md")


def test_a_decision_has_its_context_its_choice_and_its_price() -> None:
    decisions = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    assert [path.name[:4] for path in decisions] == [f"{number:04}" for number in range(1, len(decisions) + 1)]
    for path in decisions:
        text = text_of(path)
        assert text.startswith(f"# {path.name[:4]} "), path.name
        assert re.findall(r"^\*\*(\w+)\.\*\* ", text, re.MULTILINE) == ["Context", "Choice", "Price"], path.name

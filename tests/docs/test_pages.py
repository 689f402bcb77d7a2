"""What a stranger reads is true today: links lead somewhere, commands parse, and nothing that exists is unnamed."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from docs.reading import DOCS, QUICKSTART, README, anchors, commands, links, pages, text_of, toml_blocks
from holdfast import __version__, config
from holdfast.cli.arguments import take_globals
from holdfast.cli.commands.table import COMMANDS, Command, command
from holdfast.cli.exits import MEANINGS
from holdfast.config.jobfile import job_in
from holdfast.config.table import ALIASES, OBSOLETE, PREFIX, SETTINGS
from holdfast.config.trees import TREES
from holdfast.model.codes import CODES
from holdfast.model.page import page_object
from holdfast.model.states import JOB, TARGET
from holdfast.model.target import PageRow
from tidy.source_tree import ROOT


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
def test_every_command_is_on_the_page_of_commands_and_those_that_start_on_the_first_screen(row: Command) -> None:
    first_screen = text_of(README).partition("<picture>")[0]
    assert row.group != "START" or f"$ holdfast {row.name}" in first_screen
    assert f"\n## holdfast {row.name}" in text_of(DOCS / "cli.md")


@pytest.mark.parametrize(
    "page",
    [README, QUICKSTART, *(DOCS / f"{name}.md" for name in ("cli", "settings", "job-files", "scan-again"))],
    ids=lambda page: page.name,
)
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


def test_every_setting_and_every_older_name_is_documented() -> None:
    page = text_of(DOCS / "settings.md")
    assert [row.key for row in SETTINGS if f"| `{row.key}` |" not in page or f"`{row.variable}`" not in page] == []
    assert [name for name in (*ALIASES, *OBSOLETE) if f"| `{PREFIX}{name}` |" not in page] == []
    assert [name for name in TREES if f"| `{name}.NAME` |" not in page] == []


def test_every_toml_block_about_settings_and_jobs_can_be_used(tmp_path: Path) -> None:
    blocks = [body for name in ("settings", "job-files") for body in toml_blocks(DOCS / f"{name}.md")]
    assert len(blocks) >= 3
    for body in blocks:
        document = tomllib.loads(body)
        if "kind" in document:
            job_in(document, tmp_path / "job.toml")
        else:
            (tmp_path / "holdfast.toml").write_text(body)
            config.load(config=str(tmp_path / "holdfast.toml"), environ={})


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


def test_our_rows_of_the_kill_table_are_what_selftest_measured() -> None:
    page = text_of(DOCS / "coming-from-scrapy-crawlee.md")
    measured = [json.loads(line) for line in text_of(DOCS / "selftest-results.json").splitlines()]
    row = r"^\| Holdfast on (\w+), (\d+) kills \|.*within ([\d.]+) s \| (\d+) of (\d+) \| (\d+), at most (\d+)"
    ours = re.findall(row, page, re.MULTILINE)
    alone = [each for each in measured if each.get("processes", 1) == 1]
    assert ours == [
        (
            each["scope"]["ledger"].split()[0],
            str(each["kills"]["delivered"]),
            str(each["restart_to_first_fetch_s"]["max"]),
            str(each["lost"]),
            str(each["pages"]),
            str(each["fetched_again"]["total"]),
            str(each["fetched_again"]["max_per_kill"]),
        )
        for each in alone
    ]
    assert all(each["doubled"] == 0 for each in alone)

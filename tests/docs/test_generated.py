"""Generated pages are what the program's tables give today, and the generator says no more than it knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from generator.codes import RESERVED
from generator.command_line import command_line
from generator.lifecycle import lifecycle
from generator.markdown import table, with_blocks
from generator.proofs import NOTHING_YET, measured, read_results
from generator.recording import COMMAND, LIGHT, draw
from generator.sources import sources
from generator.terminal import Screen
from make import generated

from docs.reading import DOCS, text_of
from holdfast.cli.commands.table import COMMANDS
from holdfast.model.states import MACHINES
from holdfast.policy.recovery import RECOVERY
from tidy.source_tree import our_package

RESULT: dict[str, Any] = {
    "pages": 3000, "kills": {"delivered": 20}, "lost": 0, "doubled": 0, "fetched_once_done": 0,
    "fetched_again": {"total": 151, "max_per_kill": 8}, "restart_to_first_fetch_s": {"p95": 0.512},
    "loss_per_kill_below": 0.15,
    "scope": {"ledger": "SQLite 3", "python": "Python 3", "system": "Linux", "lease": "30 s", "at": "2026-01-02T03Z"},
}  # fmt: skip


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.name)
def test_no_generated_module_is_stale(path: Path) -> None:
    assert text_of(path) == sources()[path], f"{path.name} is stale: make docs ARGS=--no-recording"


@pytest.mark.parametrize("path", generated(), ids=lambda path: path.name)
def test_no_generated_page_is_stale(path: Path) -> None:
    assert text_of(path) == generated()[path], f"{path.name} is stale: make docs ARGS=--no-recording"


def test_every_move_and_every_row_of_recovery_is_on_the_lifecycle_page() -> None:
    page = lifecycle()
    for machine in MACHINES:
        for row in machine.moves:
            assert f"| `{row.verb}` | `{row.source}` | `{row.target}` |" in page
    assert all(f"| **{row.action}** | {row.because} |" in page for row in RECOVERY)


def test_every_option_of_every_command_is_on_its_page() -> None:
    page = command_line()
    assert all(f"\n## holdfast {row.usage}\n" in page for row in COMMANDS)
    assert all(f"$ {example}\n" in page for row in COMMANDS for example in row.examples)
    assert "| `--scope host\\|domain\\|prefix\\|any` |" in page


def test_a_code_that_is_called_reserved_is_given_by_nothing() -> None:
    givers = [
        module for module in our_package().values()
        if module.part in ("fetch", "recipes") or module.path == "engine/execute.py"
    ]  # fmt: skip
    found = [(name, module.path) for name in RESERVED for module in givers if f'"{name}"' in module.text]
    assert found == []


def test_a_block_that_has_no_markers_is_an_error() -> None:
    with pytest.raises(ValueError, match="no block 'proof'"):
        with_blocks("# Frogs\n", proof="many")


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert table(("a",), [("b|c",)]).endswith("| b\\|c |\n")


def test_without_a_measurement_no_number_is_given() -> None:
    assert measured([]) == NOTHING_YET


def test_a_measurement_is_given_with_its_n_its_bound_and_where() -> None:
    row = measured([RESULT]).splitlines()[2]
    assert row == (
        "| SQLite 3 | 3000 | 20 | 0 (< 0.15 per kill) | 0 | 151, at most 8 per kill | 0 | 0.51 s | "
        "Linux, Python 3, 30 s, 2026-01-02 |"
    )


def test_a_loss_is_not_hidden_behind_a_bound() -> None:
    assert "| 3 |" in measured([RESULT | {"lost": 3}])


def test_results_are_documents_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert read_results(path) == []
    path.write_text(f"{json.dumps(RESULT)}\n{json.dumps(RESULT, indent=1)}\n")
    assert read_results(path) == [RESULT, RESULT]


def test_a_terminal_keeps_every_state_of_a_line() -> None:
    screen = Screen()
    screen.feed(0.0, "frogs\r\n1 of 2\r\n\x1b[1")
    screen.feed(1.0, "A\x1b[2K2 of 2\n")
    assert screen.lines() == [[(0.0, "frogs")], [(0.0, "1 of 2"), (1.0, "2 of 2")]]


def test_a_terminal_does_not_guess() -> None:
    with pytest.raises(ValueError, match="nobody taught it"):
        Screen().feed(0.0, "\x1b[2J")


def test_a_picture_shows_the_last_screen_where_it_does_not_move() -> None:
    screen = Screen()
    screen.feed(0.0, "1 <of> 2\n")
    screen.feed(1.0, "\x1b[1A\x1b[2K\x1b[31m2 of 2\x1b[0m\n")
    picture = ElementTree.fromstring(draw(screen, 2.0, LIGHT))  # noqa: S314 - drawn by ourselves
    groups = picture.findall("{http://www.w3.org/2000/svg}g")
    assert [("".join(group.itertext()), "gone" in group.attrib["class"]) for group in groups] == [
        ("1 <of> 2", True),
        ("2 of 2", False),
    ]


@pytest.mark.parametrize("name", ["demo.svg", "demo-dark.svg"])
def test_the_recording_is_of_a_demo_that_was_killed_and_went_on(name: str) -> None:
    picture = ElementTree.fromstring(text_of(DOCS / "images" / name))  # noqa: S314 - drawn by ourselves
    shown = "\n".join("".join(group.itertext()) for group in picture.iter("{http://www.w3.org/2000/svg}g"))
    for words in (COMMAND, "kill -9", "the same command again", "Resuming", "nothing lost, nothing doubled"):
        assert words in shown

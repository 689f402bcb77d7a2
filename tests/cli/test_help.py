"""Help topics: made from the program's tables, and of use to people who are lost."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

from cli.commands import holdfast
from holdfast.cli.arguments import take_globals
from holdfast.cli.commands.table import TOPIC_NAMES, command
from holdfast.cli.exits import MEANINGS
from holdfast.cli.parser import Parser
from holdfast.cli.screen.topics import TOPICS
from holdfast.config.table import SETTINGS
from holdfast.policy.filters import JOBS, TARGETS


@pytest.mark.parametrize("topic", TOPIC_NAMES)
def test_every_topic_begins_with_an_example(topic: str, tmp_path: Path) -> None:
    done = holdfast("help", topic, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Example:\n  ")
    assert max(len(line) for line in done.out.splitlines()) <= 120
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("topic", TOPIC_NAMES)
def test_every_example_of_a_topic_parses(topic: str) -> None:
    """C14: up to where the shell takes over."""
    for line in examples_of(topic):
        words = shlex.split(re.sub(r"^([A-Z_]+=\S+ )*", "", line).partition(";")[0])
        row = command(words[1])
        assert (words[0], row is not None) == ("holdfast", True), line
        assert row is not None
        parser = Parser(row.name, row.summary, row.examples)
        import_module(f"holdfast.cli.commands.{row.module}").arguments(parser)
        parser.read(take_globals(words[2:])[1])


def examples_of(topic: str) -> list[str]:
    """Those that stand under the word, at the head of a topic."""
    head = TOPICS[topic][1]().partition("\n\n")[0].splitlines()
    assert head[0] == "Example:"
    return [line.strip() for line in head[1:]]


@pytest.mark.parametrize("code", MEANINGS)
def test_the_example_of_exit_codes_says_safe_for_those_that_mean_it(code: int, tmp_path: Path) -> None:
    stub = tmp_path / "holdfast"
    stub.write_text(f"#!/bin/sh\nexit {code}\n")
    stub.chmod(0o755)
    [line] = examples_of("exit-codes")
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, check=False)
    assert done.stdout == ("safe, continue later\n" if 10 <= code <= 14 else "")


def test_the_overview_names_every_topic(tmp_path: Path) -> None:
    assert tuple(TOPICS) == TOPIC_NAMES
    assert f"holdfast help TOPIC: {', '.join(TOPIC_NAMES)}." in holdfast("--help", cwd=tmp_path).out


def test_a_topic_that_is_a_command_too_is_told_as_a_topic(tmp_path: Path) -> None:
    """The options of the command are a word further: resume --help."""
    assert holdfast("help", "resume", cwd=tmp_path).out == f"{TOPICS['resume'][1]()}\n"
    assert "--extend DUR" in holdfast("resume", "--help", cwd=tmp_path).out


def test_the_topics_leave_nothing_out() -> None:
    filters, codes, variables = (TOPICS[name][1]() for name in ("filters", "exit-codes", "environment"))
    assert all(f" {key}" in filters for key in (*TARGETS.keys, *JOBS.keys))
    assert all(meaning in codes for meaning in MEANINGS.values())
    assert all(f"  {row.variable} " in variables for row in SETTINGS if row.used)


def test_a_mistyped_topic_gets_a_suggestion(tmp_path: Path) -> None:
    done = holdfast("help", "filtres", cwd=tmp_path)
    assert (done.code, "did you mean filters?" in done.err) == (2, True)


def test_every_heading_stands_once(tmp_path: Path) -> None:
    headings = re.findall(r"^[A-Z]+$", holdfast("--help", cwd=tmp_path).out, re.MULTILINE)
    assert "RESULTS" in headings
    assert len(headings) == len(set(headings))

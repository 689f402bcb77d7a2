"""`--preset`: limits and pace in one word, and what is typed beside it wins (SIT-03)."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.commands import crawl_words, holdfast, ledger_in
from holdfast.demo.serving import WorldServer
from holdfast.model.job import Job

# fmt: off
#   preset       pages  depth  seconds
PRESETS = {
    "thorough": (100,   3,     1800.0),
    "quick":    (20,    2,     None),
    "docs":     (None,  2,     None),
}
# fmt: on


def submitted(folder: Path, *words: str) -> Job:
    done = holdfast("crawl", "https://docs.example.dev/", "--start-paused", "--name", "frogs", *words, cwd=folder)
    assert done.code == 0, done.err
    with ledger_in(folder) as ledger:
        return ledger.job("frogs")


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_its_limits_and_its_pace(name: str, tmp_path: Path) -> None:
    """SIT-03."""
    job = submitted(tmp_path, "--preset", name)
    options = job.options
    assert (options.max_pages, job.params["max_depth"], options.time_limit_s) == PRESETS[name]
    assert (options.delay_ms, options.timeout_s) == (1000, 30.0)


def test_an_option_beside_a_preset_wins(tmp_path: Path) -> None:
    job = submitted(tmp_path, "--preset", "thorough", "--max-pages", "7", "--max-depth", "5", "--delay", "0")
    options = job.options
    assert (options.max_pages, job.params["max_depth"], options.delay_ms, options.timeout_s) == (7, 5, 0, 30.0)


def test_a_preset_ends_a_crawl(tree: WorldServer, tmp_path: Path) -> None:
    done = holdfast(*crawl_words(tree, "--preset", "quick", "--max-depth", "9", "--json"), cwd=tmp_path)
    assert done.code == 13, done.err
    counts = done.json()["counts"]
    assert counts["succeeded"] + counts["failed"] == 20


def test_an_unknown_preset_is_refused(tmp_path: Path) -> None:
    done = holdfast("crawl", "https://docs.example.dev/", "--preset", "slow", cwd=tmp_path)
    assert done.code == 2
    assert "thorough" in done.err


def test_nothing_can_be_detached_without_a_server(tree: WorldServer, tmp_path: Path) -> None:
    cases = ["cases", "IMM-1-25..IMM-9-25", "--url", "https://c.example/{prefix}-{number}-{year}", "-d"]
    for words in (crawl_words(tree, "--detach"), cases):
        done = holdfast(*words, cwd=tmp_path)
        assert done.code == 2
        assert "--detach hands the job to a Holdfast server, and none is configured" in done.err
    assert list(tmp_path.iterdir()) == []

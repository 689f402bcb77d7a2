"""A screen that cannot be written, or is not there, stops no work: what cannot be said to people is left unsaid."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cli.commands import DEADLINE_S, PROGRAM, crawl_words, environment, holdfast
from holdfast.demo.serving import WorldServer


def with_full_screen(*words: str, cwd: Path) -> int:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, *words], cwd=cwd, env=environment(), stderr=full, capture_output=False, timeout=DEADLINE_S,
            check=False,
        )  # fmt: skip
    return done.returncode


def test_a_crawl_whose_messages_cannot_be_shown_goes_on_to_its_end(tree: WorldServer, tmp_path: Path) -> None:
    assert with_full_screen(*crawl_words(tree), cwd=tmp_path) == 0
    assert holdfast("status", "frogs", "--json=status", cwd=tmp_path).json() == {"status": "completed"}


@pytest.mark.parametrize(("words", "code"), [(("status", "toads"), 5), (("jump",), 2), (("crawl", "--jump"), 2)])
def test_a_refusal_that_cannot_be_shown_keeps_its_code(words: tuple[str, ...], code: int, tmp_path: Path) -> None:
    assert with_full_screen(*words, cwd=tmp_path) == code


def test_results_that_cannot_be_written_are_still_an_error(tree: WorldServer, tmp_path: Path) -> None:
    assert holdfast(*crawl_words(tree), cwd=tmp_path).code == 0
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, "export", "frogs", "-o", "-"], cwd=tmp_path, env=environment(), stdout=full,
            stderr=subprocess.PIPE, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_crawl_without_standard_streams_goes_on_to_its_end(
    tree: WorldServer, tmp_path: Path, closed: str, processes: str
) -> None:
    """What is opened next would take their numbers: the ledger, or the pipes of a worker process."""
    words = crawl_words(tree, "--processes", processes)
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, *words], cwd=tmp_path, env=environment(),
        capture_output=True, text=True, timeout=DEADLINE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert holdfast("status", "frogs", "--json=status", cwd=tmp_path).json() == {"status": "completed"}

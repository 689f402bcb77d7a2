"""Every `$ holdfast …` line that a reader may copy is run: by the real command, where there is what the line speaks of.

Names of sites lead to one on this computer, and sizes are cut: nothing else of a line is changed.
"""

from __future__ import annotations

import shutil
import signal
from pathlib import Path
from socket import gethostname

import pytest

from cli.commands import CONTROL_CODE, Running
from docs.example_folders import DONE, a_copy, folder_for, run_line
from docs.reading import commands, pages
from tidy.source_tree import ROOT

# What takes its minutes is run by a suite of its own.
ELSEWHERE = {"demo": "tests/demo/test_story.py"}
ON_ANOTHER_COMPUTER = "restore docs.tar"  # where there is no job of that name yet
FOLLOWED = "watch docs"  # while another process works the job, until Ctrl-C


def lines() -> dict[str, list[str]]:
    """Every line of every page once, by its text."""
    return {" ".join(words): words for page in pages() for words in commands(page)}


@pytest.mark.parametrize("line", [line for line in lines() if line not in (*ELSEWHERE, FOLLOWED)])
def test_a_documented_line_runs(line: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """C6: and off a terminal it says nothing that only a terminal understands."""
    words = lines()[line]
    folder = folder_for(words, request, tmp_path)
    if line == ON_ANOTHER_COMPUTER:
        shutil.rmtree(folder / "holdfast-data")
    done = run_line(words, folder)
    assert done.code in DONE, done.err
    assert CONTROL_CODE.findall(done.out.replace("\r\n", "\n") + done.err) == []  # a line of CSV ends so
    if "-f" in words:
        assert "[HOLDFAST][" in done.out.partition("\n")[0], "the first line that it follows"


def test_a_job_that_is_worked_is_followed_as_documented(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """And Ctrl-C ends the watching, not the work."""
    folder = a_copy(request, tmp_path, "half_way_folder")
    worker = follower = Running("crawl", "docs", "--delay", "1h", cwd=folder)
    try:
        worker.wait_for(" crawling ")
        follower = Running(*lines()[FOLLOWED], cwd=folder)
        assert follower.wait_for("") == f"docs is being worked by pid {worker.pid} on {gethostname()}; watching.\n"
        follower.wait_for(" crawling ")
        follower.send(signal.SIGINT)
        done = follower.end()
        assert (done.code, CONTROL_CODE.findall(done.out + done.err)) == (0, [])
        assert not worker.is_over
    finally:
        for running in {worker, follower}:
            running.stop()


def test_what_is_run_elsewhere_is_run_there() -> None:
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())
    assert {*ELSEWHERE, ON_ANOTHER_COMPUTER, FOLLOWED} <= set(lines()), "a line is no longer documented"


def test_a_line_that_is_no_command_would_be_found(done_folder: Path) -> None:
    assert run_line(["exprt", "docs"], done_folder).code == 2

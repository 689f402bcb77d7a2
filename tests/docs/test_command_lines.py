"""Every `$ holdfast …` line that a reader may copy is run: by the real command, where there is what the line speaks of.

Names of sites lead to one on this computer, and sizes are cut: nothing else of a line is changed.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from socket import gethostname

import pytest

from cli.commands import CONTROL_CODE, Done, Running, holdfast, ledger_in, put_into, write_manual_checkpoint
from docs.example_site import HOSTS, example_site
from docs.reading import DOCS, blocks, commands, pages
from tidy.source_tree import ROOT

# What takes its minutes is run by a suite of its own.
ELSEWHERE = {"demo": "tests/demo/test_story.py"}
DONE = {0, 3}  # done, or done with failures: the site lacks a page
# Lines about a job that is half-way, and those that a person ends.
HALF_WAY = ("pause", "cancel", "resume", "restart", "frontier", "exclude", "watch")
BEFORE = {
    "restart": ("pause", "docs"),
    "restore": ("snapshot", "docs", "-o", "docs.tar"),
}  # what a person would have typed first
ON_ANOTHER_COMPUTER = "restore docs.tar"  # where there is no job of that name yet
FOLLOWED = "watch docs"  # while another process works the job, until Ctrl-C
CHECKPOINTS = 61  # of `docs`, the newest as it stands after its last run: pages name some of them by number
SMALLER = (
    (r"https://", "http://"),
    (r"^http://127\.0\.0\.1:8123/$", "http://docs.example.dev/"),
    (r"IMM-(5000|900)-25", "IMM-5-25"),
    (r"^500$", "5"),
    (r"^3000$", "60"),
    (r"^300$", "200"),
    (r"^20$", "1"),
)
TOML = """
delay = "0s"
http.allow = ["{address}"]
http.resolve = {{ {resolve} }}

[job.manual]
kind = "site"
seeds = ["http://docs.example.dev/"]
"""
FILES = {
    "job.toml": 'kind = "site"\nseeds = ["http://docs.example.dev/"]\n',
    "cayman.toml": 'name = "cayman"\nkind = "site"\nseeds = ["http://judicial.example.ky/"]\n',
    "company.toml": 'name = "{company}"\nkind = "site"\nseeds = ["http://{host}/"]\n',
    "companies.csv": "company,host\nacme,acme.example\n",
}
CRAWL = ("crawl", "http://docs.example.dev/")


def lines() -> dict[str, list[str]]:
    """Every line of every page once, by its text."""
    return {" ".join(words): words for page in pages() for words in commands(page)}


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    with example_site() as address:
        yield address


@pytest.fixture(scope="session")
def done_folder(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the lines speak of: files, and jobs that are done, `docs` of them in its fourth run."""
    folder = prepared(tmp_path_factory.mktemp("done"), site)
    scope = ("--max-depth", "3", "--exclude", "/tags/*")
    for more in (("--name", "docs", *scope), ("--name", "handbook"), ()):
        assert holdfast(*CRAWL, *more, cwd=folder).code == 3
    for _ in range(3):
        assert holdfast("crawl", "docs", "--mode", "full", cwd=folder).code == 3
    template = "http://c.example/{number}"
    assert holdfast("cases", "IMM-1-25..IMM-3-25", "--url", template, "--name", "IMM", cwd=folder).code == 0
    with ledger_in(folder) as ledger:
        job = ledger.job("docs")
        while write_manual_checkpoint(ledger, job) < CHECKPOINTS:
            pass
    start = "start=http://forum.example/"
    assert holdfast("run", "forum.py", "--param", start, "--name", "forum", cwd=folder).code in (0, 3)
    return folder


@pytest.fixture(scope="session")
def half_way_folder(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same jobs, begun by somebody who is gone; `docs` has an exclusion."""
    folder = prepared(tmp_path_factory.mktemp("half"), site)
    for name in ("docs", "handbook", "docs.example.dev"):
        assert holdfast(*CRAWL, "--name", name, "--start-paused", cwd=folder).code == 0
    assert holdfast("exclude", "docs", "/p/4", cwd=folder).code == 0
    with ledger_in(folder) as ledger:
        for job in ledger.jobs():
            put_into(ledger, job, "in_progress")
    return folder


def prepared(folder: Path, address: str) -> Path:
    resolve = ", ".join(f'"{host}" = "{address}"' for host in HOSTS)
    (folder / "holdfast.toml").write_text(TOML.format(address=address, resolve=resolve))
    for name, text in FILES.items():
        (folder / name).write_text(text)
    shutil.copy(ROOT / "examples" / "forum.py", folder / "forum.py")
    (folder / "quotes.py").write_text(blocks(DOCS / "coming-from-scrapy-crawlee.md", "python")[0])
    return folder


def smaller(word: str) -> str:
    for pattern, shorter in SMALLER:
        word = re.sub(pattern, shorter, word)
    return word


def run_line(words: list[str], folder: Path) -> Done:
    words = [smaller(word) for word in words]
    if "--delay" in words:
        words[words.index("--delay") + 1] = "0"
    if words[0] == "selftest" and "--pages" not in words:
        words += ["--pages", "60"]
    return holdfast(*words, cwd=folder)


@pytest.mark.parametrize("line", [line for line in lines() if line not in (*ELSEWHERE, FOLLOWED)])
def test_a_documented_line_runs(line: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """C6: and off a terminal it says nothing that only a terminal understands."""
    words = lines()[line]
    folder = a_copy(request, tmp_path, "half_way_folder" if words[0] in HALF_WAY else "done_folder")
    if words[0] in BEFORE:
        assert holdfast(*BEFORE[words[0]], cwd=folder).code == 0
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


def a_copy(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> Path:
    folder = tmp_path / "here"
    subprocess.run(["cp", "-r", request.getfixturevalue(kind), folder], check=True)  # a live ledger is not opened here
    return folder


def test_what_is_run_elsewhere_is_run_there() -> None:
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())
    assert {*ELSEWHERE, ON_ANOTHER_COMPUTER, FOLLOWED} <= set(lines()), "a line is no longer documented"


def test_a_line_that_is_no_command_would_be_found(done_folder: Path) -> None:
    assert run_line(["exprt", "docs"], done_folder).code == 2

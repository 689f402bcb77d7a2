"""Every `$ holdfast …` line that a reader may copy is run: by the real command, where there is what the line speaks of.

Names of sites lead to one on this computer, and sizes are cut: nothing else of a line is changed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands import Running, holdfast, ledger_in, put_into
from docs.example_site import HOSTS, example_site
from docs.reading import DOCS, blocks, commands, pages
from tidy.source_tree import ROOT

# What takes its minutes is run by a suite of its own.
ELSEWHERE = {"demo": "tests/demo/test_story.py"}
# Other ways to end than done (0) or done with failures (3), each with its reason.
ENDS = {
    "rollback docs 57 --dry-run": {5},
    "rollback docs 57": {5},
    "rollback docs 57 --fork --name docs-without-tags": {5},
    "checkpoints docs --show 61 --json": {5},  # the example has more checkpoints than this small job
    "restore docs.tar": {6},  # on another computer, where there is no job of that name yet
}
# Lines about a job that is half-way, and those that a person ends.
HALF_WAY = ("pause", "cancel", "resume", "restart", "frontier", "exclude", "watch")
BEFORE = {
    "restart": ("pause", "docs"),
    "restore": ("snapshot", "docs", "-o", "docs.tar"),
}  # what a person would have typed first
UNTIL_CTRL_C = re.compile(r"^logs .* -f|^logs -f|^watch ")
SMALLER = (
    (r"https://", "http://"),
    (r"^http://127\.0\.0\.1:8123/$", "http://docs.example.dev/"),
    (r"IMM-5000-25", "IMM-5-25"),
    (r"^500$", "5"),
    (r"^3000$", "60"),
    (r"^300$", "60"),
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


def run_line(line: str, words: list[str], folder: Path) -> tuple[int, str]:
    words = [smaller(word) for word in words]
    if "--delay" in words:
        words[words.index("--delay") + 1] = "0"
    if words[0] == "selftest" and "--pages" not in words:
        words += ["--pages", "60"]
    if UNTIL_CTRL_C.match(line):
        running = Running(*words, cwd=folder)
        running.stop()
        return 0, ""
    done = holdfast(*words, cwd=folder)
    return done.code, done.err


@pytest.mark.parametrize("line", [line for line in lines() if line not in ELSEWHERE])
def test_a_documented_line_runs(line: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    words = lines()[line]
    kind = "half_way_folder" if words[0] in HALF_WAY else "done_folder"
    folder = tmp_path / "here"
    subprocess.run(["cp", "-r", request.getfixturevalue(kind), folder], check=True)  # a live ledger is not opened here
    if words[0] in BEFORE:
        assert holdfast(*BEFORE[words[0]], cwd=folder).code == 0
    code, told = run_line(line, words, folder)
    assert code in ENDS.get(line, {0, 3}), told


def test_what_is_run_elsewhere_is_run_there() -> None:
    assert all((ROOT / path).exists() for path in ELSEWHERE.values())
    assert set(ELSEWHERE) <= set(lines())
    assert set(ENDS) <= set(lines()), "a line of the table is no longer documented"


def test_a_line_that_is_no_command_would_be_found(done_folder: Path) -> None:
    assert run_line("exprt docs", ["exprt", "docs"], done_folder)[0] == 2

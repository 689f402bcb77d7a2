"""Folders with what the lines of the pages speak of: files, jobs that are done, jobs half-way; and a line run there."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from cli.commands import Done, holdfast, ledger_in, put_into, write_manual_checkpoint
from docs.example_site import HOSTS, example_site
from docs.reading import DOCS, blocks
from holdfast.demo.engines.world import HOSTS as ENGINE_WORLD
from holdfast.demo.serving import WorldServer
from tidy.source_tree import ROOT

COMPANY = "company"  # a job with two versions of a report
DONE = {0, 3}  # done, or done with failures: the site lacks a page
# Lines about a job that is half-way, and those that a person ends.
HALF_WAY = ("pause", "cancel", "resume", "restart", "frontier", "exclude", "watch")
BEFORE = {
    "restart": ("pause", "docs"),
    "restore": ("snapshot", "docs", "-o", "docs.tar"),
}  # what a person would have typed first
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
sources.unreported_judgments = {{ url = "http://court.example/judgments.csv" }}
sources.federal-court.url = "http://c.example/"
sources.federal-court.search = "http://c.example/{{case}}"
sources.federal-court.detail = "http://c.example/{{case}}/entries"

[job.manual]
kind = "site"
seeds = ["http://docs.example.dev/"]
"""
FILES = {
    "job.toml": 'kind = "site"\nseeds = ["http://docs.example.dev/"]\n',
    "cayman.toml": 'name = "cayman"\nkind = "site"\nseeds = ["http://judicial.example.ky/"]\n',
    "company.toml": 'name = "{company}"\nkind = "site"\nseeds = ["http://{host}/"]\n',
    "companies.csv": "company,host\nacme,acme.example\n",
    "list.csv": "Link,Number,Title\nhttp://docs.example.dev/files/1.txt,A-1,One\nhttp://docs.example.dev/files/2.txt,A-2,Two\n",
    "judgments.csv": "Link,Number\nhttp://court.example/files/1.txt,A-1\nhttp://court.example/files/2.txt,A-2\n",
}
IDLE = 'http.idle_timeout = "2s"\n'
CRAWL = ("crawl", "http://docs.example.dev/")


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    with example_site() as address:
        yield address


@pytest.fixture(scope="session")
def done_folder(site: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the lines speak of: files, and jobs that are done, `docs` of them in its fourth run."""
    folder = prepared(tmp_path_factory.mktemp("done"), site)
    scope = ("--max-depth", "3", "--exclude", "/tags/*")
    for more in (("--name", "docs", *scope), ("--name", "handbook", "--record"), ()):
        assert holdfast(*CRAWL, *more, cwd=folder).code == 0  # its one failure is a dead link
    for _ in range(3):
        assert holdfast("crawl", "docs", "--mode", "full", cwd=folder).code == 0
    assert holdfast("export", "docs", "-o", "site.warc.gz", cwd=folder).code == 0
    template = "http://c.example/{number}"
    assert holdfast("cases", "IMM-1-25..IMM-3-25", "--url", template, "--name", "IMM", cwd=folder).code == 0
    assert holdfast("docs", "list.csv", "--columns", "url=Link,id=Number", cwd=folder).code == 0
    assert holdfast("docs", "http://court.example/judgments.csv", "--name", "judgments", cwd=folder).code == 0
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


@pytest.fixture(scope="session")
def images_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose search engines are on this computer, with two jobs of images that are done."""
    folder = tmp_path_factory.mktemp("images")
    with WorldServer("engines", log_path=folder / "requests.jsonl", pages=60) as world:
        world.set_faults(retry_after_s=0)
        port = world.address.rpartition(":")[2]
        engines = [f'engines.{name}.base_url = "{url}"' for name, url in world.oracle()["engines"].items()]
        allowed = ", ".join(f'"{host}:{port}"' for host in ENGINE_WORLD)
        (folder / "holdfast.toml").write_text("\n".join([*engines, f"http.allow = [{allowed}]", 'delay = "0s"', IDLE]))
        saved = {"caption": "A dodo", "similarity": 0.31, "nsfw": "UNLIKELY"}
        rows = [{"keyword": "dodo", "url": row["url"], **saved} for row in world.oracle()["keywords"]["dodo"]]
        for name in ("urls.csv", "more.csv"):
            (folder / name).write_text("keyword,url\n" + "".join(f"dodo,{row['url']}\n" for row in rows))
        lines = "".join(f"{row['url']},dodo,A dodo\n" for row in rows)
        (folder / "birds.csv").write_text("Link,Class,What it shows\n" + lines)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "urls.parquet")
        (folder / "words.txt").write_text("kelp\nteapot\n")
        few = ("--per-keyword", "3")
        assert holdfast("images", "cat", "red panda", "--name", "pets", *few, cwd=folder).code in DONE
        assert holdfast("images", "--from", "urls.csv", *few, cwd=folder).code in DONE
        yield folder


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
    if words[0] == "restore" and "--trust" not in words:  # the example's site is on this computer, a reader's is not
        words += ["--trust"]
    if "--per-keyword" in words:
        words[words.index("--per-keyword") + 1] = "3"
    return holdfast(*words, cwd=folder)


def folder_for(words: list[str], request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the folder where such a line makes sense, with what is typed before it done."""
    if words[0] == "images" or {"pets", "urls"} & set(words):
        return a_copy(request, tmp_path, "images_folder")
    folder = a_copy(request, tmp_path, "half_way_folder" if words[0] in HALF_WAY else "done_folder")
    if COMPANY in words and "--name" not in words:
        for line in ((*CRAWL, "--report", "--name", COMPANY), ("crawl", COMPANY, "--mode", "full")):
            assert holdfast(*line, cwd=folder).code in DONE
    if words[0] in BEFORE:
        assert holdfast(*BEFORE[words[0]], cwd=folder).code == 0
    return folder


def a_copy(request: pytest.FixtureRequest, tmp_path: Path, kind: str) -> Path:
    folder = tmp_path / "here"
    subprocess.run(["cp", "-r", request.getfixturevalue(kind), folder], check=True)  # a live ledger is not opened here
    return folder

"""Every shell line of the pages is run by some test: those of `holdfast` by test_command_lines.py, all others here.

A line that nobody has a place for fails. What takes hours, or would be this very run of the tests, is run at its
smallest size, in a clone with an environment of its own; only sizes and places are changed.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from cli.commands import DEADLINE_S, Running, holdfast
from crash.suites.registry import SUITES
from docs.reading import DOCS, QUICKSTART, blocks, commands, made_or_installed, pages, shell_lines
from servers import cannot_run
from tidy.source_tree import ROOT

# fmt: off
#    documented            run as
RUN_AS = {
    "make demo":           "make demo",
    # Those are this run itself: here with one small test of theirs.
    "make test":           "make test JOBS=1 ARGS=tests/config/test_toml.py",
    "make crash":          "make crash JOBS=1 ARGS='-k one_interrupt_pauses'",
    "make mutants":        "make -n mutants JOBS=1 ARGS='-k misspelled' | tail -n 1 | sh",
    # Hours, or a quarter of one; tests/crash/test_suites.py plays every suite.
    "make crash-long":     "make crash-long SUITE=T2 TRIALS=1 SEED=5",
    "make hostile":        "make hostile ARGS=404",
    # The pages only: a recording of the demo shows the seconds of one computer.
    "make docs":           "make docs ARGS=--no-recording",
    # Minutes, and other crawlers in an environment of their own: what make runs in the end, with us alone.
    "make bench":          "make -n _bench ARGS='{bench}' | tail -n 1 | sh",
    "make bench-attacks":  "make bench-attacks ARGS='--dry modes'",
    "make bench-files":    "make bench-files ARGS='--files 20 --rounds 1'",
    "make bench-cases":    "make bench-cases ARGS='--cases 200 --kills 1'",
    "make bench-images":   "make -n bench-images ARGS='{images}' | tail -n 1 | sh",
    "make bench-markdown": "make bench-markdown ARGS='--folder pages --rounds 1'",
    "python -m bench.duplicates --index": ".venv/bin/python -m bench.duplicates --index --entries 20000",
    # No option makes its stretches shorter, so a file does.
    "make bench-frontier": "make -n bench-frontier ARGS='{frontier}' | tail -n 1 | sed 's/-m [a-z.]*/small.py/' | sh",
    "python -m bench.report": ".venv/bin/python -m bench.report",
}
# fmt: on
# Words behind a line that only choose its size.
CHOICES = re.compile(r'^(make bench(?:-attacks|-images)?) ARGS=".*"$|^(make crash-long) SUITE=\S+ TRIALS=\d+ SEED=\d+$')
SIZES = {
    "bench": "--rounds 1 --pages 100 --only holdfast",
    "images": "--images 20 --rounds 1 --processes 1 --only holdfast --no-kill",
    "frontier": "--known 5000 --hosts 1 --engine sqlite --output frontier.json",
}
SMALL_FRONTIER = """import bench.frontier as it

it.WARM_PAGES, it.PAGES, it.LONG_PAGES, it.SMALL_PAGES, it.ROUNDS, it.RESUMES = 20, 50, 200, 500, 1, 1
it.main()
"""
NEWCOMER = ("pip install .", "pip install pytest", "pytest test_forum.py")
SERVED, KILLED = "python -m holdfast.demo.serve --port 8123 --log requests.jsonl", "kill -9 4711"
NOT_CLONED = (".git", ".venv", ".tools", ".hypothesis", ".pytest_cache", "build", "dist", "__pycache__")
NOT_OURS = ("HOLDFAST_", "COV", "PYTEST", "PYTHON", "MAKE", "ARGS", "MFLAGS", "VIRTUAL_ENV", "UV_PYTHON")


def test_every_shell_line_is_run_by_a_test() -> None:
    """And no line hides in a block that is not looked at."""
    here = {*RUN_AS, *NEWCOMER, SERVED, KILLED}
    by_the_other = {shlex.join(words) for page in pages() for words in commands(page)}
    documented = {line: page.name for page in pages() for line in [*shell_lines(page), *made_or_installed(page)]}
    left = {line: page for line, page in documented.items() if general(line) not in here}
    unknown = {line: page for line, page in left.items() if not is_run(line, by_the_other)}
    assert unknown == {}, "no test runs these"
    assert here <= {general(line) for line in documented}, "a line is no longer documented"


def is_run(line: str, by_the_other: set[str]) -> bool:
    words = shlex.split(line, comments=True)
    upto = words[: words.index("|")] if "|" in words else words
    return upto[0] == "holdfast" and shlex.join(upto[1:]) in by_the_other


def general(line: str) -> str:
    chosen = CHOICES.match(line)
    return chosen[1] or chosen[2] if chosen else line


def test_a_line_that_nobody_runs_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ make frogs   # ribbit\n```\n\nOr `make toads`.\n\n```sh\nfrog\n```\n", encoding="utf-8"
    )
    assert shell_lines(page) == ["make frogs", "frog"]
    assert made_or_installed(page) == ["make toads"]
    assert not is_run("make frogs", set())


def test_a_suite_that_is_to_be_played_again_exists() -> None:
    named = {
        suite for page in pages() for line in made_or_installed(page) for suite in re.findall("SUITE=(\\S+)", line)
    }
    assert named
    assert named <= {suite.name for suite in SUITES}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a newcomer has, before the first `make`; what the linters know already makes them quick."""
    folder = tmp_path_factory.mktemp("clone") / "holdfast"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_CLONED))
    if (ROOT / ".tools").exists():
        (folder / ".tools").symlink_to(ROOT / ".tools")
    (folder / "small.py").write_text(SMALL_FRONTIER)
    (folder / "pages").mkdir()
    (folder / "pages" / "frogs.html").write_text("<title>Frogs</title><main>" + "<p>They croak.</p>" * 500)
    run("make sync", folder)
    return folder


def run(line: str, folder: Path, path: str = os.environ["PATH"]) -> str:
    """As a shell runs it that knows nothing of the tests."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(NOT_OURS)}
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], cwd=folder, env={**known, "PATH": path}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=110, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stdout}"
    return done.stdout


@pytest.mark.xdist_group("clone")
@pytest.mark.parametrize("line", [line for line in RUN_AS if line != "make demo"])
def test_a_line_of_make_runs(line: str, clone: Path) -> None:
    if line.startswith("make bench") and not shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin"):
        cannot_run("nginx is not installed")
    run(RUN_AS[line].format_map(SIZES), clone)


@pytest.mark.xdist_group("clone")
def test_the_demo_of_a_clone_runs(clone: Path) -> None:
    """Last of its group: it leaves the clone without what only developers need."""
    assert "Killed without warning: nothing lost, nothing doubled." in run(RUN_AS["make demo"], clone)


@pytest.mark.timeout(300)  # pip builds and downloads; this computer may be busy
def test_a_newcomer_installs_and_proves_a_recipe(tmp_path: Path) -> None:
    """By pip, into an environment that has nothing else, line by line."""
    venv.create(tmp_path / "venv", with_pip=True)
    path = f"{tmp_path / 'venv' / 'bin'}:{os.environ['PATH']}"
    recipe, *others = blocks(DOCS / "write-a-recipe.md", "python")
    [proof] = [block for block in others if "import FakeWeb, prove" in block]
    (tmp_path / "forum.py").write_text(recipe, encoding="utf-8")
    (tmp_path / "test_forum.py").write_text(proof, encoding="utf-8")
    shutil.copytree(ROOT, tmp_path / "clone", ignore=shutil.ignore_patterns(*NOT_CLONED, "tests", ".*_cache"))
    install, install_pytest, prove = NEWCOMER
    run(install, tmp_path / "clone", path)
    assert run("holdfast --version", tmp_path, path).startswith("holdfast ")
    run(install_pytest, tmp_path, path)
    assert "1 passed" in run(prove, tmp_path, path)


def test_the_quickstarts_handbook_is_served_and_its_crawler_killed(tmp_path: Path) -> None:
    line = SERVED.replace("python", sys.executable, 1).replace("8123", "0")
    with subprocess.Popen(shlex.split(line), cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[1]
            words = ("crawl", f"http://{address}/", "--allow-private", "--name", "handbook")
            crawl = Running(*words, cwd=tmp_path)
            crawl.wait_for(" crawling ")
            said = holdfast("status", "handbook", cwd=tmp_path).out
            [pid] = re.findall(r"worked by pid (\d+) on ", said)
            run(KILLED.replace("4711", pid), tmp_path)
            assert crawl.end().code == -9
            assert "\nInterrupted: no process works it, since " in holdfast("status", "handbook", cwd=tmp_path).out
            assert (tmp_path / "requests.jsonl").stat().st_size > 0
        finally:
            server.terminate()
            server.wait(DEADLINE_S)


def test_the_quickstart_can_be_typed_in_order() -> None:
    """What finishes the handbook comes behind the kill, and what works it once more after that says so."""
    lines = shell_lines(QUICKSTART)
    killed = lines.index(KILLED)
    assert not [line for line in lines[:killed] if "--delay" in line]
    finishes, *again = [line for line in lines[killed:] if line.startswith("holdfast crawl handbook")]
    assert finishes.endswith("--delay 0")
    assert all("--mode full" in line or "--new" in line for line in again)

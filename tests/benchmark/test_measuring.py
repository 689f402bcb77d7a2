"""The stop-watch and the site: what they count is what is there."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from bench.contestants.scripts import distinct_pages
from bench.measure import LargestFile, cpu_s_of, measured
from bench.site import FIRST, LINKS, make_site, path_of

BURN = "import time\nwhile time.process_time() < {s}: pass"
CHILD_BURNS = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)"


def test_cpu_of_a_child_of_the_child_is_counted(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", CHILD_BURNS, BURN.format(s=0.4)]
    cost = measured(argv, output=tmp_path / "out.txt")
    assert cost.exit == 0
    assert 0.4 <= cost.cpu_s < 3
    assert cost.wall_s >= 0.4


def test_memory_is_that_of_all_processes_together(tmp_path: Path) -> None:
    hold = "x = bytearray(60_000_000); import time; time.sleep(0.5)"
    outer = f"x = bytearray(60_000_000)\n{CHILD_BURNS}"
    cost = measured([sys.executable, "-c", outer, hold], output=tmp_path / "out.txt")
    assert 120 < cost.peak_mb < 300


def test_what_a_child_says_and_how_it_ends_is_kept(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", "import sys; print('frog'); print('newt', file=sys.stderr); sys.exit(3)"]
    cost = measured(argv, output=tmp_path / "said.out")
    assert (cost.exit, (tmp_path / "said.out").read_text()) == (3, "frog\n")
    assert (tmp_path / "said.err").read_text() == "newt\n"


def test_the_largest_size_of_a_file_is_remembered(tmp_path: Path) -> None:
    file = tmp_path / "wal"
    watch = LargestFile(file)
    for size in (0, 7, 3):
        watch.look(0)
        file.write_bytes(b"x" * size)
    watch.look(0)
    assert watch.bytes_max == 7


def test_a_process_that_is_gone_has_no_cpu() -> None:
    assert cpu_s_of(2**22 + 1) == 0


@pytest.mark.parametrize("pages", [1, 40, 1000])
def test_every_page_of_the_site_is_reachable(tmp_path: Path, pages: int) -> None:
    size = make_site(tmp_path, pages)
    seen, to_read = {FIRST}, [FIRST]
    while to_read:
        text = (tmp_path / to_read.pop().lstrip("/")).read_text()
        found = [path_of(int(number)) for number in re.findall(r'href="[^"]*page-(\d+)\.html"', text)]
        assert len(found) == LINKS
        to_read += set(found) - seen
        seen |= set(found)
    assert len(seen) == pages
    assert 13_000 < size / pages < 15_000


def test_a_page_that_was_written_twice_counts_once(tmp_path: Path) -> None:
    lines = ['{"url": "a", "status": 200}', '{"url": "a", "status": 200}', '{"url": "b", "status": 404}']
    (tmp_path / "out").write_text("\n".join(lines))
    assert distinct_pages(tmp_path / "out") == 1

"""What a crawl of large answers takes of memory, through the command (SEC-07)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

from cli.commands import DEADLINE_S, PROGRAM, environment
from fetch.hostile import HostileSite, answer, in_a_thread
from web.play import STOPWATCH

BODIES, BODY_BYTES = 8, 30_000_000
PEAK_MB_MAX = 300
ADDRESS_SPACE_MB = 4_000


def test_large_bodies_at_once_cost_bounded_memory_with_the_settings_as_they_come(tmp_path: Path) -> None:
    """SEC-07: 24 bodies of 49 MB took 3.3 GB, and 1.0 GB with the first budget. These do not pack."""
    body = answer(Random(7).randbytes(BODY_BYTES), "Content-Type: application/octet-stream")
    paths = [f"/{n}" for n in range(BODIES)]
    start = answer("".join(f"<a href={path}>x</a>" for path in paths).encode(), "Content-Type: text/html")
    with in_a_thread(site := HostileSite(more={"/": start, **dict.fromkeys(paths, body)})):
        words = ["crawl", site.url("/"), "--allow", site.address, "--delay", "0", "--per-host", "8", "--json"]
        report = tmp_path / "took.json"
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(STOPWATCH), str(report), str(ADDRESS_SPACE_MB), *PROGRAM, *words],
            cwd=tmp_path, env=environment(), capture_output=True, timeout=DEADLINE_S, check=True,
        )  # fmt: skip
    took = json.loads(report.read_text())
    assert (took["code"], json.loads(done.stdout)["counts"]["succeeded"]) == (0, BODIES + 1), done.stderr
    assert took["rss_mb"] < PEAK_MB_MAX

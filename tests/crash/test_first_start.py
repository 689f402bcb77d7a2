"""What the first command leaves on the disk, by its system calls: names are durable before what relies on them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from cli.commands import DEADLINE_S, PROGRAM, environment
from servers import need_tool

CALLS = "trace=mkdir,openat,fsync"


def traced_start(folder: Path) -> list[str]:
    """The calls of a start that goes no further than to make its ledger."""
    trace = folder / "trace"
    words = [need_tool("strace"), "-qq", "-y", "-f", "-o", str(trace), "-e", CALLS]
    crawl = [*PROGRAM, "crawl", "marsh.test", "--start-paused", "--data", str(folder / "far" / "data")]
    done = subprocess.run(
        [*words, *crawl], cwd=folder, env=environment(), capture_output=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return trace.read_text(errors="replace").splitlines()


def place_of(lines: list[str], pattern: str) -> int:
    return next(n for n, line in enumerate(lines) if re.search(pattern, line))


def test_the_name_of_a_new_data_folder_is_durable_before_its_ledger_is_made(tmp_path: Path) -> None:
    """D1: a power cut may take back every name whose folder was not synced."""
    lines = traced_start(tmp_path)
    here = re.escape(str(tmp_path))
    synced = [rf"fsync\(\d+<{here}>\)\s+= 0", rf"fsync\(\d+<{here}/far>\)\s+= 0"]
    made = [rf'mkdir\("{here}/far"', rf'mkdir\("{here}/far/data"']
    order = [place_of(lines, each) for each in (made[0], synced[0], made[1], synced[1], r'openat\(.*/ledger\.db"')]
    assert order == sorted(order), "\n".join(lines[order[0] :])

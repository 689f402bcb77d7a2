"""A long list of direct links: how soon its job is submitted, when its first file comes, and what memory it takes."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

WATCHED_S = 10.0
LOOK_EVERY_S = 2


def measure(folder: Path, rows: int, files: int, port: int) -> dict[str, Any]:
    """`files` of the rows' addresses are there; each row has one of its own."""
    listed = folder / f"list-{rows}.csv"
    lines = (f"http://127.0.0.1:{port}/{n % files}.bin?n={n},N-{n}\n" for n in range(rows))
    listed.write_text("Link,Number\n" + "".join(lines))
    words = [sys.executable, "-m", "holdfast", "docs", str(listed), "--columns", "url=Link,id=Number",
             "--delay", "0", "--concurrency", "8", "--per-host", "64", "--allow-private"]  # fmt: skip
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    (folder / "submitted").mkdir(exist_ok=True)
    subprocess.run([*words, "--start-paused"], cwd=folder / "submitted", check=True, capture_output=True)
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{rows} rows  submitted in {took:.2f} s, {cpu:.2f} s of processor")
    (folder / f"worked-{rows}").mkdir()
    first_s, resident_mb = _watch(words, folder / f"worked-{rows}", rows)
    return {"rows": rows, "submitted_s": took, "cpu_s": cpu, "first_s": first_s, "resident_mb": resident_mb}


def _watch(words: list[str], place: Path, rows: int) -> tuple[float | None, list[int]]:
    """When its first file came, and what memory it had every two seconds."""
    seen: list[int] = []
    quiet = subprocess.DEVNULL
    began, first, next_look = time.perf_counter(), None, 0.0
    with subprocess.Popen(words, cwd=place, stdout=quiet, stderr=quiet) as running:
        while running.poll() is None and (at := time.perf_counter() - began) < WATCHED_S:
            if first is None and any(place.glob("holdfast-data/artifacts/*/*")):
                first = at
                print(f"{rows} rows  first file after {first:.2f} s")
            if at >= next_look:
                next_look += LOOK_EVERY_S
                seen.append(_resident_mb(running.pid))
                print(f"{rows} rows  {at:5.1f} s  {seen[-1]} MB")
            time.sleep(0.02)
        running.terminate()
    return first, seen


def _resident_mb(pid: int) -> int:
    try:
        status = Path("/proc", str(pid), "status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) // 1024 if found else 0

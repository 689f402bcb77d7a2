"""Where a crawl's CPU goes: the twenty functions in which it was seen most often, sampled by py-spy from outside.

Only threads that run are counted, so waiting for the network, the disk or the interpreter's lock is no cost. A
function's share is its own, with the C code it calls (zlib in `append`, SQLite in `rows`), without Python it calls.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from bench.contestants.crawl import Arena
from bench.contestants.holdfast_rows import crawl_argv
from bench.contestants.scripts import PYTHON

SAMPLES_PER_S = 250
TOP = 20


class NotProfiled(Exception):
    """py-spy could not look into the crawl."""


def profile(arena: Arena) -> dict[str, Any]:
    """Crawl once under the profiler: how many samples there were, and the costliest functions."""
    stacks = arena.folder / "stacks.txt"
    # Not blocking: a thread that py-spy has stopped looks as if it had been running.
    crawl = crawl_argv(arena, ["--data", str(arena.folder / "data"), "--quiet"])
    argv = [
        str(PYTHON.with_name("py-spy")), "record", "--format", "raw", "--function", "--threads", "--nonblocking",
        "--rate", str(SAMPLES_PER_S), "--output", str(stacks), "--", *crawl,
    ]  # fmt: skip
    ended = subprocess.run(argv, check=False, capture_output=True, text=True)
    if ended.returncode != 0 or not stacks.exists():
        raise NotProfiled(f"py-spy ended with {ended.returncode}:\n{ended.stderr[-2000:]}")
    return costs(stacks.read_text())


def costs(stacks: str) -> dict[str, Any]:
    """From folded stacks (`thread;outer;…;inner COUNT`) to the functions at their ends."""
    found: Counter[tuple[str, str]] = Counter()
    for line in stacks.splitlines():
        stack, _, count = line.rpartition(" ")
        thread, *frames = stack.split(";")
        if frames:
            found[_thread(thread), frames[-1]] += int(count)
    total = sum(found.values())
    rows = [
        {"share": count / total, "thread": thread, "function": name, "where": where}
        for (thread, frame), count in found.most_common(TOP)
        for name, where in [_named(frame)]
    ]
    return {"samples": total, "per_second": SAMPLES_PER_S, "rows": rows}


def _thread(text: str) -> str:
    """`thread (4711): ledger_0` is the ledger thread; the main thread, before it has a name, is starting up."""
    _, named, name = text.rpartition(": ")
    if not named:
        return "start-up"
    return "ledger" if name.startswith("ledger") else "loop" if name == "MainThread" else name


def _named(frame: str) -> tuple[str, str]:
    """`Segments.append (holdfast/blobs/segments.py:48)` in two, without a path of this computer."""
    name, _, where = frame.rstrip(")").rpartition(" (")
    file = where.rpartition(":")[0] or where
    return name, "/".join(Path(file).parts[-3:]) if file.startswith("/") else file

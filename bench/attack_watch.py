"""Runs `holdfast` under limits and tells what it took: `PYTHON attack_watch.py REPORT SECONDS MEMORY_MB WORDS...`.

It needs the standard library alone, so that the Python of any checkout can run it, also one that knows nothing of this
bench. A process of its own, and a small one: the peak that the system reports for a child begins with its parent's.
How long the event loop was held is written into memory that both share: it is known of a command that is killed, too.
That is processor time of its thread, which is the main one: what other programs took meanwhile does not count.
"""

import asyncio.events
import json
import mmap
import os
import resource
import runpy
import signal
import struct
import sys
import time
from collections.abc import Callable

HELD = struct.Struct("dd")  # the longest turn of the event loop so far, and when the present one began (0: none)
POLL_S = 0.01
run_of_a_handle: Callable[[asyncio.events.Handle], None] = asyncio.events.Handle._run


def watch_the_loop(shared: mmap.mmap) -> None:
    """Every turn of the event loop is timed. What the command forks is not watched."""
    own = True

    def timed(handle: asyncio.events.Handle) -> None:
        if not own:
            run_of_a_handle(handle)
            return
        began_s = time.thread_time()
        longest_s = HELD.unpack_from(shared)[0]
        HELD.pack_into(shared, 0, longest_s, began_s)
        try:
            run_of_a_handle(handle)
        finally:
            HELD.pack_into(shared, 0, max(longest_s, time.thread_time() - began_s), 0.0)

    def forked() -> None:
        nonlocal own
        own = False

    os.register_at_fork(after_in_child=forked)
    asyncio.events.Handle._run = timed  # type: ignore[method-assign]


def held_s(shared: mmap.mmap, pid: int) -> float:
    """Of a process that still runs, also how long its present turn lasts."""
    longest_s, began_s = HELD.unpack_from(shared)
    if not began_s:
        return float(longest_s)
    with open(f"/proc/{pid}/task/{pid}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return max(longest_s, (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") - began_s)


def main(report: str, seconds: str, memory_mb: str, *words: str) -> None:
    shared = mmap.mmap(-1, HELD.size)
    began_s = time.monotonic()
    child = os.fork()
    if child == 0:
        limit = int(memory_mb) * 1_000_000
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        watch_the_loop(shared)
        sys.argv = ["holdfast", *words]
        sys.path.pop(0)  # the folder of this file
        runpy.run_module("holdfast", run_name="__main__", alter_sys=True)
        sys.exit()
    in_time = True
    while True:
        pid, status, used = os.wait4(child, os.WNOHANG)
        if pid:
            break
        if in_time and time.monotonic() - began_s > float(seconds):
            in_time = False
            longest_s = held_s(shared, child)
            os.kill(child, signal.SIGKILL)
        time.sleep(POLL_S)
    if in_time:
        longest_s = HELD.unpack_from(shared)[0]
    told = {
        "code": os.waitstatus_to_exitcode(status),
        "in_time": in_time,
        "seconds": time.monotonic() - began_s,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss * 1024 / 1e6,
        "held_s": longest_s,
    }
    with open(report, "w") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main(*sys.argv[1:])

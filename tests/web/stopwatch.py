"""Runs a command under limits and writes what it took: `stopwatch.py REPORT MEMORY_MB COMMAND...`.

A process of its own, and a small one: the peak memory that the system reports for a child begins with its parent's.
"""

import json
import os
import resource
import sys
import time

report, memory_mb, *command = sys.argv[1:]
limit = int(memory_mb) * 1_000_000
began = time.monotonic()
child = os.fork()
if child == 0:
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    os.execv(command[0], command)  # noqa: S606 - a list of our own, and no shell
_, status, used = os.wait4(child, 0)
seconds = time.monotonic() - began
code = os.waitstatus_to_exitcode(status)
with open(report, "w") as file:
    took = {"code": code, "seconds": seconds, "cpu_s": used.ru_utime + used.ru_stime}
    json.dump({**took, "rss_mb": used.ru_maxrss * 1024 / 1e6}, file)

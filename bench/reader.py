"""A reader that looks at a running crawl ten times a second: `status` and `targets`, as people and dashboards do.

    python -m bench.reader DATA

One long-lived process that runs the real commands. On SIGTERM it prints how often it looked and how long that took.
Counts that do not balance, or a command that fails, end it with 1.
"""

from __future__ import annotations

import io
import json
import signal
import sys
import threading
import time
from contextlib import redirect_stderr, redirect_stdout
from statistics import median
from typing import Any

from bench.contestants.holdfast_rows import balances
from holdfast.cli.main import main as holdfast

EVERY_S = 0.1
TARGETS = 50


class Reader:
    """What was seen so far."""

    def __init__(self, data: str) -> None:
        self._where = ["--data", data]
        self.polls_ms: list[float] = []
        self.distinct: set[int] = set()

    def look(self) -> None:
        """One reading of the books, which must balance by itself, and one page of targets; nothing before the job."""
        began = time.perf_counter()
        jobs = self._ask("status", "--json")["jobs"]
        if not jobs:
            return
        counts = jobs[0]["counts"]
        if not balances(counts):
            raise RuntimeError(f"the books do not balance: {counts}")
        self._ask("targets", jobs[0]["id"], "--json", "--limit", str(TARGETS))
        self.polls_ms.append((time.perf_counter() - began) * 1000)
        self.distinct.add(counts["succeeded"])

    def _ask(self, *words: str) -> dict[str, Any]:
        out, complaints = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(complaints):
            code = holdfast([*words, *self._where])
        if code != 0:
            raise RuntimeError(f"holdfast {' '.join(words)} ended with {code}: {complaints.getvalue()}")
        answer: dict[str, Any] = json.loads(out.getvalue())
        return answer

    def summary(self) -> dict[str, Any]:
        """`readings`: how many different counts of done pages were seen; who saw only one saw nothing."""
        return {
            "polls": len(self.polls_ms),
            "unbalanced": 0,  # one would have ended this process
            "readings": len(self.distinct),
            "cpu_s": time.process_time(),
            "poll_ms_median": median(self.polls_ms or [0.0]),
            "poll_ms_max": max(self.polls_ms, default=0.0),
        }


def main(data: str) -> int:
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    reader, due = Reader(data), time.monotonic()
    while not stop.wait(max(0.0, due - time.monotonic())):
        due = max(due + EVERY_S, time.monotonic())
        try:
            reader.look()
        except (RuntimeError, ValueError) as error:
            print(error, flush=True)
            return 1
    print(json.dumps(reader.summary()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

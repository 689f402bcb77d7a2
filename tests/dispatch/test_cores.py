"""Where a worker process runs: on a core of its own where each can have one, else wherever the system puts it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from holdfast.cores import core_of, keep_to_own

STARTS_A_CHILD = """
import os
from holdfast.cores import keep_to_own
from holdfast.recipes.child_process import ChildProcess

cores = os.sched_getaffinity(0)
keep_to_own(place=0, workers=len(cores))
own = os.sched_getaffinity(0)
child = ChildProcess("-c", "import os; print(*sorted(os.sched_getaffinity(0)))")
assert child.pipes()[1].read().split() == [b"%d" % core for core in sorted(cores)]
assert os.sched_getaffinity(0) == own == {min(cores)}
"""

LOSES_ITS_CORE = """
from holdfast import cores
from holdfast.recipes.child_process import ChildProcess

cores._own.add(100_000)
cores._every.add(100_000)
child = ChildProcess("-c", "print('runs')")
assert child.pipes()[1].read() == b"runs\\n"
"""


@pytest.mark.parametrize(
    ("workers", "cores", "kept"),
    [
        (2, {0, 1}, [0, 1]),
        (3, {7, 2, 5}, [2, 5, 7]),
        (1, {0}, [None]),
        (2, {0, 1, 2}, [None, None]),
        (3, {0, 1}, [None, None, None]),
    ],
)
def test_each_keeps_to_its_own_where_there_are_as_many(workers: int, cores: set[int], kept: list[int | None]) -> None:
    assert [core_of(place, workers, cores) for place in range(workers)] == kept


def test_where_it_is_forbidden_the_worker_goes_on_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter of system calls, say: a core of one's own only makes things faster."""

    def forbidden(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr("os.sched_setaffinity", forbidden)
    keep_to_own(place=0, workers=2)


def test_a_decoder_is_not_bound_to_the_core_of_its_worker() -> None:
    """A job of one chunk has one worker: its decoders would have one core between them, and with it."""
    subprocess.run([sys.executable, "-c", STARTS_A_CHILD], check=True, timeout=60)


def test_a_decoder_starts_though_the_core_of_its_worker_was_taken_away() -> None:
    """Another cpuset, say: no file of the job could be judged any more."""
    subprocess.run([sys.executable, "-c", LOSES_ITS_CORE], check=True, timeout=60)

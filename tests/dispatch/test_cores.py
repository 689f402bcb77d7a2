"""Where a worker process runs: on a core of its own where each can have one, else wherever the system puts it."""

from __future__ import annotations

import pytest

from holdfast.dispatch.local.cores import core_of, keep_to_own


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

"""Calls that wait for the disk, made on a few threads: fsyncs that wait together share one commit of the filesystem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from holdfast.blobs.publish import refusal
from holdfast.errors import HoldfastError

T = TypeVar("T")
AT_ONCE = 8


class Together:
    """`together(call, items)`. `place`: what a refusal of the disk names. Its threads begin with the first group."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._threads: ThreadPoolExecutor | None = None

    def __call__(self, call: Callable[[T], None], items: Sequence[T]) -> None:
        """Returns when all calls are over; the first of what they raised is raised then."""
        if len(items) <= 1:
            failures = [self._each(call, items)]
        else:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="file-group")
            shares = [items[n::AT_ONCE] for n in range(min(len(items), AT_ONCE))]
            failures = list(self._threads.map(lambda share: self._each(call, share), shares))
        for failure in failures:
            if failure is not None:
                raise failure

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()

    def _each(self, call: Callable[[T], None], items: Sequence[T]) -> HoldfastError | None:
        try:
            for item in items:
                call(item)
        except OSError as error:
            return refusal(error, self._place)
        except HoldfastError as error:
            return error
        return None

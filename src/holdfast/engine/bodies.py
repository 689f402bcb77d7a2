"""The one thread that brings page bodies to the disk. A page goes on to the ledger only when its bytes are there.

It works beside the ledger's thread: while one group of pages is settled, the bytes of the next are written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from holdfast.engine.execute import Finished
from holdfast.engine.ledger_thread import repeated
from holdfast.model.outcome import Verdict
from holdfast.ports import Blobs

STORE_TRIES = 8


class Bodies:
    """Owns a job's blobs while it is worked."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bodies")

    async def store(self, finished: Sequence[Finished]) -> list[Finished]:
        """The same pages with a reference in place of the body. If it raises, none of them is stored."""
        if all(item.body is None for item in finished):
            return list(finished)
        return await asyncio.get_running_loop().run_in_executor(self._pool, stored, self._blobs, finished)

    def close(self) -> None:
        self._pool.shutdown()
        self._blobs.close()


def stored(blobs: Blobs, finished: Sequence[Finished]) -> list[Finished]:
    """One group, one fsync. What a row will refer to is on the disk before the row exists."""
    bodies = [item.body for item in finished if item.body is not None]
    references = iter(repeated(lambda: blobs.append(bodies), tries=STORE_TRIES))
    return [
        item if item.body is None else _referring(item, msgspec.structs.replace(item.verdict, body=next(references)))
        for item in finished
    ]


def _referring(item: Finished, verdict: Verdict) -> Finished:
    return Finished(item.claimed, verdict, None, item.pauses_job)

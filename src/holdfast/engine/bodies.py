"""Page bodies on their way to the disk. A page goes on to the ledger only when its bytes are there.

Called on the ledger's thread, just before the settle: a thread of its own was tried, and what that gained in overlap it
lost by waiting for the interpreter at every body.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from holdfast.engine.execute import Finished
from holdfast.engine.ledger_thread import repeated
from holdfast.model.outcome import Body, Verdict
from holdfast.ports import Blobs

STORE_TRIES = 8


def stored(blobs: Blobs, finished: Sequence[Finished]) -> Sequence[Finished]:
    """The same pages with a reference in place of the body: one group, one fsync. If it raises, none of them is stored.

    What a row will refer to is on the disk before the row exists.
    """
    bodies = [_hashed(item.body) for item in finished if item.body is not None]
    if not bodies:
        return finished
    references = iter(repeated(lambda: blobs.append(bodies), tries=STORE_TRIES))
    return [
        item if item.body is None else _referring(item, msgspec.structs.replace(item.verdict, body=next(references)))
        for item in finished
    ]


def _hashed(body: Body) -> Body:
    """Not on the event loop's thread: hashing gives the interpreter away, and waits to have it back."""
    return body if body.sha256 else msgspec.structs.replace(body, sha256=sha256(body.content).digest())


def _referring(item: Finished, verdict: Verdict) -> Finished:
    return Finished(item.claimed, verdict, None, item.pauses_job)

"""Page bodies and files on their way to the disk. A page goes on to the ledger only when its bytes are there.

They are stored on the ledger's thread, just before the settle: a thread of their own was tried, and what that gained in
overlap it lost by waiting for the interpreter at every body. What can be done ahead, in time that the event loop would
spend waiting for that commit, is packing the next ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from holdfast.engine.execute import Finished
from holdfast.engine.patience import repeated
from holdfast.errors import BadParams, HoldfastError
from holdfast.model.artifact import Artifact
from holdfast.model.outcome import BodyRef
from holdfast.ports import Blobs, Files

STORE_TRIES = 8
PACKED_AHEAD_BYTES_MAX = 262_144  # a larger one would keep the event loop from its sockets
PACKED_AT_ONCE = 4


def stored(blobs: Blobs, finished: Sequence[Finished]) -> Sequence[Finished]:
    """The same pages with a reference in place of the body: one group, one fsync. If it raises, none of them is stored.

    What a row will refer to is on the disk before the row exists.
    """
    bodies = [item.body for item in finished if item.body is not None]
    if not bodies:
        return finished
    references = iter(repeated(lambda: blobs.append(bodies), tries=STORE_TRIES))
    return [item if item.body is None else _referring(item, next(references)) for item in finished]


def named(
    files: Files, finished: Sequence[Finished], not_kept: Callable[[Finished, BadParams], Finished]
) -> Sequence[Finished]:
    """The same targets, their files under their names: the whole group's are fsynced together, and each folder once.

    `not_kept` says what becomes of a target one of whose files cannot have its name. If it raises, none may be settled.
    """
    group = [each for item in finished for each in item.files]
    if not group:
        return finished
    kept = iter(repeated(lambda: files.keep(group), tries=STORE_TRIES))
    return [_holding(item, [next(kept) for _ in item.files], not_kept) if item.files else item for item in finished]


async def pack_ahead(blobs: Blobs, waiting: list[Finished], is_idle: Callable[[], bool]) -> None:
    """Pack the bodies of pages that wait for the next commit, in their place, as long as there is nothing else to do.

    On the event loop's thread, which gives the interpreter away while it packs. A page that cannot be packed is told
    where it is stored.
    """
    for at, item in enumerate(waiting):
        if not is_idle():
            return
        if item.body is not None and len(item.body.content) <= PACKED_AHEAD_BYTES_MAX:
            with suppress(HoldfastError):
                waiting[at] = msgspec.structs.replace(item, body=blobs.pack(item.body))
        if at % PACKED_AT_ONCE == 0:
            await asyncio.sleep(0)


def _referring(item: Finished, reference: BodyRef) -> Finished:
    return msgspec.structs.replace(item, verdict=msgspec.structs.replace(item.verdict, body=reference), body=None)


def _holding(
    item: Finished, kept: Sequence[Artifact | BadParams], not_kept: Callable[[Finished, BadParams], Finished]
) -> Finished:
    artifacts: list[Artifact] = []
    for each in kept:
        if isinstance(each, BadParams):
            return not_kept(item, each)
        artifacts.append(each)
    verdict = msgspec.structs.replace(item.verdict, artifacts=tuple(artifacts))
    return msgspec.structs.replace(item, verdict=verdict, files=())

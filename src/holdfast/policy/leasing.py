"""When to renew a lease, when to stop using it, and what is a fair share among workers. Knows no ledger and no clock.

A worker counts a lease's life from the moment it *asked*, on its own monotonic clock: the store began counting later,
so the worker's deadline always comes first, and a margin is kept for what it is about to do (E3).
"""

from __future__ import annotations

import math

import msgspec

from holdfast.model.job import WORK_CHUNKS, Options

AHEAD = 2  # claims for each fetch at once, so that no slot idles while a commit is under way
AHEAD_MAX = 64  # where a kind claims further ahead: what a kill leaves suspect is tried one by one
RENEW_AT_SHARE = 1 / 3
MARGIN_SHARE = 1 / 10


def may_use(*, now_ms: int, asked_ms: int, life_ms: int) -> bool:
    """Whether a fetch or settle may still begin under a lease asked for at `asked_ms`; else abandon the work."""
    return now_ms < deadline(asked_ms=asked_ms, life_ms=life_ms)


def deadline(*, asked_ms: int, life_ms: int) -> int:
    """The monotonic moment from which on this worker treats the lease as lost."""
    return asked_ms + math.floor(life_ms * (1 - MARGIN_SHARE))


def share(workers: int, whole: int = WORK_CHUNKS, *, place: int = 0) -> int:
    """The part of the worker at this place, of chunks or of whatever is shared (FRO-12).

    Together the parts are the whole, they differ by one at most, and the first place has the largest: ceil(whole / n).
    """
    parts = max(workers, 1)
    return whole // parts + (place < whole % parts)


def options_of(options: Options, *, workers: int, place: int) -> Options:
    """The job's options as one of several workers follows them: `concurrency` is the total over all of them."""
    part = max(1, share(workers, options.concurrency, place=place))
    return msgspec.structs.replace(options, concurrency=part)


def in_hand_max(options: Options, *, workers: int, place: int, one_host: bool, ahead: int = AHEAD) -> int:
    """How many targets a worker may have claimed at once, with those that still wait for their start.

    One that is alone claims ahead, so that no slot idles while it commits. Where several workers share one host, a
    claim that waits in a queue keeps a slot of the host from the others, and a delay that ran from the claim is over
    when the fetch begins: then each claims only what it can begin, and only its part of the host's slots.

    `ahead`: that many for each fetch, where no delay is kept and a commit lasts, as with files that wait for the disk.
    """
    most = AHEAD * options.concurrency
    if not options.delay_ms:
        most = max(most, min(ahead * options.concurrency, AHEAD_MAX))
    if workers <= 1 or not one_host:
        return most
    slots = max(1, share(workers, options.per_host, place=place))
    return min(options.concurrency if options.delay_ms else most, slots)

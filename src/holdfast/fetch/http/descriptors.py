"""Descriptors of this process: how many fetches they are enough for, and whether they have run out.

Where they have, the system refuses sockets, name look-ups and certificate files alike, and libcurl says only that it
could not connect or resolve. That is our trouble, and must not count against a page or its host.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress

BASE = 40  # the ledger, the log, segments, pipes; what Python and a recipe open; and `SPARE`
PER_FETCH = 5  # two connections that are kept, one that is being opened and is there twice, a name look-up
SPARE = 8  # left by fetches, so that what they bring can be saved


def limit() -> int:
    """How many this process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**31 if soft == resource.RLIM_INFINITY else soft


def make_room(fetches: int) -> int:
    """Raise our own limit as far as that many fetches need it and the system allows it; how many there is room for."""
    wanted = BASE + PER_FETCH * fetches
    if limit() < wanted:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit(), most), hard))
    return min(fetches, max(0, limit() - BASE) // PER_FETCH)


def are_short() -> bool:
    """Whether fewer are left than we want to spare. Asked after a failure: others may have let go of some since."""
    taken: list[int] = []
    try:
        while len(taken) < SPARE:
            taken.extend(os.pipe())
    except OSError:
        return True
    finally:
        for descriptor in taken:
            os.close(descriptor)
    return False

"""What a process does that slept past its leases and does not look at the clock: it goes on as if nothing had been.

All of it is lawful while nobody has taken its chunks; afterwards every write must be refused.
"""

from __future__ import annotations

from crash.storm.around import Around
from crash.storm.session import Session

RUDE_DEEDS = ("settle", "claim", "renew", "finish", "release", "settle", "renew")
ROOM = 3


def act_as_zombie(around: Around, at: Session, deed: str) -> None:
    worker = at.worker
    if deed == "settle":
        judged = [around.site.verdict(around.bench, here) for here in at.hand.values() if not around.site.kills(here)]
        at.learn(worker.settle(*judged, wish=worker.wish(ROOM)))
    elif deed == "claim":
        at.learn(worker.send([], worker.wish(ROOM)))
    elif deed == "renew":
        at.keep(worker.renew(), at.now)
    elif deed == "release":
        worker.release()
    elif worker.of_kind("control"):
        worker.ledger.advance(worker.job, worker.control)

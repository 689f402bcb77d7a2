"""T2: two to eight simulated processes on one job, against the real SQLite ledger and the one in memory.

Everything is drawn from the seed, time included, so a seed that fails fails again, in the same step.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from conformance.worker import LIFE_S
from crash.storm.ledgers import KINDS, Disguise, Ledgers
from crash.storm.sight import Sight
from crash.storm.site import SHAPES, Site
from crash.storm.storm import Storm
from crash.suites.suite import Suite, Trial

IN_MEMORY = Path("/dev/shm")  # where there is one: thousands of files are made and thrown away
WHERE = "tmpfs" if IN_MEMORY.is_dir() else "disk"
MEMORY_EVERY = 7  # no divisor of the number of shapes, so that each is played on both


@contextmanager
def stage(folder: Path) -> Iterator[Callable[[Path, int], Trial]]:
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else folder) as quick:
        ledgers = Ledgers(Path(quick))
        calm: dict[tuple[str, int], Sight] = {}
        try:
            yield lambda place, seed: play_one(ledgers, calm, place, seed)
        finally:
            ledgers.close()


def play_one(ledgers: Ledgers, calm: dict[tuple[str, int], Sight], place: Path, seed: int) -> Trial:
    """One seed; where it broke its story stays in the folder."""
    kind, shape = KINDS[seed % MEMORY_EVERY == 0], seed % SHAPES
    if (kind, shape) not in calm:
        calm[kind, shape] = undisturbed(ledgers, kind, shape)
    storm, broken = weathered(ledgers, kind, shape, seed, calm[kind, shape])
    if broken:
        (place / "story.txt").write_text("\n".join(storm.story) + "\n")
        broken += f" ({place / 'story.txt'})"
    told = ", ".join(f"{n} {what}" for what, n in sorted(storm.hits.items()))
    return Trial(seed, f"{storm.size} processes on {kind}: {told}", bool(storm.hits), broken)


def weathered(
    ledgers: Ledgers, kind: str, shape: int, seed: int, calm: Sight, disguise: Disguise = lambda ledger: ledger
) -> tuple[Storm, str]:
    """A storm that was played, and what broke."""
    with ledgers.fresh(kind, disguise) as (bench, eyes):
        storm = Storm(bench, eyes, Site(shape), seed)
        return storm, storm.run(calm)


def undisturbed(ledgers: Ledgers, kind: str, shape: int) -> Sight:
    """How the job ends where nothing goes wrong, except for a page that kills whoever works it."""
    with ledgers.fresh(kind) as (bench, eyes):
        storm = Storm(bench, eyes, Site(shape), seed=shape, is_rough=False)
        broken = storm.run(None)
        assert not broken, f"nobody disturbed it: {broken}"
        return storm.witness.last


SIMULATED = Suite(
    name="T2",
    title="simulated processes die, sleep past their leases, lose answers, repeat themselves and come late",
    scope=f"2 to 8 processes in one thread, virtual clock, lease {LIFE_S:.0f} s, 10 to 14 pages in 8 of 16 chunks; "
    f"real SQLite ledger on {WHERE}, each {MEMORY_EVERY}th in memory; pauses, time-outs, cancels, retries, "
    "restarts, rescans in between",
    stage=stage,
    small=150,
    full=200_000,
)

"""How a drained job ends: completed or failed, and how healthy it is (JOB-09, SIT-10 with the ratios of DOC-38).

It reads the books and nothing else; it never says an end while work is left.
"""

from __future__ import annotations

import msgspec

from holdfast.errors import Corrupt
from holdfast.model.job import Counts

RATIO_FAILED = 0.1
SEEDS_LOOKED_AT = 100  # with more pages than this, a job has more than seeds


class Ending(msgspec.Struct, frozen=True):
    """The job's last move, its health, and why. `stop_reason` only where it did not simply come to its end."""

    verb: str
    health: str
    because: str
    stop_reason: str | None = None


def verdict(counts: Counts, *, seeds_failed_only: bool, plan_failed: str = "", dead_end: str = "") -> Ending | None:
    """The ending that these books allow; None: work is left. Books that do not balance are Corrupt.

    `seeds_failed_only`: targets failed, nothing succeeded, and every failed one is a seed or where a seed led.
    `plan_failed`: what the plan raised before it had given everything. `dead_end`: why nothing but seeds came out of
    it, where every page says so of itself.
    """
    if counts.left:
        return None
    if counts.discovered != counts.succeeded + counts.failed + counts.skipped:
        raise Corrupt(f"the books do not balance: {counts.seven()}")
    if plan_failed:
        return Ending("fail", "failed", f"the plan failed: {plan_failed}", "plan_failed")
    if counts.succeeded == 0 and counts.failed and seeds_failed_only:
        done = "worked" if "recipe_error" in counts.failed_by else "fetched"  # fetched it may be when code raises
        return Ending("fail", "failed", f"no seed could be {done}: {', '.join(counts.failed_by)}", "seeds_failed")
    health = health_of(counts)
    if health == "ok" and dead_end:
        return Ending("complete", "suspicious", f"nothing but what it began with came out of it: {dead_end}")
    return Ending("complete", health, _because(counts, health))


def may_be_dead_end(counts: Counts, pages_max: int | None) -> bool:
    """Whether so few pages came out of it that it is worth a look; as many as were asked for are enough."""
    wanted = pages_max is None or counts.succeeded + counts.failed < pages_max
    return wanted and 0 < counts.succeeded <= SEEDS_LOOKED_AT


def stale_ending(because: str) -> Ending | None:
    """A job in which nothing moved for too long while it was worked fails, with work left (PAU-09); "": it is not."""
    return Ending("fail", "failed", because, "stale") if because else None


def health_of(counts: Counts) -> str:
    """`ok`, `partial`, `failed` or `suspicious`: the share of good pages among those that were tried to the end."""
    if counts.succeeded == 0:
        return "suspicious"
    if counts.failed == 0:
        return "ok"
    ratio = counts.succeeded / (counts.succeeded + counts.failed)
    if ratio < RATIO_FAILED:
        return "failed"
    return "partial"


def _because(counts: Counts, health: str) -> str:
    if health == "suspicious":
        return "everything is settled, and no page came out of it"
    if health == "ok":
        return "nothing is left and nothing failed"
    return f"nothing is left; {counts.failed} failed"

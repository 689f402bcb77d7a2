"""What a run of a documents job came to: coverage and health (DOC-36 to DOC-39), from counts alone.

Two ratios, never mixed: `coverage_ratio` is of what this run planned, `corpus_ratio` of the whole collection. A run
that had nothing to do because everything is held is `ok`.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import asdict

from holdfast.errors import Corrupt, NotFound

RATIO_OK = 0.95
RATIO_FAILED = 0.1


class RunCounts(msgspec.Struct, frozen=True):
    """Counted from rows at the end of a run. `held` is after the run, over the active non-criminal `collectable`."""

    cases_total: int
    cases_planned: int
    cases_attempted: int
    cases_downloaded: int
    cases_failed: int
    cases_skipped: int = 0
    cases_held: int = 0
    collectable: int = 0

    def __post_init__(self) -> None:
        if any(count < 0 for count in asdict(self).values()):
            raise Corrupt(f"a count below zero: {self}")
        if self.cases_downloaded + self.cases_failed > self.cases_attempted:
            raise Corrupt(f"more cases ended than were attempted: {self}")
        if self.cases_attempted > self.cases_planned:
            raise Corrupt(f"more cases were attempted than planned: {self}")
        if self.cases_held > self.collectable:
            raise Corrupt(f"more cases are held than there are to hold: {self}")


def coverage_ratio(counts: RunCounts) -> float:
    """DOC-37."""
    return counts.cases_downloaded / max(counts.cases_planned, 1)


def corpus_ratio(counts: RunCounts) -> float:
    """The share of the collection that is held; 1 where there is nothing to hold."""
    return counts.cases_held / counts.collectable if counts.collectable else 1.0


def everything_is_held(counts: RunCounts) -> bool:
    return counts.collectable > 0 and counts.cases_held == counts.collectable


def run_health(counts: RunCounts) -> str:
    """DOC-38: `ok`, `partial`, `failed` or `suspicious`."""
    if counts.cases_planned == 0:
        return "ok" if counts.cases_total == 0 or everything_is_held(counts) else "suspicious"
    if counts.cases_attempted == 0:
        return "suspicious"
    ratio = coverage_ratio(counts)
    if ratio >= RATIO_OK and counts.cases_failed == 0:
        return "ok"
    if ratio < RATIO_FAILED and counts.cases_failed:
        return "failed"
    return "partial"


def coverage(counts: RunCounts | None, run_id: str) -> dict[str, Any]:
    """DOC-36's fields as every surface shows them. None: there is no such run, which is NotFound, never an empty
    one.
    """
    if counts is None:
        raise NotFound(f"there is no run {run_id}")
    health = run_health(counts)
    fields = asdict(counts)
    del fields["collectable"]
    ratios = {"coverage_ratio": round(coverage_ratio(counts), 4), "corpus_ratio": round(corpus_ratio(counts), 4)}
    return {"run_id": run_id, **fields, **ratios, "run_health": health, "health": health}


def totals(counts: RunCounts) -> dict[str, int]:
    """NOT-06: a run in four numbers."""
    ended = {
        "downloaded": counts.cases_downloaded,
        "skipped": counts.cases_skipped,
        "failed": counts.cases_failed,
    }
    return {"processed": sum(ended.values()), **ended}


def summary(
    counts: RunCounts, run_id: str, errors: dict[str, int], *, started_at: str, ended_at: str
) -> dict[str, Any]:
    """JOB-06: what a run ends with. Only codes that occurred are in `error_counts`."""
    return {
        "run_id": run_id,
        "cases_total": counts.cases_total,
        "cases_targeted": counts.cases_planned,
        "downloads_completed": counts.cases_downloaded,
        "downloads_failed": counts.cases_failed,
        "downloads_skipped": counts.cases_skipped,
        "error_counts": {code: count for code, count in sorted(errors.items()) if count},
        "started_at": started_at,
        "ended_at": ended_at,
    }

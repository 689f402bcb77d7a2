"""The statistics document of a range (CAS-04): five counts that sum to the range, or no document at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from holdfast.errors import Corrupt
from holdfast.recipes.cases.ids import Range, case_id

OUTCOMES = {
    "success": "success",
    "record": "success",
    "no_record": "no_record",
    "no-record": "no_record",
    "failed": "failed",
}


class CaseStatistics(msgspec.Struct, frozen=True):
    start_id: str
    end_id: str
    success_count: int
    no_record_count: int
    failed_count: int
    skipped_count: int
    pending_count: int

    @property
    def total_attempted(self) -> int:
        return self.success_count + self.no_record_count + self.failed_count

    def document(self, *, run_id: str, started_at: str, finished_at: str) -> dict[str, Any]:
        return {
            "run_id": run_id,
            "start_id": self.start_id,
            "end_id": self.end_id,
            "total_attempted": self.total_attempted,
            "success_count": self.success_count,
            "no_record_count": self.no_record_count,
            "failed_count": self.failed_count,
            "skipped_count": self.skipped_count,
            "pending_count": self.pending_count,
            "started_at": started_at,
            "finished_at": finished_at,
        }


def statistics_of(asked: Range, counts: Mapping[str, int]) -> CaseStatistics:
    """From counts by outcome, with `skipped` and `pending`. A number that none of them has is pending.

    Corrupt where they are more than the range has: a number was counted twice.
    """
    summed: dict[str, int] = {}
    for name, count in counts.items():
        outcome = OUTCOMES.get(name, name)
        if outcome not in ("success", "no_record", "failed", "skipped", "pending") or count < 0:
            raise Corrupt(f"{count} cases of outcome {name!r}")
        summed[outcome] = summed.get(outcome, 0) + count
    unseen = len(asked) - sum(summed.values())
    if unseen < 0:
        raise Corrupt(f"{sum(summed.values())} cases are counted in a range of {len(asked)}")
    return CaseStatistics(
        start_id=case_id(asked.prefix, asked.first, asked.year),
        end_id=case_id(asked.prefix, asked.last, asked.year),
        success_count=summed.get("success", 0),
        no_record_count=summed.get("no_record", 0),
        failed_count=summed.get("failed", 0),
        skipped_count=summed.get("skipped", 0),
        pending_count=summed.get("pending", 0) + unseen,
    )

"""Whether what was seen of a case may be believed (CAS-07): a whole record, a proven absence, or neither.

Neither is never stored as an outcome. `incomplete_record` is asked again; a block page stops the job.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from holdfast.recipes.cases.detail import CaseDetail

INCOMPLETE = "incomplete_record"
MISSES_NEEDED = 2
SETTLE_MS = 2_000  # a miss may be shown this long before the hit arrives
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class Observation(msgspec.Struct, frozen=True):
    """One look at the result table. `asked` is the number in the input when it was sent, not the one we meant to ask.

    `rows` are the court numbers shown; `is_settled` means that nothing was loading any more.
    """

    asked: str
    rows: tuple[str, ...]
    at_ms: int
    is_settled: bool = True


class SearchLook(msgspec.Struct, frozen=True):
    """`verdict`: `hit`, `no_record`, or `unsettled`, which says nothing about the case; `because` is for the log."""

    verdict: str
    because: str


def judge_search(number: str, looks: Sequence[Observation], *, settle_ms: int = SETTLE_MS) -> SearchLook:
    """What looks at the table, in order of time, prove about a number.

    A hit is the number's own row. `no_record` needs the last looks to be empty, settled, about this very number,
    at least MISSES_NEEDED of them and `settle_ms` apart from first to last: a miss is shown before a late hit,
    too.
    """
    about = [look for look in looks if look.asked == number]
    if not about:
        asked = looks[-1].asked if looks else ""
        return SearchLook("unsettled", f"the table answers for {asked!r}" if looks else "nobody looked")
    if number in about[-1].rows:
        return SearchLook("hit", "its own row is there")
    if about[-1].rows:
        return SearchLook("unsettled", f"the row of {about[-1].rows[0]} still stands there")
    misses = _last_misses(about)
    if len(misses) < MISSES_NEEDED:
        return SearchLook("unsettled", f"{len(misses)} settled look of {MISSES_NEEDED} shows no row")
    if misses[-1].at_ms - misses[0].at_ms < settle_ms:
        return SearchLook("unsettled", f"no row for less than {settle_ms} ms")
    return SearchLook("no_record", f"{len(misses)} settled looks show no row")


def what_is_missing(number: str, detail: CaseDetail) -> tuple[str, ...]:
    """Why a detail is not a record of that number; empty: it is complete."""
    missing: list[str] = []
    if detail.case_number != number:
        missing.append(f"the detail is of {detail.case_number or 'no case'}")
    if not _DATE.fullmatch(detail.filing_date):
        missing.append("no filing date")
    if not detail.office:
        missing.append("no office")
    if not detail.entries:
        missing.append("no docket entry")
    if detail.unreadable_rows:
        missing.append(f"{detail.unreadable_rows} docket rows cannot be read")
    return (*missing, *_wrong_numbers(detail))


def is_complete(number: str, detail: CaseDetail) -> bool:
    return not what_is_missing(number, detail)


def _wrong_numbers(detail: CaseDetail) -> tuple[str, ...]:
    """Entries are numbered down to 1 without holes: a table that is still loading is not."""
    ids = sorted(entry.doc_id for entry in detail.entries)
    return () if ids == list(range(1, len(ids) + 1)) else ("docket entries are missing or doubled",)


def _last_misses(looks: Sequence[Observation]) -> list[Observation]:
    """The settled empty looks at the end; an unsettled or other one before them ends the series."""
    misses: list[Observation] = []
    for look in reversed(looks):
        if look.rows or not look.is_settled:
            break
        misses.insert(0, look)
    return misses

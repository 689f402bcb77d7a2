"""The report of a range, made from rows whenever it is asked for: counts that sum to it, its gaps, a picture of it.

Held are a byte per number, and where its misses are. What is beyond the end of an open range is counted apart: it is
no gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.recipe.kind import Conditions, Report
from holdfast.recipes.cases.ids import Range, case_id, case_parts, read_range
from holdfast.recipes.cases.probing import SAFE_STOP, expired, long_gaps
from holdfast.recipes.cases.statistics import statistics_of

if TYPE_CHECKING:
    from holdfast.model.job import Job
    from holdfast.model.target import TargetRow
    from holdfast.ports import Ledger

ROWS_AT_ONCE = 1_000
STRIP_CELLS = 60
GAPS_NAMED = 20
OUTCOMES = ("pending", "record", "no_record", "failed", "skipped")
PENDING, HIT, MISS, FAILED, SKIPPED = range(len(OUTCOMES))
LEGEND = "█ records   ▒ records and gaps   ░ no record   ✗ failed   · not asked yet"


@dataclass(slots=True)
class RangeNumbers:
    """A range and what became of its numbers, one byte each."""

    asked: Range
    safe_stop: int
    outcomes: bytearray
    missed: list[tuple[int, int, int]] = field(default_factory=list)  # (number, when, target) of those after a hit

    @property
    def highest(self) -> int:
        """The highest number that has a record; the one before the first where none has."""
        return self.asked.first + self.outcomes.rfind(HIT)

    @property
    def covered(self) -> Range:
        """What the counts are of: the range as asked; of an open one, up to its highest record."""
        asked = self.asked
        return Range(asked.prefix, asked.year, asked.first, self.highest) if asked.is_open else asked

    def hits(self) -> Iterator[int]:
        return (self.asked.first + at for at, outcome in enumerate(self.outcomes) if outcome == HIT)

    def above(self) -> Counter[str]:
        """Outcomes of numbers above the highest record of an open range that were asked."""
        beyond = self.outcomes[len(self.covered) :]
        return Counter({OUTCOMES[code]: beyond.count(code) for code in (MISS, FAILED, SKIPPED) if code in beyond})

    def end_is_proved(self) -> bool:
        window = self.outcomes[len(self.covered) :][: self.safe_stop]
        return all(outcome == MISS for outcome in window)


def stretches_of(ledger: Ledger, job: Job) -> list[RangeNumbers]:
    """Every range of a job, with what its rows say."""
    safe_stop = int(job.params.get("safe_stop", SAFE_STOP))
    found = [RangeNumbers(each, safe_stop, bytearray(len(each))) for each in map(read_range, job.params["ranges"])]
    by_place: dict[tuple[str, str], list[RangeNumbers]] = {}
    for each in found:
        by_place.setdefault((each.asked.prefix, each.asked.year), []).append(each)
    for row in _rows(ledger, job):
        prefix, number, year = case_parts(row.name or "")
        for stretch in by_place.get((prefix, year), ()):
            if stretch.asked.first <= int(number) <= stretch.asked.last:
                _note(stretch, int(number), row)
    return found


def case_report(ledger: Ledger, job: Job) -> Report:
    """CAS-04, for each range of the job; the document and how people read it."""
    runs = ledger.runs(job.id)
    times = {
        "run_id": f"R-{runs[-1].n}" if runs else "",
        "started_at": _stamp(runs[-1].started_at) if runs else None,
        "finished_at": _stamp(runs[-1].ended_at) if runs and runs[-1].ended_at else None,
    }
    ranges = [_document(each, times) for each in stretches_of(ledger, job)]
    document = {"kind": "cases", "job": job.uid, "name": job.name, "status": job.status, "ranges": ranges}
    return Report(document, as_markdown(document))


def as_markdown(document: dict[str, Any]) -> str:
    lines = [f"# {document['name']}", "", f"Job {document['job']}, {document['status']}.", ""]
    for each in document["ranges"]:
        lines += [f"## {each['start_id']} to {each['end_id']}", "", *told(each), ""]
    return "\n".join(lines)


def told(each: dict[str, Any]) -> list[str]:
    """A range in a few lines: the sum, the picture, and what a person should know of it."""
    names = ("success", "no_record", "failed", "skipped", "pending")
    words = ("records", "no record", "failed", "skipped", "not asked yet")
    parts = [f"{each[f'{name}_count']} {word}" for name, word in zip(names, words, strict=True)]
    many = f"   (each: {each['numbers_per_cell']} numbers)" if each["numbers_per_cell"] > 1 else ""
    lines = [f"{each['numbers']} numbers = {' + '.join(parts)}", "", each["strip"], LEGEND + many]
    if each["failed"]:
        more = "" if each["failed_count"] <= GAPS_NAMED else " …"
        lines += ["", f"failed: {', '.join(each['failed'])}{more}"]
    if each["is_open"]:
        proof = f"{each['safe_stop']} misses follow it" if each["end_proved"] else "not proved yet"
        lines += ["", f"highest number: {each['highest'] or 'none yet'} ({proof}); asked above it: {each['beyond']}"]
    if each["gaps"]:
        more = "" if each["no_record_count"] <= GAPS_NAMED else " …"
        lines += ["", f"no record: {', '.join(each['gaps'])}{more}"]
    for gap in each["long_gaps"]:
        lines += ["", f"long gap: {gap['first']} to {gap['last']}, at least as long as {each['safe_stop']} numbers"]
    return lines


def asked_again(ledger: Ledger, job: Job, now_ms: int) -> Conditions:
    """CAS-08: of a completed job, what a run for what is new asks again. Old misses above the highest record of their
    range, which were beyond the end then; and what failed. A miss below it is a gap, and final."""
    wanted: list[int] = []
    for each in stretches_of(ledger, job):
        old = set(expired(((number, at) for number, at, _ in each.missed), each.highest, now_ms))
        wanted += [target for number, _, target in each.missed if number in old]
    wanted += [row.id for row in _rows(ledger, job, (("status", True, ("failed",)),))]
    return (("id", True, tuple(f"T-{target:x}" for target in wanted) or ("T-0",)),)


def strip(outcomes: bytes, cells: int = STRIP_CELLS) -> str:
    """The range as one line. A failure is always seen; no record is nothing bad, and looks like nothing bad."""
    if not outcomes:
        return ""
    size = cell_size(len(outcomes), cells)
    return "".join(_cell(outcomes[at : at + size]) for at in range(0, len(outcomes), size))


def cell_size(numbers: int, cells: int = STRIP_CELLS) -> int:
    """How many numbers one of its cells stands for."""
    return max(1, -(-numbers // cells))


def _cell(part: bytes) -> str:
    if FAILED in part:
        return "✗"
    if PENDING in part:
        return "·" if HIT not in part and MISS not in part else "-"
    hits, misses = part.count(HIT), part.count(MISS)
    return "█" if not misses else "░" if not hits else "▒"


def _note(stretch: RangeNumbers, number: int, row: TargetRow) -> None:
    code = _outcome(row)
    stretch.outcomes[number - stretch.asked.first] = code
    if code == MISS:
        stretch.missed.append((number, row.settled_at or 0, row.id))


def _outcome(row: TargetRow) -> int:
    if row.status == "succeeded":
        return MISS if row.disposition == "no_record" else HIT
    return {"failed": FAILED, "skipped": SKIPPED, "cancelled": SKIPPED}.get(row.status, PENDING)


def _document(each: RangeNumbers, times: dict[str, Any]) -> dict[str, Any]:
    covered = each.covered
    outcomes = bytes(each.outcomes[: len(covered)])
    counts = {name: outcomes.count(code) for code, name in enumerate(OUTCOMES) if name != "pending"}
    statistics = statistics_of(covered, counts).document(**times)
    first, name = covered.first, (covered.prefix, covered.year)
    gaps, failed = (
        [first + at for at, outcome in enumerate(outcomes) if outcome == code][:GAPS_NAMED] for code in (MISS, FAILED)
    )
    return {
        **statistics,
        "numbers": len(covered),
        "is_open": each.asked.is_open,
        "safe_stop": each.safe_stop,
        "highest": case_id(name[0], each.highest, name[1]) if each.highest >= first else None,
        "end_proved": each.end_is_proved() if each.asked.is_open else None,
        "beyond": sum(each.above().values()) if each.asked.is_open else 0,
        "failed": [case_id(name[0], number, name[1]) for number in failed],
        "gaps": [case_id(name[0], number, name[1]) for number in gaps],
        "long_gaps": [
            {"first": case_id(name[0], gap.first, name[1]), "last": case_id(name[0], gap.last, name[1])}
            for gap in long_gaps(each.hits(), each.safe_stop)
        ],
        "strip": strip(outcomes),
        "numbers_per_cell": cell_size(len(outcomes)),
    }


def _rows(ledger: Ledger, job: Job, where: Conditions = ()) -> Iterator[TargetRow]:
    after = 0
    while rows := ledger.targets(job.id, where=where, after=after, limit=ROWS_AT_ONCE):
        yield from rows
        after = rows[-1].id


def _stamp(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

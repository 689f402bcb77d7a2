"""Jobs that get every case of a range, and name the gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.model.option import INPUT, Option
from holdfast.model.spelling import count_of
from holdfast.model.value_types import TEXTS
from holdfast.recipe.kind import Conditions, Kind, Report
from holdfast.recipes.cases.ids import place_of, read_range
from holdfast.recipes.cases.options import OPTIONS, given_params

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.clock import Clock
    from holdfast.model.job import Counts, Job
    from holdfast.ports import Ledger
    from holdfast.recipe import AnyRecipe

NO_RECORD = "no_record"
PICTURED_MAX = 20_000  # numbers that a summary draws; more: holdfast report


def _recipe(clock: Clock) -> AnyRecipe:
    from holdfast.recipes.cases.recipe import CasesRecipe

    return CasesRecipe(clock)


def _given(inputs: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    start, count = options.get("start"), options.get("max_cases")
    ranges = [str(read_range(each, start, count)) for each in inputs]
    source = {"source": options["source"]} if options.get("source") else {}
    return {"ranges": ranges, "url": "", **given_params(options), **source}


def _newly(ledger: Ledger, job: Job, artifacts: Path, now_ms: int) -> Conditions:
    from holdfast.recipes.cases.report import asked_again

    return asked_again(ledger, job, now_ms)


def _report(ledger: Ledger, job: Job, artifacts: Path) -> Report:
    from holdfast.recipes.cases.report import case_report

    return case_report(ledger, job)


def _audit(ledger: Ledger, job: Job, artifacts: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    from holdfast.recipes.cases.audit_files import audit_files

    return audit_files(ledger, job)


def _notes(ledger: Ledger, job: Job, counts: Counts) -> list[str]:
    """The gaps; and once nobody works the job, the range as counts that sum to it, and as a picture."""
    if job.status == "in_progress" or not 0 < counts.discovered <= PICTURED_MAX:
        return _gaps(ledger, job, counts)
    from holdfast.recipes.cases.report import case_report

    ranges = case_report(ledger, job).document["ranges"]
    lines = _gaps(ledger, job, counts, sum(each["no_record_count"] for each in ranges))
    for each in ranges:
        lines += [f"{each['start_id']} to {each['end_id']}: {each['numbers']} numbers", each["strip"]]
    return lines


def _gaps(ledger: Ledger, job: Job, counts: Counts, within: int | None = None) -> list[str]:
    """From counters: how many numbers provably have no record. `within`: how many of them are in the range; beyond the
    end of an open one there is no gap. None: it was not looked up."""
    if not counts.succeeded:
        return []
    misses = sum(n for group, _, n in ledger.breakdown(job.id, "disposition") if group == NO_RECORD)
    if not misses:
        return ["gaps: none so far" if job.status == "in_progress" else "gaps: none"]
    is_open = any(read_range(each).is_open for each in job.params["ranges"])
    gaps = misses if within is None or not is_open else within
    beyond = ""
    if gaps < misses:
        beyond = f"; {misses - gaps} more {'was' if misses - gaps == 1 else 'were'} asked beyond the end"
    elif is_open and within is None:
        beyond = ", those asked beyond the end included"
    return [
        f"gaps: {count_of(gaps, 'number')} {'has' if gaps == 1 else 'have'} no record{beyond}        "
        f"see: holdfast targets {job.word} --where 'disposition:{NO_RECORD}'"
    ]


KIND = Kind(
    name="cases",
    recipe=_recipe,
    command="cases",
    inputs="ranges",
    input_keys=(Option("range", TEXTS, "the cases: `IMM-1-25..IMM-5000-25`", part=INPUT),),
    options=OPTIONS,
    sourced="url",
    given=_given,
    place=place_of,
    exported="case",
    modes=("full", "new"),
    newly=_newly,
    notes=_notes,
    report=_report,
    audit=_audit,
)

"""Jobs that get the documents a list names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadParams
from holdfast.model.option import INPUT, Option
from holdfast.model.value_types import TEXT
from holdfast.recipe.kind import Conditions, Kind, Report
from holdfast.recipes.documents.options import FAILED, OPTIONS
from holdfast.recipes.documents.record import FIELDS, document_object

if TYPE_CHECKING:
    from pathlib import Path

    from holdfast.clock import Clock
    from holdfast.model.job import Job
    from holdfast.model.target import TargetRow
    from holdfast.ports import Ledger, Views
    from holdfast.recipe import AnyRecipe


def _recipe(clock: Clock) -> AnyRecipe:
    from holdfast.recipes.documents.recipe import DocumentsRecipe

    return DocumentsRecipe(clock)


def _given(inputs: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    if len(inputs) != 1:
        raise BadParams("docs needs one list: a CSV file or its URL", hint="list.csv")
    return {**options, "list": inputs[0]}


def _newly(ledger: Ledger, job: Job, artifacts: Path, now_ms: int) -> Conditions:
    from holdfast.recipes.documents.superseded import asked_again

    return asked_again(ledger, job, artifacts)


def _others_of(ledger: Views, job: Job, row: TargetRow) -> list[TargetRow]:
    from holdfast.recipes.documents.superseded import others_of

    return others_of(ledger, job, row)


def _report(ledger: Ledger, job: Job, artifacts: Path) -> Report:
    from holdfast.recipes.documents.report import as_markdown, documents_report

    document = documents_report(ledger, job, artifacts)
    return Report(document, as_markdown(document))


def _needs(ledger: Ledger, job: Job) -> int:
    from holdfast.recipes.documents.reports import SIZES_LOOKED_AT, bytes_still_needed

    job, counts, _ = ledger.books(job.id)
    to_come = counts.pending + counts.in_progress + max(job.params["planned"] - counts.discovered, 0)
    if job.options.max_pages is not None:
        to_come = min(to_come, max(job.options.max_pages - counts.succeeded - counts.failed, 0))
    held = ledger.artifacts(job.id, limit=SIZES_LOOKED_AT) if to_come else []
    return bytes_still_needed(to_come, len(held), sum(file.size for file in held))


def _audit(ledger: Ledger, job: Job, artifacts: Path) -> Iterator[tuple[str, Iterator[bytes]]]:
    from holdfast.recipes.documents.audit_files import audit_files
    from holdfast.recipes.documents.report import documents_report

    return audit_files(ledger, job, documents_report(ledger, job, artifacts))


KIND = Kind(
    name="documents",
    recipe=_recipe,
    command="docs",
    noun="document",
    inputs="list",
    input_keys=(Option("list", TEXT, "the list of documents, a file or a URL", part=INPUT),),
    options=OPTIONS,
    given=_given,
    has_list=True,
    claims_ahead=8,  # a commit waits for its files: meanwhile others come in, and the next one serves more of them
    modes=("full", "new"),
    again=FAILED,  # what is held stays as it is; --refetch gets it again
    newly=_newly,
    others_of=_others_of,
    result=document_object,
    columns=FIELDS,
    streams=("jsonl", "csv"),
    forms={"md": "files"},
    report=_report,
    audit=_audit,
    needs=_needs,
)

"""Results of a job, read one by one, or written in one of the forms of forms.py."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from holdfast.engine.duplicates import Content
from holdfast.model.job import Job
from holdfast.model.target import PageRow
from holdfast.policy.filters import Condition
from holdfast.ports import Ledger, Storage
from holdfast.recipe.kind import Kind
from holdfast.views.exports.folder_owner import note_folder, refuse_folder_of_another
from holdfast.views.exports.form import Asked
from holdfast.views.exports.forms import FORMS
from holdfast.views.results import EVERYTHING, Fields, Results

Tell = Callable[[str], object]


class Export(Protocol):
    """Write results in a form: all of them, or those that are handed in one by one."""

    def __call__(self, form: str, out: Callable[[bytes], object], rows: Iterable[PageRow] | None = None) -> int: ...


@contextmanager
def exporter(
    storage: Storage,
    ledger: Ledger,
    job: Job,
    *,
    where: Sequence[Condition] = (),
    fields: Fields | None = None,
    distinct: bool = False,
    distinct_text: bool = False,
    dated_ms: int | None = None,
    apart: bool = False,
    tell: Tell = warnings.warn,
) -> Iterator[Export]:
    """Writes the results of a job, and answers how many; wrong options raise here."""

    def write(form: str, out: Callable[[bytes], object], rows: Iterable[PageRow] | None = None) -> int:
        written: int = _module(form, results.kind).write(Asked(results, storage, dated_ms, ledger=ledger), out, rows)
        return written

    with results_of(
        storage,
        ledger,
        job,
        where=where,
        fields=fields,
        distinct=distinct,
        distinct_text=distinct_text,
        dated_ms=dated_ms,
        apart=apart,
        tell=tell,
    ) as results:
        yield write


@contextmanager
def results_of(
    storage: Storage,
    ledger: Ledger,
    job: Job,
    *,
    where: Sequence[Condition] = (),
    fields: Fields | None = None,
    distinct: bool = False,
    distinct_text: bool = False,
    dated_ms: int | None = None,
    apart: bool = False,
    tell: Tell = warnings.warn,
) -> Iterator[Results]:
    """The results of a job, to be read one by one. What could not be read of them is told at the end.

    `dated_ms`: every result says this for when it was fetched, and they come in the order of their URLs, so that equal
    answers give equal files. `apart`: a crawl works beside it, so pages are derived by one process only.
    """
    from holdfast.recipes.site.derive_pool import DerivePool

    def sorted_outside(rows: Iterable[Content], key: Callable[[Content], Any]) -> Iterator[Content]:
        return storage.in_order(rows, kind=tuple[bytes, int, str], key=key)

    def rows_sorted_outside(rows: Iterable[PageRow], key: Callable[[PageRow], Any]) -> Iterator[PageRow]:
        return storage.in_order(rows, kind=PageRow, key=key)

    blobs, deriver = storage.bodies(job.uid), DerivePool(1 if apart else 0)
    try:
        results = Results(
            ledger,
            blobs,
            job,
            deriver,
            where,
            fields or EVERYTHING,
            distinct=distinct,
            distinct_text=distinct_text,
            dated_ms=dated_ms,
            in_order=sorted_outside,
            rows_in_order=rows_sorted_outside,
        )
        yield results.check()
        if told := results.told_unread():
            tell(told)
    finally:
        deriver.close()
        blobs.close()


def export_folder(
    storage: Storage,
    ledger: Ledger,
    job: Job,
    path: Path,
    form: str = "md",
    *,
    where: Sequence[Condition] = (),
    fields: Fields | None = None,
    distinct: bool = False,
    distinct_text: bool = False,
    dated_ms: int | None = None,
    shard: int | None = None,
    split: str = "",
    tell: Tell = warnings.warn,
) -> int:
    """Bring a folder up to date with the results of a job, in a form that is a folder; how many files there are."""
    refuse_folder_of_another(storage, job.name, job.uid, path)
    with results_of(
        storage,
        ledger,
        job,
        where=where,
        fields=fields,
        distinct=distinct,
        distinct_text=distinct_text,
        dated_ms=dated_ms,
        tell=tell,
    ) as results:
        asked = Asked(results, storage, dated_ms, shard, split, ledger)
        written: int = _module(form, results.kind).write_into(asked, path)
    note_folder(storage, job, path)
    return written


def check_early(form: str, kind: Kind, path: Path | None, storage: Storage) -> None:
    """Raise now what writing a job of this kind there would raise at its end. `path` is None for stdout."""
    check = getattr(_module(form, kind), "check_early", None)
    if check is not None:
        check(kind, path)
    check_folder = getattr(_module(form, kind), "check_folder", None)
    if check_folder is not None and path is not None and FORMS[form].is_folder:
        check_folder(storage, path)


def names_beside(form: str, kind: Kind) -> tuple[str, ...]:
    """The files that an export into a folder writes beside the results, whatever these are."""
    names = getattr(_module(form, kind), "names_beside", None)
    return () if names is None else tuple(names(kind))


def _module(form: str, kind: Kind) -> ModuleType:
    """The module that writes this form: that of the kind, where it has its own."""
    return import_module(f"holdfast.views.exports.{kind.forms.get(form, FORMS[form].module)}")

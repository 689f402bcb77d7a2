"""Exports: the results of a job as one file, derived from the ledger alone. The same content gives the same bytes.

Lines are in discovery order, a WARC file is in the order of its URLs; what is committed when its turn comes is in it.
Memory does not grow with the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

import msgspec

from holdfast.errors import BadParams
from holdfast.model.target import PageRow
from holdfast.ports import Ledger, Storage
from holdfast.views.results import Results

R = TypeVar("R")
Write = Callable[[bytes], object]


class Asked(msgspec.Struct, frozen=True):
    """What a form is to write. `dated_ms`: the date that every page says, else that of its fetch."""

    results: Results
    storage: Storage
    dated_ms: int | None = None
    shard: int | None = None  # images in one file, where a form has many
    split: str = ""  # parts of a set, such as 80/10/10
    ledger: Ledger | None = None


def in_groups(rows: Iterable[R], size: int) -> Iterator[list[R]]:
    """So many at once, and at the end what is left."""
    every = iter(rows)
    while group := list(islice(every, size)):
        yield group


def refuse_stream(title: str, rows: Iterable[PageRow] | None) -> None:
    """Some forms need all results: they are not written while results come."""
    if rows is not None:
        raise BadParams(f"{title} is written when all results are there: not while they come one by one")


def refuse_without_pages(results: Results, written: int) -> None:
    """An archive of pages with none in it is not what anybody meant by the results of a job of files."""
    if not written and next(iter(results.rows()), None) is not None:
        raise BadParams(
            f"the results of {results.job.name} have no stored pages, which an archive is made of",
            hint="-o FOLDER/ or -o FILE.zip has their files",
        )

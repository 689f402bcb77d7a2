"""Results with the same bytes as an earlier result, each with that earlier one. Sorted on disk; memory stays flat."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any

from holdfast.model.target import PageRow

DUPLICATE = "duplicate_of"
Content = tuple[bytes, int, str]  # sha256, target, URL
InOrder = Callable[[Iterable[Content], Callable[[Content], Any]], Iterator[Content]]


def copies(rows: Iterable[PageRow], in_order: InOrder) -> Iterator[Content]:
    """By target: those whose content an earlier one has, with the URL of the first. A target of several records is one
    result here, and one without a body has no content."""
    contents = ((row.sha256, row.target, row.url) for row in rows if row.sha256 and row.n == 0)
    return in_order(_named_by_first(in_order(contents, itemgetter(0, 1))), itemgetter(1))


def _named_by_first(contents: Iterable[Content]) -> Iterator[Content]:
    before, first = b"", ""
    for digest, target, url in contents:
        if digest == before:
            yield digest, target, first
        else:
            before, first = digest, url

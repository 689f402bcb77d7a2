"""Rows of a list as entries, each one document with its identity; list_file.py reads them.

Identity never comes from a row's place or title. It is the normalised token where a site client asks for the file, the
`id` column (else the URL) where the row names its file, and type plus reference in a public register.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from holdfast.model.keys import canonical
from holdfast.recipes.documents.columns import normal_name
from holdfast.recipes.documents.dates import read_date
from holdfast.recipes.documents.table import ListRefused, TableRow
from holdfast.recipes.documents.tokens import Token, normalise, tokens_in

META = ("title", "cause_number", "court", "category", "subject", "citation", "judgment_date")  # what may change
NO_LINK, NOT_HTTP, NO_DOCUMENT = "no link", "a link that is not http(s)", "no document named"
_CRIMINAL = re.compile("crim", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One document that a list names. `token` is asked of a site client, `url` is fetched as it is; one of them is
    "".
    """

    key: str
    line: int
    token: str = ""
    url: str = ""
    title: str = ""
    cause_number: str = ""
    court: str = ""
    category: str = ""
    subject: str = ""
    citation: str = ""
    judgment_date: str = ""  # YYYY-MM-DD; "" where it cannot be read
    judgment_date_raw: str = ""
    is_criminal: bool = False
    row: Mapping[str, str] = field(default_factory=dict, compare=False)  # every cell, by the list's own names


def is_criminal(category: str) -> bool:
    """DOC-09: by the category alone."""
    return _CRIMINAL.search(category) is not None


class Naming(msgspec.Struct, frozen=True):
    """How rows of this list name their documents."""

    columns: Mapping[str, str]
    direct: bool
    base_url: str

    def check(self, header: Sequence[str]) -> None:
        if not {"token", "url", "id", "register_type"} & set(self.columns):
            raise ListRefused(f"no column of the list has addresses of files: {', '.join(header)}")

    def documents(self, row: TableRow) -> Iterator[tuple[str, str, str]]:
        """(key, token, url) of each document of a row."""
        if self.direct and "url" in self.columns:
            yield from self._by_url(row)
        elif self.direct and "register_type" in self.columns:
            yield from self._by_register(row)
        else:
            cell = _cell(row, self.columns, "id" if self.direct else "token")
            yield from ((token.norm, token.raw, "") for token in tokens_in(cell))

    def why_none(self, row: TableRow) -> str:
        """Of a row that names no document."""
        if self.direct and "url" in self.columns:
            return NOT_HTTP if _cell(row, self.columns, "url") else NO_LINK
        return NO_DOCUMENT

    def _by_url(self, row: TableRow) -> Iterator[tuple[str, str, str]]:
        written = _cell(row, self.columns, "url")
        address = canonical(written, self.base_url or None) if written else None
        if address is not None:
            yield _cell(row, self.columns, "id") or address.url, "", address.url

    def _by_register(self, row: TableRow) -> Iterator[tuple[str, str, str]]:
        kind = _cell(row, self.columns, "register_type")
        who = _cell(row, self.columns, "reference") or _cell(row, self.columns, "title")
        key = Token(f"{kind} {who}", normalise(f"{kind}{who}"))
        if normalise(kind) and normalise(who):
            yield key.norm, key.norm, ""


def entry_of(
    row: TableRow, columns: Mapping[str, str], named: tuple[str, str, str], criminal: Callable[[str], bool]
) -> Entry:
    texts = {name: _cell(row, columns, name) for name in META}
    key, token, url = named
    raw_date = texts.pop("judgment_date")
    return Entry(
        key=key,
        line=row.line,
        token=token,
        url=url,
        judgment_date=read_date(raw_date) or "",
        judgment_date_raw=raw_date,
        is_criminal=criminal(texts["category"]),
        row=row.cells,
        **texts,
    )


def _cell(row: TableRow, columns: Mapping[str, str], name: str) -> str:
    return " ".join(row.cells.get(columns.get(name, ""), "").replace("\u00a0", " ").split())


def cells_by_name(row: TableRow, columns: Mapping[str, str]) -> dict[str, str]:
    cells = {normal_name(name): cell for name, cell in row.cells.items()}
    return cells | {normal_name(name): row.cells[column] for name, column in columns.items()}

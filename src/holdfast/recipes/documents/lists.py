"""A list as entries, each one document with its identity; what is not an entry is set aside with its line and reason.

Identity never comes from a row's place or title. It is the normalised token where a site client asks for the file, the
`id` column (else the URL) where the row names its file, and type plus reference in a public register.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from holdfast.model.keys import canonical
from holdfast.recipes.documents.columns import match_columns, normal_name
from holdfast.recipes.documents.dates import read_date
from holdfast.recipes.documents.skipping import Condition, check_filter, is_skipped
from holdfast.recipes.documents.table import ListRefused, Table, TableRow, read_table
from holdfast.recipes.documents.tokens import Token, normalise, tokens_in

INVALID_TOKEN, REPEATED, FILTERED = "invalid_token", "in_run_dup", "worklist_filtered"  # ERR-02
META = ("title", "cause_number", "court", "category", "subject", "citation", "judgment_date")  # what may change
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


class SetAside(msgspec.Struct, frozen=True):
    """A row, or one token of it, that is not an entry. `reason` is a skip reason of ERR-02."""

    line: int
    reason: str
    detail: str


class DocumentList(msgspec.Struct, frozen=True):
    entries: tuple[Entry, ...]
    set_aside: tuple[SetAside, ...]
    undated: tuple[Entry, ...]  # entries whose date is there and cannot be read (DOC-08)
    columns: Mapping[str, str]  # field -> the list's own name
    table: Table

    @property
    def row_count(self) -> int:
        return len(self.table.rows)


def is_criminal(category: str) -> bool:
    """DOC-09: by the category alone."""
    return _CRIMINAL.search(category) is not None


def read_list(
    body: bytes,
    *,
    columns: Mapping[str, str] | None = None,
    skip_where: Sequence[Condition] = (),
    base_url: str = "",
    criminal: Callable[[str], bool] = is_criminal,
) -> DocumentList:
    """Every entry of a list in its order. ListRefused: no list, or no column that says which document a row means.

    `columns` is what `read_columns` gives, `skip_where` what `read_filter` gives; either may raise BadParams here
    when it names a column that the list has not. Relative URLs are taken from `base_url`.
    """
    table = read_table(body)
    matched = match_columns(table.header, columns)
    named = Naming(matched, direct="url" in (columns or {}) or "token" not in matched, base_url=base_url)
    named.check(table)
    check_filter(skip_where, [*table.header, *matched])
    entries: dict[str, Entry] = {}
    aside: list[SetAside] = []
    for row in table.rows:
        if skip_where and is_skipped(cells_by_name(row, matched), skip_where):
            aside.append(SetAside(row.line, FILTERED, _cell(row, matched, "title")))
            continue
        found = tuple(named.documents(row))
        if not found:
            aside.append(SetAside(row.line, INVALID_TOKEN, named.cell(row)))
        for key, token, url in found:
            if key in entries:
                aside.append(SetAside(row.line, REPEATED, key))
            else:
                entries[key] = entry_of(row, matched, (key, token, url), criminal)
    undated = tuple(entry for entry in entries.values() if entry.judgment_date_raw and not entry.judgment_date)
    return DocumentList(tuple(entries.values()), tuple(aside), undated, matched, table)


class Naming(msgspec.Struct, frozen=True):
    """How rows of this list name their documents."""

    columns: Mapping[str, str]
    direct: bool
    base_url: str

    def check(self, table: Table) -> None:
        if not table.rows:
            raise ListRefused("the list has a header and no rows")
        if not {"token", "url", "id", "register_type"} & set(self.columns):
            raise ListRefused(f"no column of the list has addresses of files: {', '.join(table.header)}")

    def cell(self, row: TableRow) -> str:
        """What stands where the document should be named."""
        fields = ("url", "id") if self.direct else ("token",)
        return next((_cell(row, self.columns, name) for name in fields if name in self.columns), "")

    def documents(self, row: TableRow) -> Iterator[tuple[str, str, str]]:
        """(key, token, url) of each document of a row."""
        if self.direct and "url" in self.columns:
            yield from self._by_url(row)
        elif self.direct and "register_type" in self.columns:
            yield from self._by_register(row)
        else:
            cell = _cell(row, self.columns, "id" if self.direct else "token")
            yield from ((token.norm, token.raw, "") for token in tokens_in(cell))

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

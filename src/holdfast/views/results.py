"""Results as people take them away: one object per record, with the fields they asked for. Reads, never settles."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from difflib import get_close_matches
from operator import attrgetter
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast.clock import iso
from holdfast.engine.duplicates import DUPLICATE, Content, InOrder, copies
from holdfast.engine.near_duplicates import NEAR_DUPLICATE, near_copies, simhash
from holdfast.errors import BadParams, Corrupt, NotFound
from holdfast.model.derived import DERIVED_FIELDS, TEXT, Derived, Deriver
from holdfast.model.job import Job
from holdfast.model.outcome import body_of
from holdfast.model.target import PageRow
from holdfast.policy.filters import Condition
from holdfast.policy.marks import REJECTED
from holdfast.ports import Blobs, Views
from holdfast.recipe.kind import Kind
from holdfast.recipe.results import ENVELOPE
from holdfast.recipes.catalogue import kind_of
from holdfast.views.ordering import as_planned

ROWS_AT_ONCE = 500
AHEAD = 12  # pages that are derived while earlier ones are written


FETCHED_AT = "fetched_at"
PATH, ARTIFACTS = "path", "artifacts/"  # of a file of their own, from the data folder on
ON_REQUEST = ("key", DUPLICATE, NEAR_DUPLICATE)


WITHOUT_TEXT = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/octet-stream")


GOING = ("pending", "in_progress")
RowsInOrder = Callable[[Iterable[PageRow], Callable[[PageRow], Any]], Iterator[PageRow]]


class Fields(msgspec.Struct, frozen=True):
    """`only` is None for the usual fields; `plus` comes behind them."""

    only: tuple[str, ...] | None = None
    plus: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (*(self.only or ()), *self.plus)


EVERYTHING = Fields()


def parse_fields(text: str) -> Fields:
    """`url,title` names all, `+text` adds one to the usual."""
    names = [name.strip() for name in text.split(",")]
    if any(name in ("", "+") for name in names):
        raise BadParams(f"--fields {text!r} has an empty name", hint="--fields url,title or --fields +text")
    only = tuple(name for name in names if not name.startswith("+"))
    plus = tuple(name[1:] for name in names if name.startswith("+"))
    return Fields(only or None, plus)


def results_only(kind: Kind, where: Sequence[Condition]) -> Sequence[Condition]:
    """The filter; where a number of results is collected, without those that a person threw out."""
    if not kind.goes_on or any(column == "label" for column, _, _ in where):
        return where
    return (*where, ("label", False, (REJECTED,)))


class Results(msgspec.Struct, frozen=True):
    """A job's results, filtered and shaped. What is committed when its turn comes is read, a bounded number at once."""

    views: Views
    blobs: Blobs
    job: Job
    deriver: Deriver
    where: Sequence[Condition] = ()
    fields: Fields = EVERYTHING
    distinct: bool = False  # of results with the same content only the first in discovery order
    distinct_text: bool = False  # likewise of nearly the same text
    dated_ms: int | None = None  # what every result says for when it was fetched; they come in the order of their URLs
    beside_files: bool = False  # the files lie beside them, as in the data folder below `artifacts/`
    in_order: InOrder = lambda rows, key: iter(sorted(rows, key=key))  # outside memory, where there may be many
    rows_in_order: RowsInOrder = lambda rows, key: iter(sorted(rows, key=key))
    unread: Counter[str] = msgspec.field(
        default_factory=Counter
    )  # pages whose stored bytes are missing or damaged, by reason
    flagged: Counter[str] = msgspec.field(default_factory=Counter)  # pages of which less could be derived, by flag

    def check(self) -> Results:
        """Itself; BadParams where a field is named that no page has, or no record that is there.

        Fields of records that are still to come are not known: what is named then is taken as it is.
        """
        columns = self.kind.columns
        if columns is not None or self.job.status not in GOING:
            known = self._named_by_records() if columns is None else (*columns, *self.kind.on_request, *ON_REQUEST)
            for name in self.fields.names:
                if name not in known:
                    near = get_close_matches(name, known, n=1)
                    guess = f"; did you mean {near[0]}?" if near else ""
                    raise BadParams(
                        f"a {self.kind.noun} has no field {name!r}{guess}", hint=f"fields: {' '.join(known)}"
                    )
        return self

    @property
    def by_url(self) -> bool:
        """Whether they come in the order of their URLs, not of discovery."""
        return self.dated_ms is not None

    @property
    def kind(self) -> Kind:
        return kind_of(self.job)

    def _named_by_records(self) -> dict[str, None]:
        """The fields of the records that there are, as far as it needs reading to find those that were asked for."""
        found: dict[str, None] = dict.fromkeys((*ENVELOPE, *DERIVED_FIELDS, DUPLICATE, NEAR_DUPLICATE))
        wanted = set(self.fields.names)
        for row in self._by_discovery() if wanted else ():
            found |= dict.fromkeys(self.kind.result(row))
            if wanted <= found.keys():
                break
        return found

    def rows(self) -> Iterator[PageRow]:
        """Every result, in discovery order, in that of its kind, or by URL."""
        rows = self._marked() if self.distinct or DUPLICATE in self.fields.names else self._by_discovery()
        if self.distinct_text or NEAR_DUPLICATE in self.fields.names:
            rows = self._near_marked(rows)
        if self.by_url:
            return self.rows_in_order(rows, attrgetter("url", "n"))
        return as_planned(rows, self.kind)

    def _by_discovery(self) -> Iterator[PageRow]:
        after = (0, -1)
        where = results_only(self.kind, self.where)
        while rows := self.views.results(self.job.id, where=where, after=after, limit=ROWS_AT_ONCE):
            yield from self.exported(rows)
            after = rows[-1].target, rows[-1].n

    def exported(self, rows: Iterable[PageRow]) -> Iterator[PageRow]:
        """Those that are results of the kind: what later phases made of them is none."""
        wanted = self.kind.exported
        return (row for row in rows if row.kind == wanted) if wanted else iter(rows)

    def refuse_duplicates(self) -> None:
        """Which result is a duplicate is known when all are there: those that come one by one cannot tell."""
        if self.distinct or self.distinct_text or {DUPLICATE, NEAR_DUPLICATE} & set(self.fields.names):
            raise BadParams("duplicates are known when all results are there: not while they come one by one")

    def _marked(self) -> Iterator[PageRow]:
        """Those with the content of an earlier one say so, or are left out. Both passes are in the order of targets."""
        known = copies(self._by_discovery(), self.in_order)
        copy = next(known, None)
        for row in self._by_discovery():
            while copy is not None and copy[1] < row.target:
                copy = next(known, None)
            if copy is None or copy[1] != row.target:
                yield row
            elif not self.distinct:
                yield replace(row, duplicate_of=copy[2])

    def _near_marked(self, rows: Iterator[PageRow]) -> Iterator[PageRow]:
        """The same of those with nearly the text of an earlier one. Texts are derived once for it."""
        known = near_copies(self._text_hashes(), self.in_order)
        copy = next(known, None)
        for row in rows:
            while copy is not None and copy[1] < row.target:
                copy = next(known, None)
            if copy is None or copy[1] != row.target:
                yield row
            elif not self.distinct_text:
                yield replace(row, near_duplicate_of=copy[2])

    def _text_hashes(self) -> Iterator[Content]:
        texts = replace(self, fields=Fields(("url", TEXT)), distinct=False, distinct_text=False, dated_ms=None)
        for row, shaped in texts.with_objects():
            if row.n == 0:
                yield simhash(shaped[TEXT] or ""), row.target, row.url

    def objects(self, rows: Iterable[PageRow] | None = None) -> Iterator[dict[str, Any]]:
        """The objects that are exported: of all results, unless they are handed in one by one. Of all of them, some are
        derived ahead; one that is handed in is not kept waiting for the next."""
        for _, shaped in self.with_objects(rows):
            yield shaped

    def with_objects(self, rows: Iterable[PageRow] | None = None) -> Iterator[tuple[PageRow, dict[str, Any]]]:
        begun: deque[tuple[PageRow, Future[Derived] | None]] = deque()
        for row in self.rows() if rows is None else self.exported(rows):
            begun.append((row, self._begun(row)))
            if len(begun) > (AHEAD if rows is None else 0):
                yield begun[0][0], self._shaped(*begun.popleft())
        while begun:
            yield begun[0][0], self._shaped(*begun.popleft())

    def shaped(self, row: PageRow) -> dict[str, Any]:
        """The object that is exported."""
        return self._shaped(row, self._begun(row))

    def _shaped(self, row: PageRow, begun: Future[Derived] | None) -> dict[str, Any]:
        kind, names = self.kind, self.fields.names
        whole = kind.result(row)
        if self.dated_ms is not None and FETCHED_AT in whole:
            whole[FETCHED_AT] = iso(self.dated_ms)
        if self.beside_files and isinstance(path := whole.get(PATH), str):
            whole[PATH] = path.removeprefix(ARTIFACTS)
        if "key" in names:
            whole.setdefault("key", row.name or row.key.hex())
        for name, read in kind.on_request.items():
            if name in names:
                whole.setdefault(name, read(row))
        if DUPLICATE in names:
            whole.setdefault(DUPLICATE, row.duplicate_of)
        if NEAR_DUPLICATE in names:
            whole.setdefault(NEAR_DUPLICATE, row.near_duplicate_of)
        wanted_here = self._derived_fields()
        if wanted_here:
            derived = begun.result() if begun is not None else Derived()
            self.flagged.update(derived.flags)
            for name in wanted_here:
                if whole.get(name) is None:  # records may have fields of these names
                    whole[name] = getattr(derived, name)
        wanted = names if self.fields.only is not None else (*whole, *names)
        return {name: whole.get(name) for name in wanted}

    def _derived_fields(self) -> tuple[str, ...]:
        """Which of the fields that cost reading a page are wanted."""
        usual = (self.kind.columns or ()) if self.fields.only is None else ()
        return tuple(name for name in DERIVED_FIELDS if name in usual or name in self.fields.names)

    @property
    def has_known_fields(self) -> bool:
        """Whether the fields are known before the results are."""
        return self.fields.only is not None or self.kind.columns is not None

    def columns(self) -> tuple[str, ...]:
        """The names of all fields, as a table needs them before its first line."""
        if self.fields.only is not None:
            return tuple(dict.fromkeys(self.fields.names))
        if self.kind.columns is not None:
            return tuple(dict.fromkeys((*self.kind.columns, *self.fields.plus)))
        found = dict.fromkeys(ENVELOPE)
        for row in self.rows():
            found |= dict.fromkeys(self.kind.result(row))
        return tuple(dict.fromkeys((*found, *self.fields.plus)))

    def _begun(self, row: PageRow) -> Future[Derived] | None:
        """Derivation begins. A page whose bytes are lost is exported without it, and counted."""
        body = body_of(row) if self._derived_fields() else None
        content_type = self._content_type(row) if body is not None else ""
        if body is None or content_type.lower().startswith(WITHOUT_TEXT):
            return None
        try:
            return self.deriver.submit(self.blobs.read(body), row.url, content_type)
        except NotFound:
            self.unread["missing"] += 1
        except Corrupt:
            self.unread["damaged"] += 1
        return None

    def _content_type(self, row: PageRow) -> str:
        """As the answer had it, charset included, where the record says."""
        return self.kind.result(row).get("content_type") or row.media

    def told_unread(self) -> str:
        """What is missing from what was written, in a sentence; empty where nothing is."""
        if not self.unread:
            return self._told_flagged()
        pages = self.unread.total()
        parts = " or ".join(f"{why} ({n})" for why, n in sorted(self.unread.items()))
        noun = "page, whose" if pages == 1 else "pages, whose"
        which = f"holdfast verify {self.job.word} --deep"
        return f"text is null for {pages} {noun} stored bytes are {parts}. Which: {which}"

    def _told_flagged(self) -> str:
        parts = ", ".join(f"{flag} ({n})" for flag, n in sorted(self.flagged.items()))
        return f"not all pages could be derived whole; their field `flags` says which: {parts}" if parts else ""

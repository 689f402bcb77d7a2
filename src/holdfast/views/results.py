"""Results as people take them away: one object per record, with the fields they asked for. Reads, never settles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import msgspec

from holdfast.engine.duplicates import DUPLICATE, InOrder, copies
from holdfast.errors import BadParams, Corrupt, NotFound
from holdfast.model.job import Job
from holdfast.model.outcome import body_of
from holdfast.model.page import PAGE_FIELDS, TEXT, page_object
from holdfast.model.target import PageRow
from holdfast.policy.filters import Condition
from holdfast.ports import Blobs, Views
from holdfast.recipe.kind import CASES, SITE
from holdfast.views.ordering import by_number

ROWS_AT_ONCE = 500


ENVELOPE = ("url", "key", "target", "run", "kind")  # what every record has besides its own fields


ON_REQUEST = ("key", DUPLICATE)


WITHOUT_TEXT = ("image/", "audio/", "video/", "font/", "application/pdf", "application/zip", "application/octet-stream")


GOING = ("pending", "in_progress")


ReadText = Callable[[bytes, str], str | None]


@dataclass(frozen=True, slots=True)
class Fields:
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


@dataclass(frozen=True, slots=True)
class Results:
    """A job's results, filtered and shaped. What is committed when its turn comes is read, a bounded number at once."""

    views: Views
    blobs: Blobs
    job: Job
    read_text: ReadText
    where: Sequence[Condition] = ()
    fields: Fields = EVERYTHING
    distinct: bool = False  # of results with the same content only the first in discovery order
    in_order: InOrder = lambda rows, key: iter(sorted(rows, key=key))  # outside memory, where there may be many
    unread: Counter[str] = field(default_factory=Counter)  # pages whose stored bytes are missing or damaged, by reason

    def check(self) -> Results:
        """Itself; BadParams where a field is named that no page has, or no record that is there.

        Fields of records that are still to come are not known: what is named then is taken as it is.
        """
        is_site = self.job.recipe == SITE
        if is_site or self.job.status not in GOING:
            known = (*PAGE_FIELDS, *ON_REQUEST) if is_site else self._named_by_records()
            for name in self.fields.names:
                if name not in known:
                    near = get_close_matches(name, known, n=1)
                    guess = f"; did you mean {near[0]}?" if near else ""
                    noun = "page" if is_site else "record"
                    raise BadParams(f"a {noun} has no field {name!r}{guess}", hint=f"fields: {' '.join(known)}")
        return self

    def _named_by_records(self) -> dict[str, None]:
        """The fields of the records that there are, as far as it needs reading to find those that were asked for."""
        found: dict[str, None] = dict.fromkeys((*ENVELOPE, TEXT, DUPLICATE))
        wanted = set(self.fields.names)
        for row in self._by_discovery() if wanted else ():
            found |= dict.fromkeys(record_object(row))
            if wanted <= found.keys():
                break
        return found

    def rows(self) -> Iterator[PageRow]:
        """Every result, in discovery order; cases by their numbers."""
        rows = self._marked() if self.distinct or DUPLICATE in self.fields.names else self._by_discovery()
        return by_number(rows, lambda row: row.name) if self.job.recipe == CASES else rows

    def _by_discovery(self) -> Iterator[PageRow]:
        after = (0, -1)
        while rows := self.views.results(self.job.id, where=self.where, after=after, limit=ROWS_AT_ONCE):
            yield from rows
            after = rows[-1].target, rows[-1].n

    def refuse_duplicates(self) -> None:
        """Which result is a duplicate is known when all are there: those that come one by one cannot tell."""
        if self.distinct or DUPLICATE in self.fields.names:
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

    def shaped(self, row: PageRow) -> dict[str, Any]:
        """The object that is exported."""
        whole = page_object(row) if self.job.recipe == SITE else record_object(row)
        names = self.fields.names
        if "key" in names and self.job.recipe == SITE:
            whole["key"] = row.key.hex()
        if DUPLICATE in names:
            whole.setdefault(DUPLICATE, row.duplicate_of)
        if TEXT not in whole and (TEXT in names or (self.fields.only is None and self.job.recipe == SITE)):
            whole[TEXT] = self._text(row, whole.get("content_type") or row.media)
        wanted = names if self.fields.only is not None else (*whole, *names)
        return {name: whole.get(name) for name in wanted}

    @property
    def has_known_fields(self) -> bool:
        """Whether the fields are known before the results are."""
        return self.fields.only is not None or self.job.recipe == SITE

    def columns(self) -> tuple[str, ...]:
        """The names of all fields, as a table needs them before its first line."""
        if self.fields.only is not None:
            return tuple(dict.fromkeys(self.fields.names))
        if self.job.recipe == SITE:
            return tuple(dict.fromkeys((*PAGE_FIELDS, *self.fields.plus)))
        found = dict.fromkeys(ENVELOPE)
        for row in self.rows():
            found |= dict.fromkeys(record_object(row))
        return tuple(dict.fromkeys((*found, *self.fields.plus)))

    def _text(self, row: PageRow, content_type: str) -> str | None:
        """The visible text. A page whose bytes are lost is exported without it, and counted."""
        body = body_of(row)
        if body is None or content_type.lower().startswith(WITHOUT_TEXT):
            return None
        try:
            return self.read_text(self.blobs.read(body), content_type)
        except NotFound:
            self.unread["missing"] += 1
        except Corrupt:
            self.unread["damaged"] += 1
        return None

    def told_unread(self) -> str:
        """What is missing from what was written, in a sentence; empty where nothing is."""
        if not self.unread:
            return ""
        pages = self.unread.total()
        parts = " or ".join(f"{why} ({n})" for why, n in sorted(self.unread.items()))
        noun = "page, whose" if pages == 1 else "pages, whose"
        which = f"holdfast verify {self.job.word} --deep"
        return f"text is null for {pages} {noun} stored bytes are {parts}. Which: {which}"


def record_object(row: PageRow) -> dict[str, Any]:
    """A record of a custom recipe: its own fields, behind what says where it comes from. Its own names win."""
    try:
        own = msgspec.json.decode(row.record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Corrupt(f"record {row.n} of T-{row.target:x} cannot be read: {error}") from error
    own = own if isinstance(own, dict) else {"value": own}
    key = row.name or row.key.hex()
    where = {"url": row.url, "key": key, "target": f"T-{row.target:x}", "run": f"R-{row.run}", "kind": row.kind}
    return {**where, **own}

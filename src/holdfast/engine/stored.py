"""Running a recipe again over what is stored (`holdfast reprocess`): the network is not there, only kept answers are.

A target whose records come out as they were keeps its earlier result, byte for byte. One whose records differ gets a
new result of the same stored bytes. One that fails keeps what it had; its rule and its `because` say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec

from holdfast.engine.ledger_thread import LedgerThread
from holdfast.errors import FetchError, NotFound
from holdfast.model.exchange import Headers, Request, Response
from holdfast.model.outcome import NOT_REPROCESSED, UNCHANGED, BodyRef, Done, Failed, Outcome, Record, body_of
from holdfast.model.target import Claimed, PageRow
from holdfast.ports import Blobs, Ledger
from holdfast.recipe import AnyRecipe, Context
from holdfast.recipe.contract import Kept, Reparses

NOT_STORED = "not_stored"
TIMES = ("fetched_at",)  # fields of a record that say when its bytes came: they have not come again
RECORDS_MAX = 100_000


class StoredResult(msgspec.Struct, frozen=True):
    """The last good result of a target: its answer, where that lies, and its records."""

    kept: Kept
    reference: BodyRef


ReadStored = Callable[[int], Awaitable[StoredResult]]


class StoredResults:
    """Reads them by reference, off the event loop."""

    def __init__(self, job: int, thread: LedgerThread, blobs: Blobs) -> None:
        self._job, self._thread, self._blobs = job, thread, blobs

    async def __call__(self, target: int) -> StoredResult:
        rows = await self._thread.call(partial(_rows_of, self._job, target))
        reference = body_of(rows[0]) if rows else None
        if reference is None:
            raise NotFound(f"target {target} has no stored body")
        body = await asyncio.to_thread(self._blobs.answer, reference)
        return StoredResult(Kept(body, tuple(Record(row.kind, row.record) for row in rows)), reference)


class StoredFetch:
    """Fulfils `recipe.Fetch` for one target: its own answer is there, and nothing else is asked for."""

    def __init__(self, claimed: Claimed, kept: Kept) -> None:
        self._claimed, self._kept = claimed, kept

    async def __call__(self, url: str, headers: Headers = ()) -> Response:
        return await self.send(Request(url, headers))

    async def send(self, request: Request) -> Response:
        body = self._kept.body
        if not request.is_plain or request.url not in (self._claimed.url, body.url):
            raise _refusal(request.url)
        return Response(url=request.url, status=body.status, headers=body.headers, body=body.content)

    async def file(self, request: Request, **limits: Any) -> Any:
        raise _refusal(request.url)

    def page(self, keep: str = "") -> Any:
        raise _refusal(self._claimed.url)


async def outcome_of(recipe: AnyRecipe, claimed: Claimed, context: Context, found: StoredResult) -> Outcome:
    """What the recipe makes of the stored answer today. Links and files are left as they are: only records change."""
    if isinstance(recipe, Reparses):
        outcome = await recipe.reparse(claimed, found.kept, context)
    else:
        outcome = await recipe.step(claimed, StoredFetch(claimed, found.kept), context)
    if not isinstance(outcome, Done):
        return outcome
    if outcome.files:
        return Failed(NOT_STORED, "its files are not made again from stored pages", final=True)
    records = with_times(outcome.records, found.kept.records)
    if records == found.kept.records:
        return Done(UNCHANGED, because="the stored page gives the same records")
    return msgspec.structs.replace(outcome, records=records, body=None, found=(), external=())


def kept_as_it_was(outcome: Outcome) -> Done:
    """A page that the recipe can make nothing of today keeps its earlier result, and says so: run again after the next
    change of the recipe, it is not lost."""
    if isinstance(outcome, Done):
        return outcome
    said = outcome.code if isinstance(outcome, Failed) else outcome.disposition
    message = outcome.message if isinstance(outcome, Failed) else outcome.because
    return Done(UNCHANGED, rule=NOT_REPROCESSED, because=f"{said}: {message}")


def with_times(records: tuple[Record, ...], before: tuple[Record, ...]) -> tuple[Record, ...]:
    """The records with the times of those that stood in their places."""
    if len(records) != len(before):
        return records
    return tuple(_timed(new, old) for new, old in zip(records, before, strict=True))


def _timed(new: Record, old: Record) -> Record:
    if new.kind != old.kind or not any(f'"{name}"'.encode() in new.doc for name in TIMES):
        return new
    fresh, past = msgspec.json.decode(new.doc), msgspec.json.decode(old.doc)
    if not isinstance(fresh, dict) or not isinstance(past, dict):
        return new
    kept = {name: past[name] for name in TIMES if name in fresh and name in past}
    return Record(new.kind, msgspec.json.encode({**fresh, **kept})) if kept else new


def _refusal(url: str) -> FetchError:
    return FetchError(NOT_STORED, f"{url[:200]} was not kept, and nothing is fetched while stored pages are run again")


def _rows_of(job: int, target: int, ledger: Ledger) -> list[PageRow]:
    """Every record of the target, in order."""
    found: list[PageRow] = []
    after = (target, -1)
    while len(found) < RECORDS_MAX:
        rows = ledger.results(job, after=after)
        mine = [row for row in rows if row.target == target]
        found += mine
        if not mine or len(mine) < len(rows):
            return found
        after = (mine[-1].target, mine[-1].n)
    return found

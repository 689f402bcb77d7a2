"""What steps may read of what is stored: through the ledger's thread, so that no step holds up the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from functools import partial

from holdfast.engine.ledger_thread import LedgerThread
from holdfast.errors import NotFound
from holdfast.model.look import Generation
from holdfast.model.outcome import body_of
from holdfast.model.target import PageRow
from holdfast.ports import Blobs, Ledger


class StepReads:
    """Bodies and records of one job, and records of others."""

    def __init__(self, job: int, thread: LedgerThread, blobs: Blobs) -> None:
        self._job, self._thread, self._blobs = job, thread, blobs

    async def body(self, target: int) -> bytes:
        """The body of a target, for steps that work on what is stored; read by reference, off the loop."""
        rows = await self._thread.call(lambda ledger: ledger.results(self._job, after=(target, -1), limit=1))
        reference = body_of(rows[0]) if rows and rows[0].target == target else None
        if reference is None:
            raise NotFound(f"target {target} has no stored body")
        return await asyncio.to_thread(self._blobs.read, reference)

    async def of_chunk(self, chunk: int, types: tuple[str, ...], *, label: str = "") -> list[PageRow]:
        """Records of one chunk, for steps that judge over them; read page by page, other work in between."""
        where: list[tuple[str, bool, tuple[str, ...]]] = [("chunk", True, (f"C-{chunk:x}",)), ("type", True, types)]
        if label:
            where.append(("label", True, (label,)))
        found: list[PageRow] = []
        after = (0, -1)
        while rows := await self._thread.call(partial(_chunk_rows, job=self._job, where=where, after=after)):
            found += rows
            after = rows[-1].target, rows[-1].n
        return found

    async def of_job(
        self, job: str, type: str, commits: Mapping[str, int], after: tuple[int, int, int], limit: int
    ) -> list[Generation]:
        """Records of another job as of these commit numbers, for steps that compare with them."""

        def read(ledger: Ledger) -> list[Generation]:
            return ledger.generations(ledger.job(job).id, type, commits=commits, after=after, limit=limit)

        return await self._thread.call(read)

    async def results(self, kinds: tuple[str, ...]) -> AsyncIterator[PageRow]:
        """Records of these kinds, for steps that put together what earlier phases made."""
        after = (0, -1)
        while rows := await self._thread.call(partial(_results_behind, self._job, after)):
            for row in rows:
                if row.kind in kinds:
                    yield row
            after = (rows[-1].target, rows[-1].n)


def _chunk_rows(
    ledger: Ledger, *, job: int, where: list[tuple[str, bool, tuple[str, ...]]], after: tuple[int, int]
) -> list[PageRow]:
    return ledger.results(job, where=where, after=after)


def _results_behind(job: int, after: tuple[int, int], ledger: Ledger) -> list[PageRow]:
    return ledger.results(job, after=after)

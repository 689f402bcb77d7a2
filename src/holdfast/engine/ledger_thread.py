"""The one thread that speaks to the ledger for a worker. Calls run in order; an unknown outcome is repeated.

Async code reaches the ledger only through `call`; there is no second spelling of any verb.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from holdfast.engine.patience import Patience
from holdfast.ports import Ledger, OpenLedger

T = TypeVar("T")


class LedgerThread:
    """Owns one ledger connection and the thread that uses it."""

    def __init__(self, open_ledger: OpenLedger, patience: Patience) -> None:
        self._open_ledger, self._patience = open_ledger, patience
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ledger")
        self._ledger: Ledger | None = None

    async def call(self, body: Callable[[Ledger], T]) -> T:
        """Run `body` on the ledger thread. It may be a group of verbs; each is its own transaction."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, body)

    async def insist(self, body: Callable[[Ledger], T]) -> T:
        """The same, repeated while the outcome is unknown: only for verbs that are safe to repeat as they are."""

        def insisted() -> T:
            return self._patience.insist(lambda: self._run(body))

        return await asyncio.get_running_loop().run_in_executor(self._pool, insisted)

    def _run(self, body: Callable[[Ledger], T]) -> T:
        if self._ledger is None:
            self._ledger = self._open_ledger()
        return body(self._ledger)

    async def close(self) -> None:
        def shut(_: object = None) -> None:
            if self._ledger is not None:
                self._ledger.close()

        await asyncio.get_running_loop().run_in_executor(self._pool, shut)
        self._pool.shutdown()

"""What is asked of the ledger about hosts that may block us."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from holdfast.clock import ManualClock
from holdfast.engine.blocks import Blocks


class OneGoodHost:
    """A ledger in which one host has a page; whatever else it is asked for fails."""

    def __init__(self) -> None:
        self.asked = 0

    def targets(self, job: int, *, where: list[tuple[str, bool, tuple[str, ...]]], limit: int) -> list[str]:
        self.asked += 1
        assert limit == 1
        return ["a page"] if ("host", True, ("marsh.test",)) in where else []

    async def insist(self, ask: Callable[[Any], Any]) -> Any:
        return ask(self)


def test_whether_a_host_ever_gave_a_page_takes_one_row_and_is_remembered() -> None:
    """It took a count of all targets by host, on the thread of the ledger."""
    ledger: Any = OneGoodHost()
    blocks = Blocks(1, ledger, ManualClock(), delay_ms=0)

    async def ask() -> list[bool]:
        return [await blocks._has_pages(host) for host in ("marsh.test", "marsh.test", "pond.test")]

    assert asyncio.run(ask()) == [True, True, False]
    assert ledger.asked == 2

"""The ledger: all of its faces on one connection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from holdfast.ports.copies import Copies
from holdfast.ports.hosts import Hosts
from holdfast.ports.jobs import Edits, Jobs, Rollbacks
from holdfast.ports.reads import Looks, Surveys, Views
from holdfast.ports.work import Work


class Ledger(Jobs, Edits, Rollbacks, Work, Views, Looks, Surveys, Hosts, Copies, Protocol):
    """One connection to the durable truth."""

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """A read for the audit, which shares no code with the engine."""

    def close(self) -> None: ...


OpenLedger = Callable[[], Ledger]

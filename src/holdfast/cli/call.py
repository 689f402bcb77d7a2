"""One call of a command: what was typed, and the ways to speak, to tell the time and to reach the ledger."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from holdfast.cli.arguments import Globals
from holdfast.cli.screen.console import Console
from holdfast.clock import Clock, SystemClock
from holdfast.config import Settings
from holdfast.errors import BadParams, NotFound

if TYPE_CHECKING:
    from holdfast.cli.signals import SignalHandlers
    from holdfast.ports import Ledger


class Call(msgspec.Struct, frozen=True):
    """What a command is handed."""

    command: str
    options: argparse.Namespace
    globals: Globals
    settings: Settings
    console: Console
    clock: Clock = msgspec.field(default_factory=SystemClock)
    handlers: SignalHandlers | None = (
        None  # of a command that works several jobs, which must hear of a signal during any of them
    )

    @contextmanager
    def ledger(self) -> Iterator[Ledger]:
        """The ledger, made where it is missing: for commands that write."""
        from holdfast import wiring

        ledger = wiring.open_ledger(self.settings)
        try:
            yield ledger
        finally:
            ledger.close()

    @contextmanager
    def existing_ledger(self, *, to_change: bool = False) -> Iterator[Ledger]:
        """The ledger of a command about jobs that are there; it never makes a folder just to look into it.

        If that cannot be written, reads still work, and writes say so. Only a command that
        is `to_change` one of the jobs upgrades a ledger of an older version.
        """
        self.demand_ledger()
        from holdfast import wiring

        ledger = wiring.open_to_look(self.settings, upgrades=to_change)
        try:
            yield ledger
        finally:
            ledger.close()

    def demand_ledger(self) -> None:
        """NotFound where nothing was ever stored."""
        if not self.has_ledger():
            raise NotFound(f"there is no ledger in {self.settings.data} yet, so there are no jobs")

    def has_ledger(self) -> bool:
        data = self.settings.data
        if data.exists() and not data.is_dir():
            raise BadParams(f"the data folder {data} is a file", hint="choose another with --data DIR")
        return self.settings.database_url != "sqlite" or self.settings.ledger_path.exists()

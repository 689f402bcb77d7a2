"""The control lease of a pool: how often it is renewed, and with it how much of a limited time a kill forgets."""

from __future__ import annotations

from pathlib import Path

import msgspec

from cli.commands import ledger_in, put_into, submit
from holdfast.clock import SystemClock
from holdfast.config import Settings
from holdfast.dispatch.local.control_lease import ControlLease
from holdfast.engine.patience import Patience
from waiting import wait_until


def test_a_time_limit_that_the_job_was_given_before_it_was_opened_is_counted_each_second(tmp_path: Path) -> None:
    """PAU-07: a third of its lease is twenty seconds, and a kill would forget that many."""
    clock = SystemClock()
    with ledger_in(tmp_path) as ledger:
        looked_at = put_into(ledger, submit(ledger), "in_progress")
        settings = Settings(data=tmp_path / "holdfast-data", lease_s=60)
        control = ControlLease(looked_at, ledger, Patience(clock), settings, clock)
        assert control.take()
        options = msgspec.structs.replace(looked_at.options, time_limit_s=3600)
        control.keep(ledger.amend(looked_at, options=options, actor="test", because="test"))
        try:
            wait_until(lambda: ledger.books(looked_at.id)[0].active_ms > 0, 10, "active time is told to the ledger")
        finally:
            control.let_lapse()

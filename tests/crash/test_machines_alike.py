"""Two machines that are called alike work one job on one PostgreSQL ledger, and neither takes the other for dead."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from crash.machine import MACHINES, log_name
from crash.texts_kind import PAGES, Log, TextsRecipe, open_ledger, ready
from holdfast.audit.verify import verify
from holdfast.audit.witness import doubled
from holdfast.model.look import EventRow
from holdfast.ports import Ledger
from waiting import wait_until


@contextmanager
def machine(place: int, boot_id: str, folder: Path, database: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "crash.machine", str(place), boot_id, f"machine-{place}", str(folder), database]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}) as process:
        try:
            yield process
        finally:
            process.kill()


def worked_by(folder: Path, place: int) -> list[str]:
    log = folder / log_name(place)
    return log.read_text().splitlines() if log.exists() else []


def stolen(ledger: Ledger, job: int) -> list[EventRow]:
    """Chunks that were taken from an owner. Both live to the end, so that there is never a reason."""
    return [event for event in ledger.events(job, limit=1000) if event.verb == "rescue"]


@pytest.mark.parametrize(
    "boots", [("boot-a", "boot-b"), ("boot-a", "boot-a")], ids=["two boots", "one memory snapshot"]
)
def test_machines_with_one_host_name_share_a_job_and_steal_nothing(
    boots: tuple[str, str], tmp_path: Path, pg_schema_url: str
) -> None:
    """PAU-16: everything is worked once, both take part, and no chunk changes hands before its owner gives it back.

    Each machine knows its own processes only, so that the other's pid is one of which it can find nothing.
    """

    def everything() -> list[str]:
        return [line for place in range(MACHINES) for line in worked_by(tmp_path, place)]

    with ExitStack() as stack:
        ledger = stack.enter_context(closing(open_ledger(tmp_path, pg_schema_url)))
        job = ready(ledger, TextsRecipe(stack.enter_context(closing(Log(tmp_path / "log")))))
        both = [stack.enter_context(machine(n, boot, tmp_path, pg_schema_url)) for n, boot in enumerate(boots)]
        wait_until(lambda: stolen(ledger, job.id) or all(one.poll() is not None for one in both), 60, "both to end")
        assert not stolen(ledger, job.id)
        assert [one.returncode for one in both] == [0, 0]
        assert not doubled(everything())
        assert all(worked_by(tmp_path, place) for place in range(MACHINES))
        job, counts, _ = ledger.books(job.id)
        assert (job.status, counts.succeeded, len(everything())) == ("completed", 2 * PAGES, 2 * PAGES)
        assert [found for found in verify(ledger.query, job.id) if found.law.name != "F1.page"] == []

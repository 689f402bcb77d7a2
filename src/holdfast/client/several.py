"""Several worker processes for a Python program: the command line works the job, and this process looks on.

Worker processes are forked, and a program with threads must not fork: so it is done by a process that has none.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing

from holdfast import wiring
from holdfast.client.working import WATCH_EVERY_S, Halt, OnProgress, Progress
from holdfast.config import Settings
from holdfast.errors import BadParams, HoldfastError, Refused
from holdfast.model.job import WORK_CHUNKS

SIGNALS = {"pause": signal.SIGINT, "drain": signal.SIGTERM}
NOT_WORKED = (1, 2, 4, 5, 7, 9)  # exit codes (ux 3.5) that say nothing about how the job ended


class SeveralProcesses:
    """`holdfast resume JOB --processes N`, at work for as long as this program lives (`cli/tied.py`)."""

    def __init__(self, settings: Settings, uid: str, processes: int) -> None:
        self._told: signal.Signals | None = None
        words = ("resume", uid, "--processes", str(processes), "--quiet", "--data", str(settings.data))
        config = () if settings.config_file is None else ("--config", settings.config_file)
        self._child = subprocess.Popen(
            [sys.executable, "-m", "holdfast.cli.tied", str(os.getpid()), *words, *config],
            env=_environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C at the terminal is passed on once, by us
        )

    def stop(self, why: str) -> None:
        """`pause` or `drain`; what is in hand is finished first."""
        if self._child.poll() is None:
            self._told = SIGNALS[why]
            self._child.send_signal(self._told)

    def wait(self, look: Callable[[], None]) -> None:
        """Until it has ended, looking now and then; what it complained of is raised."""
        while self._child.poll() is None:
            try:
                look()
                self._child.wait(WATCH_EVERY_S)
            except subprocess.TimeoutExpired:
                continue
            except KeyboardInterrupt:
                self.stop("pause")
            except BaseException:
                self.stop("drain")
                self._child.communicate()
                raise
        said = self._child.communicate()[1].decode(errors="replace").strip()
        if self._told is not None and self._child.returncode == -self._told:
            return  # it was told to stop before it could hear it, and had begun nothing
        if self._child.returncode < 0 or self._child.returncode in NOT_WORKED:
            raise HoldfastError(said or f"its workers ended with code {self._child.returncode}")


def _environment(settings: Settings) -> dict[str, str]:
    """Ours, with the ledger that was chosen: its address may hold a password, and all users can read command lines."""
    from holdfast.config.table import KEYS, OF_A_FILE

    database = KEYS["database_url"].variable
    kept = {name: text for name, text in os.environ.items() if name != database + OF_A_FILE}
    return {**kept, database: settings.database_url}


def work_by_several(
    settings: Settings,
    job: int,
    processes: int,
    on_progress: OnProgress | None,
    halt: Halt,
) -> None:
    """Work the job with several processes until it ends or is paused."""
    if not 1 <= processes <= WORK_CHUNKS:
        raise BadParams(f"processes: must be from 1 to {WORK_CHUNKS}, not {processes}")
    with closing(wiring.open_ledger(settings)) as ledger:
        now = ledger.books(job)[0]
        if processes > now.options.concurrency:
            raise Refused(f"{processes} processes cannot share {now.options.concurrency} fetches at once")
        if halt.is_asked():
            return
        command = SeveralProcesses(settings, now.uid, processes)
        halt.tell(command)

        def look() -> None:
            if on_progress is not None:
                row, counts, point = ledger.books(job)
                number = None if point is None else point.number
                on_progress(Progress(row.name, row.status, counts, counts.in_progress, number))

        command.wait(look)
        look()

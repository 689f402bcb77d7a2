"""A worker that finds itself on a machine of its own: its boot id, its machine id, and no process but its own.

The kernel's number of the pid namespace and the host name are those of every other machine, as they are in the field.
`python -m crash.machine PLACE BOOT_ID MACHINE_ID FOLDER DATABASE` works the job of `texts_kind` until it ends.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from crash import texts_kind
from holdfast.engine import liveness
from holdfast.model.exchange import Request, Response
from waiting import wait_until

MACHINES = 2
MEET_S_MAX = 20


def log_name(place: int) -> str:
    return f"log-{place}"


def move_in(boot_id: str, machine_id: str) -> None:
    """From here on the operating system's answers are those of that machine."""
    started = liveness._started
    liveness.boot_id = lambda: boot_id  # type: ignore[assignment]
    liveness._machine_id = lambda: machine_id
    liveness._started = lambda pid: started(pid) if pid == os.getpid() else None


class MeetingWeb(texts_kind.Web):
    """Answers a page when every machine has asked for one: all of them hold chunks then."""

    def __init__(self, log: texts_kind.Log, folder: Path) -> None:
        super().__init__(log)
        self._folder = folder

    async def fetch(self, request: Request) -> Response:
        answer = await super().fetch(request)
        if not request.url.endswith("/robots.txt"):
            await asyncio.to_thread(wait_until, self._all_have_asked, MEET_S_MAX, "requests of every machine")
        return answer

    def _all_have_asked(self) -> bool:
        logs = [self._folder / log_name(place) for place in range(MACHINES)]
        return all(log.exists() and log.stat().st_size for log in logs)


if __name__ == "__main__":
    place, folder = int(sys.argv[1]), Path(sys.argv[4])
    move_in(sys.argv[2], sys.argv[3])
    ended = texts_kind.worked(
        folder, sys.argv[5], log_name=log_name(place), workers=MACHINES, place=place,
        web=lambda log: MeetingWeb(log, folder),
    )  # fmt: skip
    sys.exit(0 if ended.how == "completed" else 1)

"""Named fault points: `point("settle.before_commit")` costs a dictionary look-up and does nothing unless armed.

`HOLDFAST_FAULT=name:n:kill|raise|delay|unknown` arms the n-th hit of one point. `unknown` means that what stood before
the point happened, and its caller is told that the connection was lost.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from holdfast.clock import pause_thread
from holdfast.errors import HoldfastError, LedgerUnavailable

POINTS: dict[str, str] = {
    "migrate.between_statements": "a ledger gets its schema or a newer one, not yet committed",
    "claim.before_commit": "a claim is written, not yet committed",
    "claim.after_commit": "a claim is committed, its reply is not yet seen",
    "settle.before_commit": "a settle is written, not yet committed",
    "settle.after_commit": "a settle is committed, its reply is not yet seen",
    "lease.before_commit": "leases and rescues are written, not yet committed",
    "lease.after_commit": "leases are committed, not yet used",
    "enqueue.before_commit": "a plan batch is written, not yet committed",
    "enqueue.after_commit": "a plan batch is committed, the planner does not know it yet",
    "advance.before_commit": "the next phase, or the job's last move, is written, not yet committed",
    "advance.after_commit": "the next phase, or the end, is committed, its reply is not yet seen",
    "submit.after_commit": "a job is accepted, its submitter does not know it yet",
    "pause.after_commit": "a pause is requested, nobody has seen it yet",
    "segment.before_fsync": "bodies are written to the segment, not yet on the disk",
    "segment.after_fsync": "bodies are on the disk, no row refers to them yet",
    "export.before_rename": "an export is written beside, not yet renamed",
}
# Of people's verbs: a crawl passes none of them.
VERB_POINTS: dict[str, str] = {
    "migrate.between_statements": "a ledger gets its schema or a newer one, not yet committed",
    "reopen.before_commit": "a job is opened again, not yet committed",
    "reopen.after_commit": "a job is opened again, nothing is put back yet",
    "walk.before_commit": "a slice of targets is put back, not yet committed",
    "walk.after_commit": "a slice of targets is put back, the next one is not",
    "cancel_rest.before_commit": "a slice of what was pending is cancelled, not yet committed",
    "cancel_rest.after_commit": "a slice of what was pending is cancelled, the next one is not",
    "rollback.before_commit": "a job is back at a checkpoint, not yet committed",
    "rollback.after_commit": "a job is back at a checkpoint, the caller does not know it yet",
    "label.after_commit": "targets are marked, the caller does not know it yet",
    "exclude.after_commit": "an exclusion is added, nothing is swept yet",
    "sweep.before_commit": "a slice of targets is left out, not yet committed",
    "sweep.after_commit": "a slice of targets is left out, the next one is not",
    "include.after_commit": "an exclusion is removed, nothing is put back yet",
    "rescope.after_commit": "a changed scope stands, nothing is judged by it yet",
    "restore.before_commit": "a snapshot's bodies and rows are written, not yet committed",
    "restore.after_commit": "a job is restored, the caller does not know it yet",
}
# Of files of their own: a crawl of pages passes none of them.
FILE_POINTS: dict[str, str] = {
    "file.before_sync": "some of a download is written, not yet on the disk",
    "file.before_fsync": "a download is complete, not yet on the disk",
    "file.before_rename": "a file is on the disk, not yet under its name",
    "file.after_rename": "a file has its name, its folder is not yet on the disk and no row refers to it",
    "file.before_remove": "a file has its name on the disk, its other name is not yet gone and no row refers to it",
}
EVERY_POINT = {**POINTS, **VERB_POINTS, **FILE_POINTS}
DELAY_S = 0.3


class InjectedFault(HoldfastError):
    """An armed fault point raised."""


@dataclass(slots=True)
class _Armed:
    name: str
    hits_left: int
    action: str


def _read(text: str) -> _Armed | None:
    if not text:
        return None
    name, count, action = text.split(":")
    if name not in EVERY_POINT:
        raise InjectedFault(f"HOLDFAST_FAULT names no fault point: {name}")
    return _Armed(name, int(count), action)


_armed = _read(os.environ.get("HOLDFAST_FAULT", ""))
hits: dict[str, int] = {}


def arm(text: str) -> None:
    """Arm one point in this process (tests) and count its hits anew; an empty text disarms."""
    global _armed
    hits.clear()
    _armed = _read(text)


def point(name: str) -> None:
    """A place where a test may kill, fail or slow this program."""
    if _armed is None:
        return
    hits[name] = hits.get(name, 0) + 1
    if _armed.name != name:
        return
    _armed.hits_left -= 1
    if _armed.hits_left == 0:
        _act(_armed.action, name)


def _act(action: str, name: str) -> None:
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif action == "raise":
        raise InjectedFault(f"fault injected at {name}")
    elif action == "unknown":
        raise LedgerUnavailable(f"connection lost at {name} (injected)")
    else:
        pause_thread(DELAY_S)

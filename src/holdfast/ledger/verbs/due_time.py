"""When a lane is to be looked at again, and what a clock that is set back does to it: nothing waits longer for it.

A due time lies ahead of the chunk's last commit (`chunk.at`) by as much as was asked for. So a chunk whose last commit
lies in the future tells by how much the clock was set back, and everything that waits there is moved by as much.
What is ready has no moment at all: it is due at once, whatever the clock says.
"""

from __future__ import annotations

from holdfast.ledger.tx import Tx

AT_ONCE = 0
FAR_FUTURE = 1 << 52
LEAP_MS = 1_000  # clocks are corrected by less all the time


def set_back(tx: Tx, chunk: int, at: int) -> None:
    """Called before a chunk's rows are looked at, with the moment of its last commit."""
    leap = at - tx.wall()
    if leap < LEAP_MS:
        return
    tx.run("UPDATE lane SET due = due - ? WHERE chunk = ? AND due > ? AND due < ?", (leap, chunk, AT_ONCE, FAR_FUTURE))
    tx.run(
        "UPDATE target SET not_before = not_before - ? WHERE state = 1 "
        "AND lane IN (SELECT id FROM lane WHERE chunk = ?)",
        (leap, chunk),
    )
    tx.run("UPDATE chunk SET at = at - ? WHERE id = ?", (leap, chunk))


def set_back_host(tx: Tx, host: int, set_at: int) -> int:
    """The same for a host, whose row tells when its times were written; by how much they were moved."""
    leap = max(0, set_at - tx.wall())
    if leap:
        tx.run(
            "UPDATE host SET next_at = next_at - ?, hold_until = hold_until - ?, set_at = set_at - ? WHERE id = ?",
            (leap, leap, leap, host),
        )
    return leap

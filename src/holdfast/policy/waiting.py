"""Why a target is not fetched yet, and until when (ux 1.6): its own wait, its host's wait, or none. Decides nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec


class Wait(msgspec.Struct, frozen=True):
    """`not_before` is wall ms; None: it may be fetched as soon as a worker has room."""

    not_before: int | None
    because: str | None


def host_wait(host: str, *, next_at: int, hold_until: int, now_ms: int) -> Wait:
    """What holds a whole host up at this moment."""
    if hold_until > now_ms and hold_until >= next_at:
        return Wait(hold_until, f"{host} backs off until {clock_time(hold_until)}")
    if next_at > now_ms:
        return Wait(next_at, f"{host} is asked again at {clock_time(next_at)}")
    return Wait(None, None)


def target_wait(own: Wait, of_host: Wait, *, is_suspect: bool) -> Wait:
    """The longest of what a target waits for."""
    if own.not_before is not None and own.not_before >= (of_host.not_before or 0):
        return own
    if of_host.not_before is not None:
        return of_host
    return Wait(None, "its worker died with it in hand: it is tried alone") if is_suspect else Wait(None, None)


def clock_time(wall_ms: int) -> str:
    """The time of day, such as `14:05:30 UTC`, which people compare with their own clock."""
    when = datetime.fromtimestamp(wall_ms / 1000, tz=UTC)
    return f"{when:%H:%M:%S} UTC"

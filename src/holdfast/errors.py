"""The error tree. A class's docstring is its default message.

HoldfastError
├─ UsageError           the caller asked for something wrong
│  ├─ IllegalMove       the lifecycle tables have no such row
│  ├─ NotFound          no such job, run, target or checkpoint
│  ├─ BadParams         an option or parameter that cannot be used
│  └─ Refused           a lawful request that this moment does not allow
├─ LostLease            the chunk is no longer ours: drop the work, count it, go on
├─ LedgerUnavailable    storage down or busy: back off and repeat the call; its key makes that safe
├─ Denied               the database or file system does not let this user in
├─ LedgerUnfit          newer, damaged or wrongly configured ledger: nothing is written
├─ DiskFull             no room to save: say so and wait
├─ ListUnavailable      the list of a job could not be had, and no earlier one may serve
├─ PlanFailed           a recipe's plan raised: what it has given is worked, then the job is failed
├─ Disallowed           robots.txt forbids an address: the target is skipped
├─ HostWaits            a host must not be asked just now: the target is given back
├─ RobotsUnreachable    robots.txt could not be had: the origin's targets fail
├─ FetchError           one failure on the source's side, always with a code of model/codes.py
└─ Corrupt              a stored row contradicts the model: stop, never guess
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class HoldfastError(Exception):
    """Holdfast could not do that."""

    code = "internal"
    http_status = 500  # of the answer that REST gives

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        self.message = message or (type(self).__doc__ or "").splitlines()[0]
        self.hint = hint
        super().__init__(self.message)

    @property
    def problem(self) -> dict[str, Any]:
        """The error as programs read it (RFC 9457), with the fields that every surface gives."""
        document: dict[str, Any] = {
            "type": f"urn:holdfast:problem:{self.code}",
            "title": (type(self).__doc__ or "").splitlines()[0],
            "status": self.http_status,
            "detail": self.message,
            "code": self.code,
            "hint": self.hint or None,
        }
        allowed = getattr(self, "allowed", None)
        return document if allowed is None else {**document, "allowed_actions": list(allowed)}


class UsageError(HoldfastError):
    """That cannot be asked for."""

    code = "usage"
    http_status = 422


class IllegalMove(UsageError):
    """That move is not allowed from here."""

    code = "illegal_move"
    http_status = 409

    def __init__(self, thing: str, status: str, verb: str, allowed: Sequence[str]) -> None:
        self.thing, self.status, self.verb, self.allowed = thing, status, verb, tuple(allowed)
        ways = ", ".join(allowed) if allowed else "nothing"
        super().__init__(f"cannot {verb} a {thing} that is {status}; allowed here: {ways}")


class NotFound(UsageError):
    """There is no such thing in this ledger."""

    code = "not_found"
    http_status = 404


class BadParams(UsageError):
    """A parameter cannot be used."""

    code = "bad_params"


class Refused(UsageError):
    """Refused: this moment does not allow it."""

    code = "refused"
    http_status = 409


class LostLease(HoldfastError):
    """The chunk is held by another worker now."""

    code = "lost_lease"
    http_status = 409


class LedgerUnavailable(HoldfastError):
    """The ledger did not answer; whether the last write was kept is unknown."""

    code = "ledger_unavailable"
    http_status = 503


class Denied(HoldfastError):
    """The database does not let this user in, or not do that; nothing was written."""

    code = "denied"
    http_status = 403


class LedgerUnfit(HoldfastError):
    """The ledger cannot be used by this program; nothing was written."""

    code = "ledger_unfit"


class DiskFull(HoldfastError):
    """There is no room left to save anything."""

    code = "disk_full"
    http_status = 507


class Corrupt(HoldfastError):
    """A stored row contradicts the model."""

    code = "corrupt"


class BatchMismatch(Corrupt):
    """A settle was repeated under its key with other contents."""

    code = "batch_mismatch"


class ListUnavailable(HoldfastError):
    """The list of the job could not be had."""

    code = "list_unavailable"
    http_status = 503


class PlanFailed(HoldfastError):
    """A recipe's plan raised."""

    code = "plan_failed"


class Disallowed(HoldfastError):
    """robots.txt forbids that address."""

    code = "robots"

    def __init__(self, message: str, *, rule: str) -> None:
        super().__init__(message)
        self.rule = rule


class HostWaits(HoldfastError):
    """The host must not be asked just now. `hold_ms`: the target's own host is not asked either for that long;
    `wait_ms`: only the target waits, for a turn at another host."""

    code = "host_waits"

    def __init__(self, message: str, *, hold_ms: int, wait_ms: int | None = None) -> None:
        super().__init__(message)
        self.hold_ms, self.wait_ms = hold_ms, wait_ms


class Blocked(HoldfastError):
    """The site blocks us: what it answered is not a page of its own. `hold_ms`: only its host is left alone so long."""

    code = "blocked"

    def __init__(self, message: str, *, hold_ms: int = 0) -> None:
        super().__init__(message)
        self.hold_ms = hold_ms


class RobotsUnreachable(HoldfastError):
    """robots.txt could not be read, so nothing may be fetched."""

    code = "robots_unreachable"


class FetchError(HoldfastError):
    """The source did not give what was asked for."""

    def __init__(self, code: str, message: str = "", *, status: int | None = None, retry_after_s: float | None = None):
        super().__init__(message or code)
        self.code = code
        self.status = status
        self.retry_after_s = retry_after_s

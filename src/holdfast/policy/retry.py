"""The one decision point about another attempt (ERR-02). It says what to do and when; it never waits or writes.

A failure that concerns the whole host (429, 5xx) also holds the host, so that the next page does not ask at once:
for as long as the host asked by Retry-After, else for the back-off.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from holdfast.clock import jittered
from holdfast.model.codes import CODES, Code
from holdfast.model.outcome import Done, Failed, Outcome, Skipped

if TYPE_CHECKING:
    from random import Random

BACKOFF_FIRST_S = 1.0
BACKOFF_MAX_S = 30.0
BACKOFF_JITTER = 0.2
RETRY_AFTER_MAX_S = 24 * 3600.0
ATTEMPT = "; attempt "
KINDS = ("retryable", "non_retryable", "capped", "unknown")


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a target. `kind` is why a failure is or is not tried again, None where nothing failed."""

    move: str
    because: str = ""
    kind: str | None = None
    code: str = ""
    wait_ms: int | None = None  # with `retry`
    hold_host_ms: int = 0


SUCCEEDED = Decision(move="succeed")


def judge(outcome: Outcome, *, attempts: int, max_attempts: int, random: Random) -> Decision:
    """Judge one outcome. `attempts` are those spent, this one included."""
    if isinstance(outcome, Done):
        return Decision(move="succeed", because=outcome.because) if outcome.because else SUCCEEDED
    if isinstance(outcome, Skipped):
        return Decision(move="skip", because=outcome.because, kind="non_retryable")
    code = CODES.get(outcome.code) or CODES["internal"]
    kind = _kind(outcome, code, attempts, max_attempts)
    backoff_s = backoff(attempts, random)
    wait_s = _asked_wait(outcome, backoff_s)
    again = kind in ("retryable", "unknown")
    return Decision(
        move="retry" if again else "fail",
        because=_because(outcome, code, kind, attempts),
        kind=kind,
        code=code.name,
        # Also with a held host: the hold may be lifted by hand, and this target still deserves its back-off.
        wait_ms=round(max(wait_s, backoff_s) * 1000) if again else None,
        hold_host_ms=round(wait_s * 1000) if code.slows_host else 0,
    )


def backoff(attempts: int, random: Random) -> float:
    """Seconds: 1, 2, 4 … at most 30, moved a little, so that pages that failed together do not return together."""
    bare = BACKOFF_FIRST_S * 2.0 ** min(max(attempts - 1, 0), 10)
    return min(jittered(min(bare, BACKOFF_MAX_S), BACKOFF_JITTER, random), BACKOFF_MAX_S)


def read_retry_after(header: str | None, now_ms: int) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or as a date; None where it says neither."""
    text = (header or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:12]), RETRY_AFTER_MAX_S)
    if not text:
        return None
    from email.utils import parsedate_to_datetime  # loads a tenth of what a crawl loads, and most never need it

    with suppress(ValueError, OverflowError):
        return min(max(parsedate_to_datetime(text).timestamp() - now_ms / 1000, 0.0), RETRY_AFTER_MAX_S)
    return None


def _kind(outcome: Failed, code: Code, attempts: int, max_attempts: int) -> str:
    if not code.retryable or outcome.final:
        return "non_retryable"
    if attempts >= min(max_attempts, code.attempts or max_attempts):
        return "capped"
    return "retryable" if outcome.code in CODES else "unknown"


def _asked_wait(outcome: Failed, default_s: float) -> float:
    asked = outcome.retry_after_s
    if asked is None or math.isnan(asked) or asked < 0:
        return default_s
    return min(asked, RETRY_AFTER_MAX_S)


def _because(outcome: Failed, code: Code, kind: str, attempts: int) -> str:
    """`http_5xx: 503 Service Unavailable; attempt 2 failed, tried again`."""
    named = outcome.code if outcome.code in CODES else f"{code.name} (a step named the unknown code {outcome.code!r})"
    end = {"non_retryable": "not tried again", "capped": "no attempts left"}.get(kind, "tried again")
    said = f"{named}: {outcome.message}" if outcome.message else named
    return f"{said}{ATTEMPT}{attempts} failed, {end}"


def bare(because: str, code: str, url: str = "") -> str:
    """What was said of a failure without what stands beside it in a list: its code, its URL, its number."""
    return because.rpartition(ATTEMPT)[0].removeprefix(f"{code}: ").removesuffix(f" at {url}") or because

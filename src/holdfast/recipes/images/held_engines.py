"""Search engines that block us: each is left alone for a while, and the others are asked.

Kept in memory, like what the engine knows of hosts that block us: after a restart each is asked once more. A question
that is not put fails with `engine_blocked`, so that it can be asked again later and its round goes on without it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from holdfast.clock import Clock
from holdfast.errors import Blocked, FetchError
from holdfast.policy.blocking import block_page
from holdfast.recipe import Page

CODE = "engine_blocked"
HOLD_MS = 10 * 60_000
FORBADE_MAX = 3  # answers of 403 in a row, each with a fresh token where the engine has one
FORBIDDEN = 403


class HeldEngines:
    """What one worker knows of the engines."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[str, tuple[int, str]] = {}
        self._forbade: Counter[str] = Counter()

    def refuse(self, engine: str, engines: Sequence[str]) -> None:
        """Raises where this engine is left alone; the job pauses where all of its engines are."""
        until, because = self._until.get(engine, (0, ""))
        if self._clock.monotonic_ms() >= until:
            self._until.pop(engine, None)
            return
        self._raise(because, engines)

    def look_at(self, engine: str, page: Page, engines: Sequence[str]) -> None:
        """Raises where the answer says that the engine means us: a block page, or 403 again and again."""
        signs = block_page(page)
        if signs:
            self._hold(engine, f"{engine} blocks us: it answered {page.status} with a block page ({signs})", engines)
        if page.status != FORBIDDEN:
            self._forbade.pop(engine, None)
            return
        self._forbade[engine] += 1
        if self._forbade[engine] >= FORBADE_MAX:
            self._hold(engine, f"{engine} blocks us: it answered 403 {FORBADE_MAX} times in a row", engines)

    def _hold(self, engine: str, because: str, engines: Sequence[str]) -> None:
        self._until[engine] = self._clock.monotonic_ms() + HOLD_MS, because
        self._forbade.pop(engine, None)
        self._raise(because, engines)

    def _raise(self, because: str, engines: Sequence[str]) -> None:
        now = self._clock.monotonic_ms()
        if all(self._until.get(name, (0, ""))[0] > now for name in engines):
            raise Blocked(because if len(engines) == 1 else f"every search engine blocks us; the last: {because}")
        raise FetchError(CODE, f"{because}; it is left alone for {HOLD_MS // 60_000} minutes, others are asked")

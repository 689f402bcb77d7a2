"""The court's guard against fast clients: 429 at first, then 403, then a block page that stays for a while."""

from __future__ import annotations

from typing import Literal

PATIENCE = 5  # too-fast requests answered with 429
DISPLEASURE = 5  # and then with 403
BLOCK_S = 600
FORGETS_S = 60  # without a too-fast request

Ruling = Literal["", "429", "403", "block"]


class PaceGuard:
    """Judges each request by the time since the last one. A gap of 0 is no limit."""

    def __init__(self, gap_ms: int = 0) -> None:
        self.gap_ms = gap_ms
        self._last_ms = -1_000_000
        self._offences = 0
        self._offended_ms = 0
        self._blocked_until_ms = 0

    def judge(self, now_ms: int) -> Ruling:
        if not self.gap_ms:
            return ""
        fast = now_ms - self._last_ms < self.gap_ms
        self._last_ms = now_ms
        if now_ms < self._blocked_until_ms:
            return "block"
        if now_ms - self._offended_ms > FORGETS_S * 1000:
            self._offences = 0
        if not fast:
            return ""
        self._offences += 1
        self._offended_ms = now_ms
        if self._offences <= PATIENCE:
            return "429"
        if self._offences <= PATIENCE + DISPLEASURE:
            return "403"
        self._blocked_until_ms = now_ms + BLOCK_S * 1000
        return "block"

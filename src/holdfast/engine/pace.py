"""Politeness inside one worker: what it claimed may wait in its queue, so the last word falls when a fetch begins.

The ledger's host rows are the shared truth about claims; this only keeps two claims of one host from being sent
together because both were held up, and sends nothing to a host that has just asked for patience; nor anything at all
while our own computer has nothing to send it with.
"""

from __future__ import annotations

from collections.abc import Iterable

HANDED_BACK_OVER_MS = 1_000
SHORT_MS_FIRST = 250
SHORT_MS_MAX = 30_000


class Pace:
    """Per host, the earliest next start. Knows only hosts that are in hand, so it stays small."""

    def __init__(self, *, delay_ms: int, jitter: float) -> None:
        self._gap_ms = round(delay_ms * (1.0 - jitter))
        self._next_ms: dict[str, int] = {}
        self._held_ms: dict[str, int] = {}
        self._short_ms = self._short_until_ms = 0

    def wait_ms(self, host: str, now_ms: int) -> int:
        """How long until a fetch to this host may begin; 0: now."""
        if not host:  # no request stands for it
            return 0
        until_ms = max(self._next_ms.get(host, 0), self._held_ms.get(host, 0), self._short_until_ms)
        return max(0, until_ms - now_ms)

    def is_held(self, host: str, now_ms: int) -> bool:
        """Whether what waits for this host is better handed back."""
        return self._held_ms.get(host, 0) - now_ms > HANDED_BACK_OVER_MS

    def started(self, host: str, now_ms: int, delay_ms: int = 0) -> None:
        """`delay_ms` is the host's own, where it has one: it is kept in full."""
        gap_ms = max(self._gap_ms, delay_ms)
        if gap_ms > 0 and host:
            self._next_ms[host] = now_ms + gap_ms

    def hold(self, host: str, for_ms: int, now_ms: int) -> None:
        """The host asked for patience."""
        self._held_ms[host] = max(self._held_ms.get(host, 0), now_ms + for_ms)

    def run_short(self, now_ms: int) -> int:
        """No descriptors or memory for a fetch: nothing begins for a while, longer each time that this did not help.

        Answers how long; 0 where it was known already, by a fetch that had begun together with this one.
        """
        if now_ms < self._short_until_ms:
            return 0
        again = self._short_ms > 0 and now_ms - self._short_until_ms <= self._short_ms
        self._short_ms = min(2 * self._short_ms, SHORT_MS_MAX) if again else SHORT_MS_FIRST
        self._short_until_ms = now_ms + self._short_ms
        return self._short_ms

    def forget(self, keep: Iterable[str], now_ms: int) -> None:
        """Drop hosts that are neither in hand nor to be waited for."""
        wanted = set(keep)
        for known in (self._next_ms, self._held_ms):
            for host in [host for host, until in known.items() if until <= now_ms and host not in wanted]:
                del known[host]

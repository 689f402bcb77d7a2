"""How many bytes of answers this process holds at once: a body waits on its way in while there are too many.

What counts is every body that is being received, and every one that was given out and is still held, until its page is
committed. Bodies that wait for a commit are let go without further fetches, so while there are any, none goes on. A
step may hold one body and ask for another. So, with no commit to wait for, the body that began first goes on. The bound
is the budget and one body more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable


class BytesInFlight:
    """The books of one process. `held` says how many bytes of answers steps hold, and how many wait for a commit.

    It is asked a few times a second; in between, everything that was given out counts as held.
    """

    def __init__(self, bytes_max: int = 48_000_000, held: Callable[[], tuple[int, int]] = lambda: (0, 0)) -> None:
        self._bytes_max, self._held = bytes_max, held
        self._received: dict[Hashable, int] = {}  # in the order in which they began
        self._used = 0  # all that is being received, and what was given out, as last known
        self._given = 0
        self._commits = False  # whether some of it waits for a commit

    def admits(self, body: Hashable) -> bool:
        """Whether more of this body may be taken in."""
        if self._used < self._bytes_max:
            return True
        return not self._commits and next(iter(self._received), body) is body

    def receive(self, body: Hashable, size_bytes: int) -> None:
        """So much of it has come in so far."""
        self._used += size_bytes - self._received.get(body, 0)
        self._received[body] = size_bytes

    def give_out(self, body: Hashable) -> None:
        """It is complete, and somebody else's to hold."""
        self._given += self._received.pop(body, 0)

    def drop(self, body: Hashable) -> None:
        """It is not wanted any more. May be repeated, also after it was given out."""
        self._used -= self._received.pop(body, 0)

    def look(self) -> None:
        """Ask what is held elsewhere by now."""
        with_steps, committing = self._held()
        held = with_steps + committing
        self._used += held - self._given
        self._given, self._commits = held, committing > 0

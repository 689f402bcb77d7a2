"""What hosts are owed, by all jobs together."""

from __future__ import annotations

from typing import Protocol

from holdfast.model.host import UNTOLD, HostLook, KeptRobots, RobotsAnswer, Turn, Visited
from holdfast.model.target import Claimed


class Hosts(Protocol):
    """What hosts are owed, by all jobs together: turns for requests that no claim stands for, and robots.txt."""

    def turn(
        self,
        host: str,
        claimed: Claimed | None,
        *,
        ticket: str,
        delay_ms: int,
        per_host: int,
        patience_ms: int,
    ) -> Turn:
        """Take the host's next turn for a request made while `claimed` is worked, if it comes within `patience_ms`.

        At the target's own host its claim's slot is used again, so one request at a time. Elsewhere a slot is taken
        until `leave(ticket)` or the end of the lease. Raises LostLease. None: a command asks, which has no lease. It
        keeps the pace, and takes no slot, so that nothing is left of it wherever it dies; `tell` is its end.
        """

    def leave(self, ticket: str, visited: Visited = UNTOLD) -> None:
        """The request that took this turn is over, and went like this. Safe to repeat."""

    def tell(self, host: str, visited: Visited) -> None:
        """A request that took its turn under no lease is over, and went like this."""

    def robots(self, origin: str, agent: str, claimed: Claimed, *, insist: bool = False) -> RobotsAnswer:
        """What is kept of an origin's robots.txt. Empty: another worker is asking for it; look again, then insist."""

    def keep_robots(self, origin: str, host: str, agent: str, kept: KeptRobots | None) -> None:
        """Keep what came of asking; None: nothing did, so that another worker may ask."""

    def limit_host(
        self, host: str, *, delay_ms: int | None = None, concurrency: int | None = None, actor: str, because: str
    ) -> HostLook:
        """Set what this host is owed, for all jobs and from the next claim on; None leaves a value as it is.

        An event of every job that has targets there and is not over.
        """

    def configure_host(self, host: str, *, delay_ms: int | None = None, concurrency: int | None = None) -> HostLook:
        """The same by a file: a value that the file says anew is set; one that it said before leaves what people set
        since."""

    def hosts(self, *, host: str | None = None, after: str = "", limit: int = 500) -> list[HostLook]:
        """The hosts that any job met, by name, page by page; or the one that is named."""

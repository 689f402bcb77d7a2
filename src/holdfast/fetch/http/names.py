"""Names resolved and judged here before a proxy is asked (SEC-06): behind one, the address never shows in our sockets.

Every address of a name must pass, since it is the proxy that chooses. Look-ups run in daemon threads: one that hangs
must not hold up the end of the program.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress
from ipaddress import ip_address

from holdfast.clock import Clock
from holdfast.errors import FetchError
from holdfast.fetch.guard import Guard
from holdfast.fetch.http import descriptors

KEPT_S = 60
KEPT_MAX = 1000


class Names:
    """What names stand for, kept for a minute."""

    def __init__(self, guard: Guard, clock: Clock, *, deadline_s: float) -> None:
        self._guard, self._clock, self._deadline_s = guard, clock, deadline_s
        self._kept: dict[str, tuple[int, tuple[str, ...]]] = {}

    async def checked(self, host: str, port: int) -> str:
        """An address of this host, all of which may be connected to; FetchError where one may not, or none is known."""
        addresses = await self.addresses(host)
        for address in addresses:
            refusal = self._guard.refusal(address, port)
            if refusal is not None:
                raise FetchError("blocked_address", refusal)
        return addresses[0]

    async def addresses(self, host: str) -> tuple[str, ...]:
        """All addresses of this host, not judged."""
        with suppress(ValueError):
            return (str(ip_address(host.strip("[]"))),)
        now_ms = self._clock.monotonic_ms()
        kept = self._kept.get(host)
        if kept is not None and now_ms - kept[0] < KEPT_S * 1000:
            return kept[1]
        addresses = await self._look_up(host)
        if len(self._kept) >= KEPT_MAX:
            self._kept.clear()
        self._kept[host] = now_ms, addresses
        return addresses

    async def _look_up(self, host: str) -> tuple[str, ...]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[tuple[str, ...] | OSError] = loop.create_future()

        def settle(found: tuple[str, ...] | OSError) -> None:
            if not answer.done():
                answer.set_result(found)

        def look_up() -> None:
            found = _ask(host)
            with suppress(RuntimeError):  # the event loop ended first
                loop.call_soon_threadsafe(settle, found)

        try:
            threading.Thread(target=look_up, name="name-look-up", daemon=True).start()
        except RuntimeError as error:
            raise FetchError("no_resources", f"no thread could be begun for a name look-up: {error}") from error
        try:
            found = await asyncio.wait_for(answer, self._deadline_s)
        except TimeoutError:
            raise FetchError("network_timeout", f"connect: no address for {self._deadline_s:g} s") from None
        if isinstance(found, OSError) and descriptors.are_short():
            raise FetchError("no_resources", f"no descriptors to resolve {host} (ulimit -n): {found.strerror}")
        if isinstance(found, OSError):
            raise FetchError("dns_error", f"{host} could not be resolved here: {found.strerror}")
        return found


def _ask(host: str) -> tuple[str, ...] | OSError:
    try:
        rows = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        return error
    except UnicodeError:  # a label of more than 63 characters
        return socket.gaierror(socket.EAI_NONAME, "no possible name")
    return tuple(dict.fromkeys(str(row[4][0]) for row in rows))

"""What the engine asks of a recipe: code that knows one kind of source, how to plan it and how to work one target.

A recipe never writes. Its step returns an outcome, and everything in that outcome is settled in one transaction; if
the step raises, nothing of it exists and policy decides about another attempt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol

import msgspec

from holdfast.model.exchange import Headers, Response
from holdfast.model.job import FETCHING, WORK_CHUNKS, Phases
from holdfast.model.keys import Address, chunk_of_host, chunk_of_key, key_of, key_of_name
from holdfast.model.outcome import Outcome
from holdfast.model.target import Claimed, External, Found, PageRow, rank_of


class Fetch(Protocol):
    """One request, with headers of its own besides the job's; it follows no redirect."""

    def __call__(self, url: str, headers: Headers = ()) -> Awaitable[Response]: ...


class Stored(Protocol):
    """The stored body of a target, checked against its hash; NotFound where it has none."""

    def __call__(self, target: int) -> Awaitable[bytes]: ...


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a recipe knows of its job: checked params, the ledger's salt, and how the job was cut into chunks."""

    params: dict[str, Any]
    salt: bytes
    chunking: str
    barring: Callable[[Address], str] = lambda _: ""  # the robots rule known to forbid an address; empty: none
    refusal: Callable[[str], str | None] = lambda _: None  # why a URL at a literal address is never connected to
    cookies: bool = False  # whether an answer's cookies come with the next request
    max_attempts: int = 1  # tries per target
    nofollow: str = "pages"  # whose nofollow is obeyed: policy/directives.py
    phase: str = FETCHING
    settled: Callable[[], Iterator[PageRow]] = lambda: iter(())  # for the plan of a later phase: results, by target
    stored: Stored | None = None  # for steps of a later phase: the bytes that earlier ones kept

    def found(
        self, address: Address, *, depth: int, hops: int = 0, priority: int = 0, disposition: str = "", rule: str = ""
    ) -> Found:
        """A target for this address, with its key and chunk.

        With a disposition, or where robots.txt is known to forbid it, it is recorded as skipped.
        """
        key = key_of(address, self.salt)
        index = self._chunk(key, address)
        rank = rank_of(depth, priority)
        if not disposition and (forbidden := self.barring(address)):
            disposition, rule = "robots", forbidden
        return Found(
            key, index, address.origin, address.host, address.path, depth, rank, "page", hops, disposition, rule
        )

    def named(
        self, address: Address, *, type: str, depth: int = 0, priority: int = 0, name: str = "", params: str = ""
    ) -> Found:
        """A target of a recipe's own type; with a name it is known by that, whatever its URL."""
        key = key_of_name(name, self.salt) if name else key_of(address, self.salt)
        rank = rank_of(depth, priority)
        index = self._chunk(key, address)
        return Found(
            key, index, address.origin, address.host, address.path, depth, rank, type, name=name, params=params
        )

    def made(self, name: str, *, type: str, depth: int = 0, priority: int = 0, params: str = "") -> Found:
        """A target that is made of what is stored and needs no host: claimed as fast as there are hands."""
        key = key_of_name(name, self.salt)
        rank = rank_of(depth, priority)
        index = chunk_of_key(key, WORK_CHUNKS)
        return Found(key, index, "", "", name, depth, rank, type, name=name, params=params)

    def _chunk(self, key: bytes, address: Address) -> int:
        by_key = self.chunking == "key"
        return chunk_of_key(key, WORK_CHUNKS) if by_key else chunk_of_host(address.host, WORK_CHUNKS)

    def external(self, address: Address) -> External:
        """A link that leads out of scope."""
        return External(key_of(address, self.salt), address.url)


class AnyRecipe(Protocol):
    """One kind of source, as the engine calls it.

    Not named `Recipe`: that name belongs to authors, who write `Recipe("forum")` and never see this one.
    """

    name: str
    seeks: bool  # its plan follows from its params alone and can begin at any number; else it is run again and compared
    names_targets: bool  # its targets may have natural keys or params of their own
    compares: bool  # where only what is new or changed is wanted, it asks by the record of a target's last good result

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        """The params in canonical form, defaults filled in; BadParams says which one cannot be used."""

    def identity(self, params: dict[str, Any]) -> str:
        """What makes two submissions the same job."""

    def default_name(self, params: dict[str, Any]) -> str: ...

    def chunking(self, params: dict[str, Any]) -> str:
        """`key` where the scope is one host, else `host`."""

    def phases(self, params: dict[str, Any]) -> Phases:
        """The phases that a job with these params goes through."""

    def in_levels(self, params: dict[str, Any]) -> bool:
        """Whether one depth must be settled before the next is claimed: where a limit judges by depth."""

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        """The targets of the phase `context.phase`, always the same in the same order: a resumed planner counts them.

        `start` is only given to a recipe that `seeks`. PlanFailed: the recipe's own code raised. The plan of a later
        phase may read `context.settled`, what the phases before it came to: it stands still while the phase lasts.
        """

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        """Work one target."""

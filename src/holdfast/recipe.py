"""What a recipe is: code that knows one kind of source, how to plan it and how to work one target.

A recipe never writes. Its step returns an outcome, and everything in that outcome is settled in one transaction; if
the step raises, nothing of it exists and policy decides about another attempt.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol

import msgspec

from holdfast.model.exchange import Response
from holdfast.model.job import WORK_CHUNKS
from holdfast.model.keys import Address, chunk_of_host, chunk_of_key, key_of
from holdfast.model.outcome import Outcome
from holdfast.model.target import Claimed, External, Found, rank_of

Fetch = Callable[[str], Awaitable[Response]]


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a recipe knows of its job: checked params, the ledger's salt, and how the job was cut into chunks."""

    params: dict[str, Any]
    salt: bytes
    chunking: str

    def found(
        self, address: Address, *, depth: int, hops: int = 0, priority: int = 0, disposition: str = "", rule: str = ""
    ) -> Found:
        """A target for this address, with its key and chunk; with a disposition it is recorded as skipped."""
        key = key_of(address, self.salt)
        by_key = self.chunking == "key"
        index = chunk_of_key(key, WORK_CHUNKS) if by_key else chunk_of_host(address.host, WORK_CHUNKS)
        rank = rank_of(depth, priority)
        return Found(
            key, index, address.origin, address.host, address.path, depth, rank, "page", hops, disposition, rule
        )

    def external(self, address: Address) -> External:
        """A link that leads out of scope."""
        return External(key_of(address, self.salt), address.url)


class Recipe(Protocol):
    """One kind of source."""

    name: str
    phases: tuple[str, ...]

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        """The params in canonical form, defaults filled in; BadParams says which one cannot be used."""

    def identity(self, params: dict[str, Any]) -> str:
        """What makes two submissions the same job."""

    def default_name(self, params: dict[str, Any]) -> str: ...

    def chunking(self, params: dict[str, Any]) -> str:
        """`key` where the scope is one host, else `host`."""

    def in_levels(self, params: dict[str, Any]) -> bool:
        """Whether one depth must be settled before the next is claimed: where a limit judges by depth."""

    def plan(self, context: Context) -> Iterator[Found]:
        """The targets to begin with, always the same in the same order: a resumed planner counts them."""

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        """Work one target."""

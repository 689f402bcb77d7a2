"""What the engine asks of a recipe: code that knows one kind of source, how to plan it and how to work one target.

A recipe never writes. Its step returns an outcome, and everything in that outcome is settled in one transaction; if
the step raises, nothing of it exists and policy decides about another attempt.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from holdfast.errors import BadParams
from holdfast.model.artifact import BODY_BYTES_MAX, FILE_BYTES_MAX, FetchedFile
from holdfast.model.browsing import BrowserPage
from holdfast.model.exchange import Headers, Request, Response
from holdfast.model.job import FETCHING, WORK_CHUNKS, Phases
from holdfast.model.keys import Address, chunk_of_host, chunk_of_key, key_of, key_of_name
from holdfast.model.look import Generation
from holdfast.model.outcome import Body, Outcome, Record
from holdfast.model.target import Claimed, External, Found, PageRow, rank_of
from holdfast.ports import LanguageModel


class Fetch(Protocol):
    """The guarded network. Each call is one request, with headers of its own besides the job's; none follows a redirect
    (`Request.redirected` says what to ask next)."""

    def __call__(self, url: str, headers: Headers = ()) -> Awaitable[Response]:
        """A GET, its body in memory."""

    def send(self, request: Request) -> Awaitable[Response]:
        """Any request: `Request.form(...)`, `Request.json(...)`, or one by another fetcher."""

    def file(
        self, request: Request, *, into: str = "", max_bytes: int = FILE_BYTES_MAX, total_s: float | None = None
    ) -> Awaitable[FetchedFile]:
        """The body into a file, continued from where an earlier try of this target was cut off. `into` names the file
        among those of the target where its URL changes from one try to the next. It is kept by `Done(files=...)`."""

    def page(self, keep: str = "") -> AbstractAsyncContextManager[BrowserPage]:
        """A page in a browser, worked by hand: `async with fetch.page() as page`. With or without `--browser`. `keep`
        names a page that stays where it is for later targets of this process, as long as nothing goes wrong with it."""


class Stored(Protocol):
    """The stored body of a target, checked against its hash; NotFound where it has none."""

    def __call__(self, target: int) -> Awaitable[bytes]: ...


class ChunkResults(Protocol):
    """The records of a chunk's succeeded targets of these types, by target, as they are committed now. None: no such
    target. Where a recipe works in levels, everything of an earlier level is in it, and stays as it is."""

    def __call__(self, chunk: int, types: tuple[str, ...], *, label: str = "") -> Awaitable[list[PageRow]]: ...


class OtherJobRecords(Protocol):
    """Records of the targets of one type of another job of this ledger, by its id, as of these commit numbers: at most
    `limit` behind (target, generation, n). NotFound where the job is not there."""

    def __call__(
        self, job: str, type: str, commits: Mapping[str, int], after: tuple[int, int, int], limit: int
    ) -> Awaitable[list[Generation]]: ...


class PhaseResults(Protocol):
    """Records of these kinds, by target: what earlier phases came to. It stands still while a phase lasts, and is read
    a bounded number at a time."""

    def __call__(self, kinds: tuple[str, ...]) -> AsyncIterator[PageRow]: ...


class Archived(Protocol):
    """The URLs of the pages in an archive, always in the same order, from a number on."""

    def __call__(self, start: int) -> Iterator[str]: ...


async def _no_results(kinds: tuple[str, ...]) -> AsyncIterator[PageRow]:
    rows: tuple[PageRow, ...] = ()
    for row in rows:
        yield row


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What a recipe knows of its job: checked params, the ledger's salt, and how the job was cut into chunks."""

    params: dict[str, Any]
    salt: bytes
    chunking: str
    barring: Callable[[Address], str] = lambda _: ""  # the robots rule known to forbid an address; empty: none
    refusal: Callable[[str], str | None] = lambda _: None  # why a URL at a literal address is never connected to
    cookies: bool = False  # whether an answer's cookies come with the next request
    browser: bool = False  # whether its pages are fetched with Chromium
    max_attempts: int = 1  # tries per target
    max_bytes: int = BODY_BYTES_MAX  # of one answer, by the options of the job
    nofollow: str = "pages"  # whose nofollow is obeyed: policy/directives.py
    phase: str = FETCHING
    settled: Callable[[], Iterator[PageRow]] = lambda: iter(())  # for the plan of a later phase: results, by target
    stored: Stored | None = None  # for steps of a later phase: the bytes that earlier ones kept
    results: PhaseResults = _no_results  # likewise: their records
    of_chunk: ChunkResults | None = None  # for steps that judge over what other steps of their chunk have found out
    of_job: OtherJobRecords | None = None  # for steps that compare with what another job holds
    chunks: dict[str, int] = {}  # name -> index, of a job whose chunks have names
    chunk_count: int = WORK_CHUNKS
    model: LanguageModel | None = None  # words what a step knows, where the job names a service for that
    kept: Callable[[str], Path] = Path  # where a file of this name below the artifacts folder is, or would be
    archived: Archived | None = None  # the pages of an archive that is read in place of the web: no host is asked

    def found(
        self,
        address: Address,
        *,
        depth: int,
        type: str = "page",
        hops: int = 0,
        priority: int = 0,
        disposition: str = "",
        rule: str = "",
        chunk: str = "",
    ) -> Found:
        """A target for this address, with its key, in the chunk of this name or in that of its key or host.

        With a disposition, or where robots.txt is known to forbid it, it is recorded as skipped.
        """
        key = key_of(address, self.salt)
        index = self._chunk(key, address, chunk)
        rank = rank_of(depth, priority)
        if not disposition and (forbidden := self.barring(address)):
            disposition, rule = "robots", forbidden
        host = address.host if self.archived is None else ""
        return Found(key, index, address.origin, host, address.path, depth, rank, type, hops, disposition, rule)

    def named(
        self,
        address: Address,
        *,
        type: str,
        depth: int = 0,
        priority: int = 0,
        name: str = "",
        params: str = "",
        chunk: str = "",
    ) -> Found:
        """A target of a recipe's own type; with a name it is known by that, whatever its URL."""
        key = key_of_name(name, self.salt) if name else key_of(address, self.salt)
        rank = rank_of(depth, priority)
        index = self._chunk(key, address, chunk)
        host = address.host if self.archived is None else ""
        return Found(key, index, address.origin, host, address.path, depth, rank, type, name=name, params=params)

    def made(
        self, name: str, *, type: str, depth: int = 0, priority: int = 0, params: str = "", chunk: str = ""
    ) -> Found:
        """A target that is made of what is stored and needs no host: claimed as fast as there are hands."""
        key = key_of_name(name, self.salt)
        rank = rank_of(depth, priority)
        index = self._chunk(key, None, chunk)
        return Found(key, index, "", "", name, depth, rank, type, name=name, params=params)

    def _chunk(self, key: bytes, address: Address | None, name: str) -> int:
        if name:
            if name not in self.chunks:
                raise BadParams(f"this job has no chunk {name!r}")
            return self.chunks[name]
        if address is None or self.chunking == "key":
            return chunk_of_key(key, self.chunk_count)
        return chunk_of_host(address.host, self.chunk_count)

    def external(self, address: Address) -> External:
        """A link that leads out of scope."""
        return External(key_of(address, self.salt), address.url)


class Kept(msgspec.Struct, frozen=True):
    """What is stored of a target: its answer as it came, and the records that were made of it."""

    body: Body
    records: tuple[Record, ...]


@runtime_checkable
class Reparses(Protocol):
    """A recipe that tells fetching from reading: it can read a stored answer again without asking for anything.

    Other recipes have their step run again, with a `fetch` that knows only the stored answer.
    """

    async def reparse(self, here: Claimed, kept: Kept, context: Context) -> Outcome:
        """What the stored answer comes to."""


def numbered(names: tuple[str, ...]) -> dict[str, int]:
    """Chunks by name, as a context has them: names in the order of their indices."""
    return {name: index for index, name in enumerate(names) if name}


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

    def chunks(self, params: dict[str, Any]) -> tuple[str, ...]:
        """Names of the chunks that a job is cut into, such as its keywords; none: it is cut by `chunking`.

        The targets of a chunk are leased together, and `status --by chunk` counts them.
        """

    def first_urls(self, params: dict[str, Any]) -> tuple[str, ...]:
        """Where the plan begins, to be refused at once where it must not be fetched."""

    def planned_total(self, params: dict[str, Any]) -> int | None:
        """How many targets the plan has; None where only working it tells."""

    def phases(self, params: dict[str, Any]) -> Phases:
        """The phases that a job with these params goes through."""

    def in_levels(self, params: dict[str, Any]) -> bool:
        """Whether one depth must be settled before the next is claimed: where a limit judges by depth, or a step over
        what the steps before it have found out."""

    def plan(self, context: Context, start: int = 0) -> Iterator[Found]:
        """The targets of the phase `context.phase`, always the same in the same order: a resumed planner counts them.

        `start` is only given to a recipe that `seeks`. PlanFailed: the recipe's own code raised. The plan of a later
        phase may read `context.settled`, what the phases before it came to: it stands still while the phase lasts.
        """

    async def step(self, here: Claimed, fetch: Fetch, context: Context) -> Outcome:
        """Work one target."""

"""The `fetch` that a step is handed: every request goes by robots.txt and takes its turn at the host it is sent to.

A claim is the turn of one request to the target's own host, so a page of a site costs nothing more than a look-up of
its robots rules. Whatever else a step asks for takes a turn of its own in the ledger, which all workers share.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from weakref import ref

import msgspec

from holdfast.clock import Clock, jittered
from holdfast.engine.blocks import Blocks
from holdfast.engine.downloads import Downloads
from holdfast.engine.fetchers import Fetchers
from holdfast.engine.ledger_thread import LedgerThread
from holdfast.engine.pace import Pace
from holdfast.engine.robots import RobotsBook
from holdfast.errors import BadParams, Disallowed, FetchError, HostWaits, RobotsUnreachable
from holdfast.model.artifact import FILE_BYTES_MAX, FetchedFile, Keep
from holdfast.model.browsing import BrowserPage
from holdfast.model.exchange import BROWSER, HTTP, REDIRECTS, Headers, Request, Response
from holdfast.model.host import FAILED, UNTOLD, Visited
from holdfast.model.job import Options
from holdfast.model.keys import Address, canonical
from holdfast.model.target import Claimed
from holdfast.policy.politeness import OF_THE_HOST, ROBOTS_REDIRECTS_MAX, visited_of
from holdfast.policy.retry import backoff, read_retry_after
from holdfast.policy.robots import Robots
from holdfast.ports import Browsing, Files, FileSink, Keeping

if TYPE_CHECKING:
    from random import Random

PATIENCE_MS = 1_000  # a turn that is further away is not taken yet: it might be recalled
LOOK_AGAIN_MS_MAX = 5_000
FAR_MS = 5_000  # a target that waits for another host gives its own slot back after this
SLOT_WITHIN_MS = 10_000
SLOT_JITTER = 0.5  # two that wait for each other's slot do not give up together
BACK_AFTER_MS_MIN = 2_000
MAKE_WAY_MS = 900  # less than PATIENCE_MS: visitors can take a turn meanwhile, claims cannot
AT_HOME_S = 0.02
HELD_FROM = 65_536  # smaller answers are not counted: all that the steps of a worker can hold of them is little


class Fetching:
    """What the steps of one job share: the network, the pace and the robots book."""

    def __init__(
        self,
        fetchers: Fetchers,
        book: RobotsBook,
        thread: LedgerThread,
        clock: Clock,
        options: Options,
        random: Random,
        pace: Pace,
        blocks: Blocks,
        files: Files | None = None,
        *,
        asks_hosts: bool = True,
    ) -> None:
        self.asks_hosts = asks_hosts  # False: an archive answers, and no turn is waited for
        self.fetcher, self._fetchers = fetchers.http, fetchers
        self.book, self._thread, self.clock = book, thread, clock
        self._options, self._random, self._pace = options, random, pace
        self._far_ms = max(FAR_MS, 2 * options.delay_ms)
        self.blocks = blocks if options.detect_blocks else None
        self._files = files
        self.by = BROWSER if options.browser else HTTP  # the fetcher of pages; robots.txt always goes by HTTP
        self.held_bytes = 0  # of answers that steps were given and have not ended with

    def downloads(self, claimed: Claimed) -> Downloads:
        """For the files of one attempt."""
        if self._files is None:
            raise BadParams("this job has no place for files")
        return Downloads(self._files, claimed)

    async def send(self, request: Request, sink: FileSink | None = None) -> Response:
        """By the fetcher that the request names; its body into a file, where there is one."""
        fetcher = self._fetchers.named(request.by)
        return await (fetcher.fetch(request) if sink is None else fetcher.download(request, sink))

    async def visit(
        self, request: Request, host: str, claimed: Claimed, *, may_wait: bool, sink: FileSink | None = None
    ) -> Response:
        """A request in the host's next turn, waited for. HostWaits: it is far away; the target is better given back.

        What came of a visit elsewhere is told to that host's row at once; at home, the target's verdict tells it.
        """
        ticket, visited = secrets.token_hex(8), UNTOLD
        try:
            await self._take(host, claimed, ticket, may_wait)
            await self._in_pace(host, claimed)
            response = await self.send(request, sink)
            visited = self._visited(response, claimed)
            return response
        except FetchError as error:
            visited = Visited(FAILED if error.code in OF_THE_HOST else None)
            raise
        finally:
            if host != claimed.host:
                await self._thread.insist(lambda ledger: ledger.leave(ticket, visited))

    async def pass_by(self, host: str, claimed: Claimed, *, may_wait: bool) -> None:
        """Wait for the host's next turn on behalf of a request that is sent elsewhere, such as by a browser."""
        ticket = secrets.token_hex(8)
        try:
            await self._take(host, claimed, ticket, may_wait)
            await self._in_pace(host, claimed)
        finally:
            if host != claimed.host:
                await self._thread.insist(lambda ledger: ledger.leave(ticket, UNTOLD))

    def browsing(self) -> Browsing:
        """The fetcher that has pages to be worked by hand; BadParams where it cannot be had."""
        fetcher = self._fetchers.named(BROWSER)
        if not isinstance(fetcher, Browsing):
            raise BadParams("this fetcher has no pages")
        return fetcher

    async def _in_pace(self, host: str, claimed: Claimed) -> None:
        """Claims of this worker may have begun later than they were made: the last word falls when a request begins."""
        while (wait_ms := self._pace.wait_ms(host, self.clock.monotonic_ms())) > 0:
            if host != claimed.host and wait_ms > self._far_ms:
                raise self._elsewhere(host, wait_ms)
            await self.clock.wait(min(wait_ms, LOOK_AGAIN_MS_MAX) / 1000)
        self._pace.started(host, self.clock.monotonic_ms())

    def _visited(self, response: Response, claimed: Claimed) -> Visited:
        asked_s = read_retry_after(response.header("retry-after"), self.clock.wall_ms())
        return visited_of(response.status, asked_s, backoff(claimed.attempts, self._random))

    async def _take(self, host: str, claimed: Claimed, ticket: str, may_wait: bool) -> None:
        options = self._options
        delay_ms = round(jittered(options.delay_ms, options.jitter, self._random))
        away = host != claimed.host
        slot_within_ms = jittered(max(SLOT_WITHIN_MS, 2 * self._far_ms), SLOT_JITTER, self._random)
        give_up_ms = self.clock.monotonic_ms() + slot_within_ms
        while True:
            turn = await self._thread.insist(
                lambda ledger: ledger.turn(
                    host,
                    claimed,
                    ticket=ticket,
                    delay_ms=delay_ms,
                    per_host=options.per_host,
                    patience_ms=PATIENCE_MS,
                )
            )
            if turn.taken:
                await self.clock.wait(turn.wait_ms / 1000)
                return
            if not may_wait:
                raise HostWaits(f"{host} is asked again in {turn.wait_ms / 1000:.1f} s", hold_ms=0)
            if away and turn.wait_ms > self._far_ms:
                raise self._elsewhere(host, turn.wait_ms)
            if away and self.clock.monotonic_ms() > give_up_ms:
                raise self._elsewhere(host, turn.wait_ms, make_way_ms=MAKE_WAY_MS)
            wait_ms = max(turn.wait_ms - PATIENCE_MS // 2, turn.wait_ms // 2)
            await self.clock.wait(min(wait_ms, LOOK_AGAIN_MS_MAX) / 1000)

    def _elsewhere(self, host: str, turn_ms: int, make_way_ms: int = 0) -> HostWaits:
        """The target waits without its slot, and comes again at a time of its own.

        `make_way_ms`: for this time nothing is claimed at its own host. Requests waiting for a slot at this host get it
        before the next claim; this breaks mutual waits.
        """
        wait_ms = round(max(turn_ms, BACK_AFTER_MS_MIN) * (1.0 + self._random.random() / 2))
        because = f"waits for a turn at {host}, asked for again in {wait_ms / 1000:.0f} s"
        return HostWaits(because, hold_ms=make_way_ms, wait_ms=wait_ms)


class StepFetch:
    """Fulfils `recipe.Fetch` for one attempt at one target. It follows no redirect: each hop is another call."""

    __slots__ = ("_at_home", "_claimed", "_downloads", "_held", "_job", "_sent", "_unused", "elsewhere")

    def __init__(self, job: Fetching, claimed: Claimed, *, late: bool = False) -> None:
        self._job, self._claimed = job, claimed
        self._downloads: Downloads | None = None
        self._unused = not late  # the turn that the claim took
        self._at_home = False  # whether a request to the target's own host is under way
        self._sent = late  # given back and claimed anew, it might be late again
        self.elsewhere = False  # whether the last request was sent to another host
        self._held: dict[int, tuple[ref[Response], int]] = {}  # answers that the step was given and has not let go of

    async def __call__(self, url: str, headers: Headers = ()) -> Response:
        response = await self._answer(url, headers)
        if len(response.body) >= HELD_FROM:
            self._hold(response)
        blocks = self._job.blocks
        if blocks is not None and not blocks.is_clear(response):
            await blocks.check(response, self._claimed)
        return response

    async def send(self, request: Request) -> Response:
        """Any request: a form, JSON, or one by another fetcher."""
        response = await self._asked(request)
        self._hold(response)
        if self._job.blocks is not None:
            await self._job.blocks.check(response, self._claimed)
        return response

    async def file(
        self, request: Request, *, into: str = "", max_bytes: int = FILE_BYTES_MAX, total_s: float | None = None
    ) -> FetchedFile:
        """The body into a file. `into` names what an earlier try of this target may have left, where URLs change from
        one try to the next; `total_s` is how long it may take, and without it only a connection that stands still ends
        the download."""
        if self._downloads is None:
            self._downloads = self._job.downloads(self._claimed)
        try:
            async with asyncio.timeout(total_s):
                fetched = await self._downloads.fetch(request, self._asked, into=into, bytes_max=max_bytes)
        except TimeoutError:
            raise FetchError("network_timeout", f"total: not complete after {total_s:g} s") from None
        if self._job.blocks is not None and not fetched:
            answer = Response(url=fetched.url, status=fetched.status, headers=fetched.headers, body=fetched.body)
            await self._job.blocks.check(answer, self._claimed)
        return fetched

    @asynccontextmanager
    async def page(self, keep: str = "") -> AsyncIterator[BrowserPage]:
        """A page in the browser, worked by hand: each of its documents goes by robots.txt and takes its turn."""
        async with self._job.browsing().page(self._admit, keep) as page:
            yield page

    async def _admit(self, url: str) -> None:
        address = canonical(url)
        if address is None:
            raise FetchError("bad_url", f"{url[:200]!r} is not an http or https URL that can be asked for")
        self._obey(await self._rules(address), address.path, address.url)
        self.elsewhere = address.host != self._claimed.host
        if self._unused and not self.elsewhere:
            self._unused = False
        else:
            await self._job.pass_by(address.host, self._claimed, may_wait=self._sent or self.elsewhere)
        self._sent = True

    def taken(self, files: Sequence[Keep]) -> tuple[Keeping, ...]:
        """Files that get their names before the commit of their target."""
        if self._downloads is None:
            self._downloads = self._job.downloads(self._claimed)
        return self._downloads.taken(files)

    @property
    def has_files(self) -> bool:
        return self._downloads is not None

    async def close(self, *, continues: bool) -> None:
        """Files that were not kept are let go of; `continues`: another try may need them."""
        if self._downloads is not None:
            await self._downloads.close(continues=continues)

    def _hold(self, response: Response) -> None:
        held = ref(response, self._let_go)
        self._held[id(held)] = held, len(response.body)
        self._job.held_bytes += len(response.body)

    def end(self) -> None:
        """The step is over: what it kept of its answers is in what it returned."""
        if self._held:
            self._job.held_bytes -= sum(size for _, size in self._held.values())
            self._held.clear()

    def _let_go(self, held: ref[Response]) -> None:
        self._job.held_bytes -= self._held.pop(id(held), (held, 0))[1]

    async def _answer(self, url: str, headers: Headers) -> Response:
        job = self._job
        if self._unused and url == self._claimed.url:
            at = url.find("/", 8)
            rules = job.book.known(url[:at])
            if rules is not None:
                self._unused = False
                self._obey(rules, url[at:], url)
                self._sent = True
                return await self._in_the_claims_turn(Request(url, headers, by=job.by))
        return await self._asked(Request(url, headers, by=job.by))

    async def _asked(self, request: Request, sink: FileSink | None = None) -> Response:
        """Robots first, then the host's turn."""
        address = canonical(request.url)
        if address is None:
            raise FetchError("bad_url", f"{request.url[:200]!r} is not an http or https URL that can be asked for")
        if request.url != address.url:
            request = msgspec.structs.replace(request, url=address.url)
        self._obey(await self._rules(address), address.path, address.url)
        self.elsewhere = address.host != self._claimed.host
        # A target that has asked for nothing yet is better given back than kept waiting for its own host.
        response = await self._request(address, request, may_wait=self._sent or self.elsewhere, sink=sink)
        self._sent = True
        return response

    def _obey(self, rules: Robots, path: str, url: str) -> None:
        rule = rules.barring(path)
        if rule:
            self._job.book.tell_unchecked(url[: url.find("/", 8)], rule)
            raise Disallowed(f"robots.txt forbids {url[:200]}", rule=rule)

    async def _in_the_claims_turn(self, request: Request, sink: FileSink | None = None) -> Response:
        self._at_home = True
        try:
            if sink is None and request.by == HTTP:
                return await self._job.fetcher.fetch(request)
            return await self._job.send(request, sink)
        finally:
            self._at_home = False

    async def _rules(self, address: Address) -> Robots:
        """What is known, or found out now; what then waits at the target's own host has used its claim's turn up."""
        rules = self._job.book.known(address.origin)
        if rules is not None:
            return rules
        own = address.host == self._claimed.host
        try:
            rules, took_a_while = await self._job.book.learn(
                address.origin, address.host, self._claimed, self._robots_txt
            )
        except (HostWaits, RobotsUnreachable) as error:
            if own or (isinstance(error, HostWaits) and error.wait_ms is not None):
                raise
            raise FetchError("robots_unreachable", error.message) from error
        self._unused = self._unused and not (own and took_a_while)
        return rules

    async def _robots_txt(self, url: str) -> Response:
        """Redirects are followed, to other hosts too: they are checked, and take their turns, like any request."""
        for _ in range(ROBOTS_REDIRECTS_MAX + 1):
            address = canonical(url)
            if address is None:
                break
            response = await self._request(address, Request(address.url), may_wait=True)
            if response.status not in REDIRECTS:
                return response
            there = canonical(response.header("location") or "about:blank", address.url)
            url = there.url if there else ""
        return Response(url=url, status=404, headers=(), body=b"")

    async def _request(
        self, address: Address, request: Request, *, may_wait: bool, sink: FileSink | None = None
    ) -> Response:
        """A step that asks its own host for several pages at once gets one after the other: it has one slot there."""
        if not self._job.asks_hosts:
            return await self._job.send(request, sink)
        if address.host != self._claimed.host:
            return await self._job.visit(request, address.host, self._claimed, may_wait=may_wait, sink=sink)
        while self._at_home:
            await self._job.clock.wait(AT_HOME_S)
        if self._unused:
            self._unused = False
            return await self._in_the_claims_turn(request, sink)
        self._at_home = True
        try:
            return await self._job.visit(request, address.host, self._claimed, may_wait=may_wait, sink=sink)
        finally:
            self._at_home = False

"""Answers that are made to cost time or memory: the event loop has its turn, and the budget is kept (SEC-07)."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from time import process_time

import pycurl
import pytest
from backports import zstd

from fetch.fetching import ending, fetching
from fetch.hostile import Behaviour, HostileSite, answer, encoded
from holdfast.errors import FetchError
from holdfast.fetch.cookies import ALL_MAX, LOOK_EVERY, PER_DOMAIN_MAX, CookieJar, bounded
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.fetcher import HttpFetcher
from holdfast.fetch.http.in_flight import BytesInFlight
from holdfast.fetch.http.route import Route
from holdfast.model.exchange import Budget, Request, Response

EMPTY_FRAME = zstd.compress(b"")
LARGE = bytes(2_000_000)
SCENE_S_MAX = 30.0
LAG_S_MAX = 0.1  # 0.02 s, and what the site itself does meanwhile


def empty_blocks(count: int) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return packer.compress(b"") + packer.flush(zlib.Z_SYNC_FLUSH) + b"\0\0\0\xff\xff" * count + packer.flush()


def burst(unpacked_bytes: int) -> bytes:
    """Honest noise first, so that the ratio is kept, and then everything at once."""
    packer = zlib.compressobj(9, wbits=31)
    noise = bytes(range(256)) + b"".join(zlib.crc32(b"%d" % n).to_bytes(4) for n in range(150_000))
    return packer.compress(noise) + packer.compress(bytes(unpacked_bytes)) + packer.flush()


def play(
    pages: dict[str, Behaviour], scene: Callable[[HostileSite, HttpFetcher], Awaitable[None]], **more: object
) -> None:
    async def played() -> None:
        async with (
            asyncio.timeout(SCENE_S_MAX),
            HostileSite(more=pages) as site,
            fetching(Guard(allow=(site.address,)), **more) as fetcher,
        ):
            await scene(site, fetcher)

    asyncio.run(played())


async def slow_at_the_end(writer: asyncio.StreamWriter) -> None:
    """All of them are nearly complete at the same time. The site itself holds little of them."""
    writer.write(answer(b"", length=len(LARGE)))
    for at in range(0, len(LARGE), 50_000):
        if at + 50_000 == len(LARGE):
            await asyncio.sleep(1)
        writer.write(LARGE[at : at + 50_000])
        await writer.drain()


class Lag:
    """`async with`: the most processor time that passed before the event loop had its turn; others' does not count."""

    async def __aenter__(self) -> Lag:
        self.worst_s = 0.0
        self._task = asyncio.create_task(self._watch())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            began_s = process_time()
            await asyncio.sleep(0.001)
            self.worst_s = max(self.worst_s, process_time() - began_s)


@pytest.mark.parametrize(
    ("wire", "encodings", "code"),
    [
        (EMPTY_FRAME * 74_000, ("zstd",), "bomb"),
        (gzip.compress(EMPTY_FRAME * 100_000), ("zstd", "gzip"), "bomb"),
        (gzip.compress(b"") * 40_000, ("gzip",), "bomb"),
        (b"\x50\x2a\x4d\x18\0\0\0\0" * 80_000, ("zstd",), "bomb"),
        (empty_blocks(800_000), ("gzip",), "none"),
        (burst(40_000_000), ("gzip",), "none"),
    ],
    ids=["zstd frames", "zstd frames in gzip", "gzip members", "skippable frames", "empty blocks", "a burst"],
)
def test_no_body_keeps_the_event_loop_or_much_of_the_processor(
    wire: bytes, encodings: tuple[str, ...], code: str
) -> None:
    """SEC-07. 665 kB of empty frames took 97 s."""

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        began_s = process_time()
        async with Lag() as lag:
            end = await ending(fetcher, site.url("/attack"))
            assert (await fetcher.fetch(Request(site.url("/ok")))).status == 200
        assert (end.code if isinstance(end, FetchError) else "none") == code
        assert lag.worst_s < LAG_S_MAX
        assert process_time() - began_s < 2.0

    play({"/attack": encoded(wire, *encodings)}, scene, budget=Budget(total_s=20.0))


def test_decoding_goes_on_a_slice_at_a_time_and_ends_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    """SEC-07: the deadline of the exchange holds while there is only decoding left to do."""
    monkeypatch.setattr("holdfast.fetch.http.exchange.SLICE_MS", 0)
    monkeypatch.setattr("holdfast.fetch.http.fetcher.SLICE_MS", 0)  # 40 ms for each step of 64 kB

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        end = await ending(fetcher, site.url("/long"))
        assert isinstance(end, FetchError)
        assert str(end) == "total: not complete after 1 s"
        end = await ending(fetcher, site.url("/short"))
        assert isinstance(end, Response)
        assert len(end.body) == 500_000

    pages: dict[str, Behaviour] = {
        "/long": encoded(gzip.compress(bytes(5_000_000)), "gzip"),
        "/short": encoded(gzip.compress(bytes(500_000)), "gzip"),
    }
    play(pages, scene, budget=Budget(total_s=1.0, ratio_max=10_000), concurrency=1)


def test_bodies_wait_for_each_other_where_they_would_fill_the_memory() -> None:
    """SEC-07: 24 bodies of 49 MB took 1.2 GB; the budget and one body more is the bound."""
    in_flight = BytesInFlight(5_000_000)

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        async def one() -> int:
            return len((await fetcher.fetch(Request(site.url("/large")))).body)

        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            assert sum(await asyncio.gather(*(one() for _ in range(24)))) == 24 * len(LARGE)
            peak = tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
        assert peak < 5_000_000 + 3 * len(LARGE) + 24 * 300_000  # and what sockets and libcurl hold of each

    budget = Budget(body_bytes_max=2_000_000, total_s=SCENE_S_MAX)
    play({"/large": slow_at_the_end}, scene, budget=budget, concurrency=24, in_flight=in_flight)


def test_what_was_given_out_counts_until_it_is_let_go() -> None:
    """SEC-07: a body that waits for its commit is held too. Our own waiting is not the host's silence."""
    held = [(0, 6_000_000)]
    in_flight = BytesInFlight(5_000_000, lambda: held[0])

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        in_flight.look()
        waiting = [asyncio.create_task(fetcher.fetch(Request(site.url("/large")))) for _ in range(2)]
        assert not (await asyncio.wait(waiting, timeout=1.0))[0]
        held[0] = (0, 0)
        assert [len(response.body) for response in await asyncio.gather(*waiting)] == [len(LARGE)] * 2

    budget = Budget(body_bytes_max=2_000_000, idle_s=0.2, first_byte_s=0.2, total_s=0.8)
    play({"/large": answer(LARGE)}, scene, budget=budget, in_flight=in_flight)


def test_a_step_that_holds_much_and_asks_for_more_is_answered() -> None:
    """One body always goes on, where no commit would make room: what is held could wait for it."""
    in_flight = BytesInFlight(1_000_000, lambda: (50_000_000, 0))

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        in_flight.look()
        asked = [asyncio.create_task(fetcher.fetch(Request(site.url("/large")))) for _ in range(3)]
        assert [len(response.body) for response in await asyncio.gather(*asked)] == [len(LARGE)] * 3

    budget = Budget(body_bytes_max=2_000_000, total_s=5)
    play({"/large": answer(LARGE)}, scene, budget=budget, in_flight=in_flight)


def test_a_handle_whose_body_had_to_wait_serves_the_next_exchange() -> None:
    held = [10]
    in_flight = BytesInFlight(1, lambda: (held[0], 0))

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        first = asyncio.create_task(fetcher.fetch(Request(site.url("/stalls"))))
        await site.asked.acquire()
        await asyncio.sleep(0.1)
        waits = asyncio.create_task(fetcher.fetch(Request(site.url("/large"))))
        await site.asked.acquire()
        await asyncio.sleep(0.1)
        for task in (waits, first):
            task.cancel()
        await asyncio.gather(first, waits, return_exceptions=True)
        held[0] = 0
        for _ in range(3):
            assert len((await fetcher.fetch(Request(site.url("/large")))).body) == len(LARGE)
        assert len(fetcher._all) == 2

    play({"/large": answer(LARGE)}, scene, budget=Budget(body_bytes_max=2_000_000), concurrency=2, in_flight=in_flight)


def test_a_site_that_sets_new_cookies_with_every_page_costs_no_more_for_each() -> None:
    """SEC-07: 1,500 pages with 45 cookies each took 179 s; the newest are kept, so a session goes on."""
    jar, pages = CookieJar(), 300

    def set_cookies(head: bytes) -> bytes:
        page = int(head.split()[1].rpartition(b"/")[2])
        return answer(b"frog", *(f"Set-Cookie: c{page}-{n}={'x' * 40}" for n in range(45)))

    async def played() -> None:
        async with (
            asyncio.timeout(SCENE_S_MAX),
            HostileSite(choose=set_cookies) as site,
            fetching(Guard(allow=(site.address,)), route=Route(jar=jar), concurrency=1) as fetcher,
        ):
            began_s = process_time()
            for page in range(pages):
                await fetcher.fetch(Request(site.url(f"/{page}")))
            assert process_time() - began_s < 1.0
            kept = fetcher._all[0].curl.getinfo(pycurl.INFO_COOKIELIST)
            assert PER_DOMAIN_MAX <= len(kept) <= PER_DOMAIN_MAX + LOOK_EVERY + 45
            assert any(f"\tc{pages - 1}-44\t" in line for line in kept)

    asyncio.run(played())


def test_the_oldest_cookies_of_the_fullest_domains_go_first() -> None:
    def line(domain: str, n: int) -> str:
        return f"{domain}\tTRUE\t/\tFALSE\t0\tname{n}\tvalue"

    assert bounded([line("#HttpOnly_.pond.test", n) for n in range(200)]) == [
        line("#HttpOnly_.pond.test", n) for n in range(20, 200)
    ]
    many = [line(f"{domain}.test", n) for domain in range(100) for n in range(180)]
    kept = bounded([*many, line("one.test", 0)])
    assert len(kept) <= ALL_MAX
    assert kept[-1] == line("one.test", 0)
    assert len(bounded([line(f"{domain}.test", 0) for domain in range(5000)])) == ALL_MAX

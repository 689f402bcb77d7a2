"""The fetcher itself: what it sends, whom it connects to, how it ends (H1, H5, H6, SEC-06)."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from fetch.fetching import TEST_S_MAX, code_of, ending, fetching, make_fetcher, on_site
from fetch.hostile import PAGE, HostileSite
from holdfast.errors import BadParams, FetchError, HoldfastError
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.fetcher import HttpFetcher
from holdfast.fetch.http.loop import CurlLoop
from holdfast.model.exchange import Request


def test_a_request_says_who_asks_and_what_can_be_decoded() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        await fetcher.fetch(Request(site.url("/ok?q=1#part")))
        head = site.heads[0].decode()
        assert head.startswith(f"GET /ok?q=1 HTTP/1.1\r\nHost: {site.address}\r\n")
        assert "\r\nUser-Agent: holdfast-test\r\n" in head
        assert "\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n" in head
        assert "\r\nAccept-Language: en\r\n" in head

    on_site(scene, headers=(("Accept-Language", "en"),))


def test_headers_of_one_request_are_not_sent_with_the_next() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        await fetcher.fetch(Request(site.url("/ok"), (("If-None-Match", '"w"'), ("X-Empty", ""))))
        await fetcher.fetch(Request(site.url("/ok")))
        assert b'\r\nIf-None-Match: "w"\r\nX-Empty:\r\n' in site.heads[0]
        assert b"If-None-Match" not in site.heads[1]
        assert b"holdfast-test" in site.heads[1]

    on_site(scene, concurrency=1)


@pytest.mark.parametrize(
    "header", [("X", "a\r\nY: b"), ("X", "a\nb"), ("X\r\nY", "b"), ("X", "a\0"), ("X:", "b"), ("", "b")]
)
def test_a_header_that_would_become_two_is_refused(header: tuple[str, str]) -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        with pytest.raises(BadParams, match="cannot be sent"):
            await fetcher.fetch(Request(site.url("/ok"), (header,)))
        assert site.heads == []
        assert (await fetcher.fetch(Request(site.url("/ok")))).status == 200

    on_site(scene, concurrency=1)
    with pytest.raises(BadParams, match="cannot be sent"):
        make_fetcher(Guard(), headers=(header,))


def test_cookies_are_not_kept() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        for _ in range(2):
            await fetcher.fetch(Request(site.url("/ok")))
        assert not any(b"cookie" in head.lower() for head in site.heads)

    on_site(scene)


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        async with HostileSite() as proxy:
            for name in ("http_proxy", "all_proxy", "ALL_PROXY"):
                monkeypatch.setenv(name, f"http://{proxy.address}")
            assert (await fetcher.fetch(Request(site.url("/ok")))).body == PAGE
            assert proxy.connections == 0

    on_site(scene)


def test_three_hundred_pages_in_a_row_use_one_connection_and_one_handle() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        for number in range(300):
            assert (await fetcher.fetch(Request(site.url(f"/ok?{number}")))).body == PAGE
        assert (site.connections, len(site.heads), len(fetcher._all)) == (1, 300, 1)

    on_site(scene)


def test_a_kept_connection_that_died_meanwhile_is_replaced() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        for _ in range(3):
            assert (await fetcher.fetch(Request(site.url("/closes-after")))).body == PAGE
        assert site.connections == 3

    on_site(scene)


def test_a_resting_connection_that_is_closed_wakes_us_once_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stays registered between two exchanges; libcurl is not interested in it then, so nobody would read its end."""
    looks: list[int] = []
    look = CurlLoop._on_ready
    monkeypatch.setattr(CurlLoop, "_on_ready", lambda loop: (looks.append(1), look(loop)))

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        for _ in range(3):
            assert (await fetcher.fetch(Request(site.url("/closes-after")))).body == PAGE
            await site.left.acquire()
            before = len(looks)
            for _ in range(200):
                await asyncio.sleep(0)
            assert len(looks) - before <= 2
        assert site.connections == 3

    on_site(scene)


def test_a_number_that_another_socket_has_now_is_watched_anew() -> None:
    """Two hosts in turn, each closing its connection: the same descriptor belongs now to the one, now to the other."""

    async def play() -> None:
        async with (
            asyncio.timeout(TEST_S_MAX),
            HostileSite() as frog,
            HostileSite() as toad,
            fetching(Guard(allow=(frog.address, toad.address)), concurrency=1) as fetcher,
        ):
            for site in (frog, toad) * 6:
                assert (await fetcher.fetch(Request(site.url("/closes-after")))).body == PAGE
                await site.left.acquire()
            assert (frog.connections, toad.connections) == (6, 6)

    asyncio.run(play())


def test_no_more_than_the_agreed_number_is_asked_at_once() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        tasks = [asyncio.create_task(ending(fetcher, site.url("/half-open"))) for _ in range(3)]
        for _ in range(2):
            await site.asked.acquire()
        assert (site.connections, len(site.heads)) == (2, 2)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    on_site(scene, concurrency=2)


def test_cancelling_drops_the_connection_at_once_and_frees_the_slot() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        task = asyncio.create_task(fetcher.fetch(Request(site.url("/half-open"))))
        await site.asked.acquire()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await site.left.acquire()
        assert (await fetcher.fetch(Request(site.url("/ok")))).body == PAGE

    on_site(scene, concurrency=1)


def test_an_answer_that_arrives_as_its_caller_is_cancelled_disturbs_nobody() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        complaints: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, complaint: complaints.append(complaint))
        task = asyncio.create_task(fetcher.fetch(Request(site.url("/ok"))))
        await site.asked.acquire()  # the answer is in the socket, and our loop has not looked yet
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await code_of(fetcher, site.url("/ok")) == "none"
        assert complaints == []

    on_site(scene)


# The guard, at the moment of connecting.


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0.0.0.0", "[::ffff:127.0.0.1]"])
def test_a_private_address_is_not_connected_to_however_it_is_spelled(host: str) -> None:
    async def play() -> None:
        async with HostileSite() as site, fetching(Guard()) as fetcher:
            end = await ending(fetcher, f"http://{host}:{site.port}/ok")
            assert getattr(end, "code", end) == "blocked_address"
            assert "is a private address; refused. To allow: --allow-private" in str(end)
            assert site.connections == 0

    asyncio.run(play())


def test_an_allowed_endpoint_lets_no_other_port_through_sec_06() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        async with HostileSite() as other:
            assert await code_of(fetcher, other.url("/ok")) == "blocked_address"
            assert await code_of(fetcher, site.url("/ok")) == "none"
            assert other.connections == 0

    on_site(scene)


def test_localhost_works_where_one_of_its_addresses_is_allowed() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        assert await code_of(fetcher, f"http://localhost:{site.port}/ok") == "none"

    on_site(scene)


def test_a_refused_connection_beside_a_blocked_address_is_tried_again_later() -> None:
    async def play() -> None:
        async with HostileSite() as gone:
            pass
        async with fetching(Guard(allow=(gone.address,))) as fetcher:
            assert await code_of(fetcher, f"http://localhost:{gone.port}/ok") == "network_error"

    asyncio.run(play())


def test_private_addresses_may_all_be_allowed_but_never_the_metadata_address() -> None:
    async def play() -> None:
        guard = Guard(allow=("169.254.169.254:80",), allow_private=True, resolve={"cloud.test": "169.254.169.254:80"})
        async with HostileSite() as site, fetching(guard) as fetcher:
            assert await code_of(fetcher, site.url("/ok")) == "none"
            for host in ("169.254.169.254", "cloud.test", "[::ffff:a9fe:a9fe]"):
                assert await code_of(fetcher, f"http://{host}/latest/meta-data/") == "blocked_address"

    asyncio.run(play())


def test_a_mapped_name_reaches_its_endpoint_on_any_port_under_its_own_name_sec_06() -> None:
    async def play() -> None:
        async with HostileSite() as site, fetching(Guard(resolve={"world.test": site.address})) as fetcher:
            for authority in ("world.test", "world.test:8123", "WORLD.test"):
                assert (await fetcher.fetch(Request(f"http://{authority}/ok"))).address == "127.0.0.1"
            assert [head.split()[4] for head in site.heads] == [b"world.test", b"world.test:8123", b"world.test"]

    asyncio.run(play())


# Running out, and the end.


def test_no_free_descriptor_is_our_own_trouble_and_passes() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            end = await ending(fetcher, site.url("/ok"))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert getattr(end, "code", end) == "no_resources"
        assert str(end) == "no socket could be opened: Too many open files"
        assert await code_of(fetcher, site.url("/ok")) == "none"

    on_site(scene, concurrency=1)


@pytest.mark.parametrize(
    ("url", "free", "code"),
    [
        *(("http://localhost:1/", free, "no_resources") for free in range(8)),  # of 8 one may come free meanwhile
        ("http://localhost:1/", 32, "network_error"),
        ("http://pond.invalid/", 0, "no_resources"),
    ],
)
def test_descriptors_that_run_out_on_the_way_are_never_the_sites_fault(url: str, free: int, code: str) -> None:
    """D5: whatever of a look-up, a socket or libcurl's own copy of it there is none for. Nobody listens there."""

    async def play() -> None:
        async with fetching(Guard(allow_private=True), concurrency=1) as fetcher:
            with only_free(free):
                assert await code_of(fetcher, url) == code

    asyncio.run(play())


@contextmanager
def only_free(free: int) -> Iterator[None]:
    """This process may open that many for the time of the block."""
    gc.collect()  # what earlier tests left open must not come free in between
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = []
    lowest = os.dup(0)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(lowest + 64, soft), hard))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        for _ in range(free):
            os.close(taken.pop())
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in (lowest, *taken):
            os.close(descriptor)


def test_a_libcurl_that_stops_working_leaves_no_caller_waiting() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        hanging = asyncio.create_task(ending(fetcher, site.url("/half-open")))
        await site.asked.acquire()
        fetcher._curls._watched = frozenset()  # type: ignore[assignment]  # our callback raises: libcurl gives up
        ends = [await ending(fetcher, site.url("/ok")), await hanging]
        assert [getattr(end, "code", end) for end in ends] == ["internal", "internal"]

    on_site(scene)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_after_close_no_descriptor_is_left() -> None:
    async def play() -> None:
        async with HostileSite() as site:
            gc.collect()
            before = open_files()
            fetcher = make_fetcher(Guard(allow=(site.address,)))
            paths = ("/ok", "/short", "/reset", "/ok", "/endless", "/gzip")
            await asyncio.gather(*(ending(fetcher, site.url(path)) for path in paths))
            await fetcher.close()
            await fetcher.close()
            for _ in range(site.connections):
                await site.left.acquire()
            gc.collect()
            assert open_files() == before

    asyncio.run(play())


def test_a_fetcher_that_was_never_used_can_be_closed() -> None:
    asyncio.run(make_fetcher(Guard()).close())


def test_close_ends_what_is_in_flight_and_nothing_starts_after_it() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        flying = asyncio.create_task(ending(fetcher, site.url("/half-open")))
        waiting = asyncio.create_task(fetcher.fetch(Request(site.url("/ok"))))
        await site.asked.acquire()
        await fetcher.close()
        end = await flying
        assert isinstance(end, FetchError)
        assert (end.code, str(end)) == ("network_error", "the fetcher was closed")
        with pytest.raises(HoldfastError, match="the fetcher is closed"):
            await waiting
        assert len(site.heads) == 1

    on_site(scene, concurrency=1)


def test_close_right_after_a_cancellation_is_quiet() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        flying = asyncio.create_task(fetcher.fetch(Request(site.url("/half-open"))))
        await site.asked.acquire()
        flying.cancel()
        await fetcher.close()
        with pytest.raises(asyncio.CancelledError):
            await flying

    on_site(scene)

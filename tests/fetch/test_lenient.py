"""Answers with header lines that are none: read by a second reader, under the same guard, deadlines and budgets."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fetch.fetching import BUDGET, TEST_S_MAX, ending, fetching, make_fetcher
from fetch.hostile import (
    CERTIFICATE,
    CHUNKED,
    OK,
    PAGE,
    Behaviour,
    HostileSite,
    answer,
    endless,
    reset,
    then_close,
    then_hold,
)
from fetch.proxies import Proxy
from fetch.test_attacks import LAG_S_MAX, Lag, burst
from holdfast.errors import FetchError
from holdfast.fetch.cookie_lines import cookies_for, lines_of
from holdfast.fetch.cookies import CookieJar
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.fetcher import HttpFetcher
from holdfast.fetch.http.in_flight import BytesInFlight
from holdfast.fetch.http.route import Route
from holdfast.fetch.http.secrets import PrivateHeaders
from holdfast.fetch.http1 import HEADERS_MAX, Chunked, Head
from holdfast.fetch.lenient import ORIGINS_MAX, LenientReader
from holdfast.model.exchange import Budget, Request, Response

WORDS = "just words"
BAD = f"{OK}{WORDS}\r\n".encode()
IN_CHUNKS = CHUNKED + f"{WORDS}\r\n\r\n".encode() + b"4;x=y\r\nfrog\r\n3\r\ns!\n\r\n0\r\nX-Trailer: 1\r\nwords\r\n\r\n"
PAGES: dict[str, Behaviour] = {
    "/sized": answer(PAGE, WORDS, "X-Frog: green"),
    "/longer": then_close(answer(PAGE + b"more", WORDS, length=len(PAGE))),
    "/chunked": then_close(IN_CHUNKS),
    "/until-close": then_close(BAD + b"\r\n" + PAGE),
    "/gzip": answer(gzip.compress(PAGE), WORDS, "Content-Encoding: gzip"),
    "/bare-lf": b"HTTP/1.0 200 OK\njust words\nContent-Length: 4\n\nfrog",
    "/folded": answer(b"frog", WORDS, WORDS, " and: more", "X-Frog: green", "\tand  wet", ": nameless"),
    "/hints": b"HTTP/1.1 103 Hints\r\nX-Early: 1\r\n\r\n" + answer(b"frog", WORDS),
    "/404": answer(b"gone", WORDS, status="404 Not Found"),
    "/304": f"HTTP/1.1 304 Not Modified\r\n{WORDS}\r\nContent-Length: 99\r\n\r\n".encode(),
    "/redirect": answer(b"", WORDS, "Location: /ok", status="302 Found"),
    "/sets": answer(b"", WORDS, "Set-Cookie: pond=deep; Path=/", "Set-Cookie: far=1; Domain=test; Path=/"),
    # Hostile ones.
    "/short": then_close(answer(b"half", WORDS, length=99)),
    "/chunked-cut": then_close(IN_CHUNKS[:-40]),
    "/chunked-nonsense": then_close(CHUNKED + f"{WORDS}\r\n\r\nfrog\r\n".encode()),
    "/gzip-cut": answer(gzip.compress(PAGE)[:-9], WORDS, "Content-Encoding: gzip"),
    "/bomb": answer(gzip.compress(bytes(5_000_000)), WORDS, "Content-Encoding: gzip"),
    "/two-lengths": answer(b"frog", WORDS, "Content-Length: 5"),
    "/declared-huge": then_hold(answer(b"", WORDS, length=10**12)),
    "/endless": endless(BAD + b"\r\n", PAGE),
    "/tiny-chunks": endless(CHUNKED + f"{WORDS}\r\n\r\n".encode(), b"1\r\nf\r\n" * 10_000),
    "/extensions": endless(CHUNKED + f"{WORDS}\r\n\r\n".encode(), b"1;" + b"x" * 9000 + b"\r\nf\r\n"),
    "/burst": answer(burst(40_000_000), WORDS, "Content-Encoding: gzip"),
    "/long-line": endless(CHUNKED + f"{WORDS}\r\n\r\n".encode(), b"1;" + b"f" * 10_000),
    "/long-trailers": endless(CHUNKED + f"{WORDS}\r\n\r\n0\r\n".encode(), b"X: y\r\n" * 10_000),
    "/in-transfer": answer(b"", WORDS, "Transfer-Encoding: gzip, chunked"),
    "/stalls": then_hold(answer(b"half", WORDS, length=99)),
    "/slow-headers": then_hold(BAD),
    "/trickle": endless(answer(b"", WORDS, length=1000), b"f", 0.05),
}


def play(scene: Callable[[HostileSite, HttpFetcher], Awaitable[None]], **more: Any) -> None:
    async def run() -> None:
        async with (
            asyncio.timeout(TEST_S_MAX),
            HostileSite(more=PAGES) as site,
            fetching(Guard(allow=(site.address,)), **more) as fetcher,
        ):
            await scene(site, fetcher)

    asyncio.run(run())


def first_then(first: bytes, second: Behaviour) -> Callable[[bytes], Behaviour]:
    """The first request has one answer, all others another: libcurl sees the first only."""
    answers: list[Behaviour] = [first]
    return lambda _head: answers.pop() if answers else second


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/sized", 200, PAGE),
        ("/longer", 200, PAGE),
        ("/chunked", 200, b"frogs!\n"),
        ("/until-close", 200, PAGE),
        ("/gzip", 200, PAGE),
        ("/bare-lf", 200, b"frog"),
        ("/hints", 200, b"frog"),
        ("/404", 404, b"gone"),
        ("/304", 304, b""),
        ("/redirect", 302, b""),
    ],
)
def test_an_answer_with_a_line_without_a_colon_is_read_without_it(path: str, status: int, body: bytes) -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        page = await fetcher.fetch(Request(site.url(path)))
        assert (page.url, page.status, page.body, page.address) == (site.url(path), status, body, "127.0.0.1")
        assert not any(WORDS in name or name == "x-early" for name, _ in page.headers)
        assert page.encoding == ("gzip" if path == "/gzip" else "")
        assert len(site.heads) == 2
        assert (await fetcher.fetch(Request(site.url("/ok")))).body == PAGE

    play(scene)


def test_lines_that_continue_a_header_are_joined_and_those_of_none_are_skipped() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        page = await fetcher.fetch(Request(site.url("/folded")))
        assert page.headers == (("content-length", "4"), ("x-frog", "green and  wet"))

    play(scene)


def test_lines_that_are_skipped_are_counted_and_told(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        for _ in range(3):
            await fetcher.fetch(Request(site.url("/folded")))
        told = f"{site.url('/folded')}: 4 header lines without a colon were skipped, as browsers do"
        assert [record.message for record in caplog.records] == [told]

    caplog.set_level("INFO", "holdfast.fetch.lenient")
    play(scene)


def test_an_origin_is_remembered_as_long_as_its_answers_need_it() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        for path, requests in (("/sized", 2), ("/gzip", 1), ("/sized", 1), ("/ok", 1), ("/sized", 2)):
            before = len(site.heads)
            assert (await fetcher.fetch(Request(site.url(path)))).body == PAGE
            assert (path, len(site.heads) - before) == (path, requests)

    play(scene)


def test_the_origins_that_are_remembered_are_bounded() -> None:
    reader = LenientReader(Guard(), BUDGET, [], Route(), clock=make_clock(), in_flight=BytesInFlight())
    for number in range(ORIGINS_MAX + 5):
        reader._remember(f"http://n{number}.test")
    assert len(reader._origins) == ORIGINS_MAX
    assert reader.is_for(f"http://n{ORIGINS_MAX + 4}.test/")
    assert not reader.is_for("http://n4.test/")


def make_clock() -> Any:
    return make_fetcher(Guard())._clock


def test_the_second_request_says_what_the_first_one_said_h5() -> None:
    """H5: a typed header goes to the origin that it was given for, here too."""

    async def run() -> None:
        async with HostileSite(more=PAGES) as site:
            guard = Guard(resolve={"pond.test": site.address, "lake.test": site.address})
            private = PrivateHeaders((("Authorization", "Bearer fern"),), ["http://pond.test/"])
            async with fetching(guard, private=private, headers=(("Accept-Language", "en"),)) as fetcher:
                extra = (("If-None-Match", '"w"'), ("X-Empty", ""))
                for host in ("pond.test", "lake.test"):
                    await fetcher.fetch(Request(f"http://{host}/sized?q=1", extra))
        first, second, third, fourth = ({*head.decode().strip().split("\r\n")} for head in site.heads)
        assert second == first | {"Connection: close"}
        assert fourth == third | {"Connection: close"}
        assert ("Authorization: Bearer fern" in second, "Authorization: Bearer fern" in fourth) == (True, False)

    asyncio.run(run())


def test_cookies_are_sent_and_kept_for_the_host_that_set_them() -> None:
    async def run() -> None:
        async with HostileSite(more=PAGES) as site:
            guard = Guard(resolve={"pond.test": site.address, "lake.test": site.address})
            async with fetching(guard, route=Route(jar=CookieJar())) as fetcher:
                for path in ("ok", "sets", "sets", "ok"):
                    await fetcher.fetch(Request(f"http://pond.test/{path}"))
                await fetcher.fetch(Request("http://lake.test/ok"))
        sent = [head.decode().lower().partition("cookie: ")[2].partition("\r\n")[0] for head in site.heads]
        # The first request of `sets` was rejected by libcurl, which keeps no cookie of it.
        assert sent[:3] == ["", "tadpole=1", "tadpole=1"]
        assert [{*each.split("; ")} for each in sent[3:5]] == [{"tadpole=1", "pond=deep", "far=1"}] * 2
        assert sent[5:] == [""]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("a=1", "a=1"),
        ("a=1; Path=/pond", "a=1"),
        ("a=1; Path=/po", ""),
        ("a=1; Max-Age=60", "a=1"),
        ("a=1; Max-Age=0", ""),
        ("a=1; Max-Age=-9", ""),
        ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", ""),
        ("a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT", "a=1"),
        ("a=1; Expires=soon", "a=1"),
        ("a=1; Secure", ""),
        ("a", ""),
        ("=1", ""),
        ("a=\t1\tb", ""),
        (f"a={'x' * 5000}", ""),
    ],
)
def test_a_cookie_is_kept_as_long_and_where_it_may_be(text: str, sent: str) -> None:
    url, now_ms = "http://pond.test/pond/x?q=/y", 1_900_000_000_000
    lines = lines_of(url, (("set-cookie", text),), now_ms)
    assert cookies_for(url, lines, now_ms) == sent
    assert cookies_for("http://www.pond.test/pond/x", lines, now_ms) == ""


def test_tls_is_verified_against_the_same_roots_and_the_name() -> None:
    async def run() -> None:
        async with HostileSite(tls=True, more=PAGES) as site:
            guard = Guard(resolve={"world.test": site.address, "other.test": site.address})
            for route in (Route(str(CERTIFICATE)), Route(more_roots=CERTIFICATE.read_bytes())):
                async with fetching(guard, route=route) as trusting:
                    assert (await trusting.fetch(Request("https://world.test/sized"))).body == PAGE
                    assert code(await lenient(trusting, "https://other.test/sized")) == "tls_error"
            async with fetching(guard) as wary:
                assert code(await lenient(wary, "https://world.test/sized")) == "tls_error"

    asyncio.run(run())


async def lenient(fetcher: HttpFetcher, url: str) -> Response | FetchError:
    """What the second reader alone makes of it."""
    try:
        return await fetcher._read_leniently(url, (), fetcher._clock.monotonic_ms())
    except FetchError as failure:
        return failure


def code(end: Response | FetchError) -> str:
    return end.code if isinstance(end, FetchError) else "none"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/short", "body_incomplete"),
        ("/chunked-cut", "body_incomplete"),
        ("/chunked-nonsense", "bad_response"),
        ("/gzip-cut", "body_incomplete"),
        ("/bomb", "bomb"),
        ("/two-lengths", "bad_response"),
        ("/declared-huge", "body_too_large"),
        ("/endless", "body_too_large"),
        ("/tiny-chunks", "bad_response"),
        ("/long-line", "bad_response"),
        ("/extensions", "bad_response"),
        ("/long-trailers", "bad_response"),
        ("/in-transfer", "bad_response"),
    ],
)
def test_a_hostile_answer_ends_in_its_code_sec_07(path: str, expected: str) -> None:
    """SEC-07: every budget holds for the second reader."""

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        assert code(await lenient(fetcher, site.url(path))) == expected
        assert code(await ending(fetcher, site.url(path))) == expected
        assert (await fetcher.fetch(Request(site.url("/ok")))).status == 200

    play(scene, budget=Budget(total_s=5, body_bytes_max=10_000_000 if path == "/bomb" else 200_000))


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/tiny-chunks", "bad_response"), ("/extensions", "bad_response"), ("/burst", "body_too_large")],
)
def test_no_body_keeps_the_event_loop_of_the_second_reader_sec_07(path: str, expected: str) -> None:
    """SEC-07: a chunk of one byte costs as much as one of 64 kB, so small ones are counted."""

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        async with Lag() as lag:
            end = await lenient(fetcher, site.url(path))
        assert code(end) == expected
        assert lag.worst_s < LAG_S_MAX

    play(scene, budget=Budget(total_s=4, body_bytes_max=1_000_000))


@pytest.mark.parametrize(
    ("start", "piece", "sentence"),
    [
        (BAD, b"words\r\n" * 100, f"Too many response headers, {HEADERS_MAX} is max"),
        (BAD, b"X-Frog: " + b"g" * 1000 + b"\r\n", "the headers are larger than 262144 bytes"),
        (BAD + b"X-Frog: 1\r\n", b" " + b"g" * 1000 + b"\r\n", "the headers are larger than 262144 bytes"),
        (BAD, b"g" * 10_000, "the headers are larger than 262144 bytes"),
        (b"", b"HTTP/1.1 103 H\r\nwords\r\n\r\n" * 100, f"Too many response headers, {HEADERS_MAX} is max"),
    ],
)
def test_headers_without_end_are_no_answer_sec_07(start: bytes, piece: bytes, sentence: str) -> None:
    """SEC-07."""

    async def run() -> None:
        choose = first_then(answer(b"", WORDS), endless(start, piece))
        async with HostileSite(choose=choose) as site, fetching(Guard(allow=(site.address,))) as fetcher:
            end = await ending(fetcher, site.url("/"))
            assert (code(end), str(end)) == ("bad_response", sentence)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("path", "deadline", "sentence"),
    [
        ("/half-open", "first_byte_s", "no first byte for 0.3 s"),
        ("/slow-headers", "idle_s", "idle: no further byte for 0.3 s"),
        ("/stalls", "idle_s", "idle: no further byte for 0.3 s"),
        ("/trickle", "total_s", "total: not complete after 0.3 s"),
    ],
)
def test_each_deadline_ends_a_slow_answer(path: str, deadline: str, sentence: str) -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        began = asyncio.get_running_loop().time()
        end = await lenient(fetcher, site.url(path))
        assert (code(end), str(end)) == ("network_timeout", sentence)
        assert 0.29 <= asyncio.get_running_loop().time() - began < 3

    play(scene, budget=Budget(**{deadline: 0.3}))


def test_a_handshake_that_is_never_answered_ends_and_a_refused_or_cut_one_is_a_network_error() -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        reset(writer)

    async def run() -> None:
        held: list[asyncio.StreamWriter] = []
        async with fetching(Guard(allow_private=True), budget=Budget(connect_s=0.3)) as fetcher:
            silent = await asyncio.start_server(lambda _reader, writer: held.append(writer), "127.0.0.1", 0)
            port = silent.sockets[0].getsockname()[1]
            assert str(await lenient(fetcher, f"https://127.0.0.1:{port}/")) == "connect: no connection for 0.3 s"
            for writer in held:
                writer.close()
            silent.close()
            await silent.wait_closed()
            assert code(await lenient(fetcher, f"http://127.0.0.1:{port}/")) == "network_error"
            async with await asyncio.start_server(cut, "127.0.0.1", 0) as cutting:
                port = cutting.sockets[0].getsockname()[1]
                assert code(await lenient(fetcher, f"https://127.0.0.1:{port}/")) == "network_error"
                assert code(await lenient(fetcher, f"http://127.0.0.1:{port}/")) == "network_error"

    asyncio.run(run())


def test_both_requests_of_an_attempt_have_one_deadline_together() -> None:
    async def late(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.4)
        writer.write(answer(PAGE, WORDS))
        await writer.drain()

    async def run() -> None:
        async with HostileSite(more={"/late": late}) as site:
            async with fetching(Guard(allow=(site.address,)), budget=Budget(total_s=0.7)) as fetcher:
                end = await ending(fetcher, site.url("/late"))
                assert str(end) == "total: not complete after 0.7 s"
            assert len(site.heads) == 2

    asyncio.run(run())


@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/", "http://localhost:{}/", "http://[::ffff:127.0.0.1]:{}/"])
def test_a_private_address_is_not_connected_to_sec_06(url: str) -> None:
    """SEC-06: the guard judges the address of the second request by itself."""

    async def run() -> None:
        async with HostileSite(more=PAGES) as site, fetching(Guard()) as fetcher:
            assert code(await lenient(fetcher, url.format(site.port))) == "blocked_address"
            assert site.connections == 0

    asyncio.run(run())


def test_a_name_that_changes_its_answer_meanwhile_is_judged_again_sec_06(monkeypatch: pytest.MonkeyPatch) -> None:
    """SEC-06: the first request was let through; the second finds a metadata address and a private one."""

    async def run() -> None:
        async with HostileSite(more=PAGES) as site, fetching(Guard(allow=(site.address,))) as fetcher:
            assert (await fetcher.fetch(Request(f"http://localhost:{site.port}/sized"))).body == PAGE
            changed = [(socket.AF_INET, 0, 0, "", (each, 0)) for each in ("169.254.169.254", "10.0.0.1")]
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: changed)
            fetcher._lenient = None
            before = site.connections
            end = await lenient(fetcher, f"http://localhost:{site.port}/sized")
            assert (code(end), site.connections) == ("blocked_address", before)

    asyncio.run(run())


def test_of_several_addresses_those_that_may_be_used_are(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with HostileSite(more=PAGES) as site, fetching(Guard(allow=(site.address,))) as fetcher:
            several = [(socket.AF_INET, 0, 0, "", (each, 0)) for each in ("10.0.0.1", "127.0.0.1")]
            monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_more: several)
            end = await lenient(fetcher, f"http://pond.test:{site.port}/sized")
            assert isinstance(end, Response), end
            assert end.body == PAGE

    asyncio.run(run())


def test_behind_a_proxy_the_failure_stays() -> None:
    async def run() -> None:
        async with (
            HostileSite(more=PAGES) as site,
            Proxy("http", to=site.address) as proxy,
            fetching(Guard(), route=Route(proxy=proxy.url)) as fetcher,
        ):
            end = await ending(fetcher, "http://93.184.215.14/sized")
            assert (code(end), str(end), len(proxy.asked)) == ("bad_response", "Header without colon", 1)

    asyncio.run(run())


def test_a_fetcher_that_is_closed_or_cancelled_lets_go_of_the_connection() -> None:
    async def run() -> None:
        in_flight = BytesInFlight()
        async with HostileSite(more=PAGES) as site:
            for how in ("close", "cancel"):
                fetcher = make_fetcher(Guard(allow=(site.address,)), in_flight=in_flight)
                task = asyncio.create_task(lenient(fetcher, site.url("/stalls")))
                await site.asked.acquire()
                if how == "cancel":
                    task.cancel()
                    await asyncio.wait([task])
                    assert task.cancelled()
                await fetcher.close()
                if how == "close":
                    assert str(await task) == "the fetcher was closed"
                await asyncio.wait_for(site.left.acquire(), 2)
        assert in_flight._used == 0

    asyncio.run(run())


def test_a_body_waits_while_too_many_bytes_are_held_and_that_time_is_not_the_hosts() -> None:
    held = [(0, 10_000)]

    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        fetcher._in_flight.look()
        task = asyncio.create_task(lenient(fetcher, site.url("/sized")))
        await asyncio.sleep(1)
        assert not task.done()
        held[0] = (0, 0)
        end = await task
        assert isinstance(end, Response), end

    play(scene, budget=Budget(total_s=0.6), in_flight=BytesInFlight(1000, lambda: held[0]))


@pytest.mark.parametrize("step", [1, 2, 3, 7])
def test_an_answer_may_come_in_pieces_of_any_size(step: int) -> None:
    head, body = IN_CHUNKS.partition(b"\r\n\r\n")[::2]
    reader, rest = Head(BUDGET), None
    for at in range(0, len(head) + 4, step):
        rest = reader.feed((head + b"\r\n\r\n")[at : at + step])
    assert (rest, reader.status, reader.skipped) == (b"", 200, 1)
    chunks, kept = Chunked(100), b""
    for at in range(0, len(body), step):
        kept += chunks.take(body[at : at + step])
    assert (kept, chunks.ended) == (b"frogs!\n", True)

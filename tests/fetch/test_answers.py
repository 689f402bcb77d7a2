"""What every behaviour of the outside ends in: an answer, or the right code (H3, H4, §17, worlds §6)."""

from __future__ import annotations

import asyncio

import pytest

from fetch.fetching import BUDGET, ask, code_of, ending, fetching, on_site
from fetch.hostile import CERTIFICATE, PAGE, HostileSite, reset
from holdfast.errors import FetchError
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.fetcher import HttpFetcher
from holdfast.fetch.http.route import Route
from holdfast.model.codes import CODES
from holdfast.model.exchange import Budget, Request, Response

LATE_S_MAX = 2.7  # a deadline is met within 0.1 s; the rest is for a busy computer


def answered(path: str) -> Response:
    end = ask(path)
    assert isinstance(end, Response), end
    return end


def failed(path: str, **changes: float) -> FetchError:
    fields = {name: getattr(BUDGET, name) for name in BUDGET.__struct_fields__} | changes
    end = ask(path, budget=Budget(**fields))
    assert isinstance(end, FetchError), end
    assert end.code in CODES
    return end


def test_an_answer_has_its_status_its_headers_in_order_and_its_body() -> None:
    page = answered("/ok")
    assert (page.status, page.body, page.encoding, page.address) == (200, PAGE, "", "127.0.0.1")
    assert [name for name, _ in page.headers] == ["content-length", "content-type", "x-frog", "set-cookie"]
    assert (page.media, page.header("x-frog")) == ("text/html", "green")
    assert 0 <= page.elapsed_ms < 5000


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/empty", 200, b""),
        ("/204", 204, b""),
        ("/206", 206, PAGE[:9]),
        ("/304", 304, b""),
        ("/404", 404, b"gone"),
        ("/503", 503, b"later"),
        ("/longer", 200, PAGE),
        ("/until-close", 200, PAGE),
    ],
)
def test_any_complete_answer_is_a_response_whatever_its_status(path: str, status: int, body: bytes) -> None:
    page = answered(path)
    assert (page.status, page.body) == (status, body)


def test_a_redirect_is_an_answer_and_is_not_followed_fro_09() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        page = await fetcher.fetch(Request(site.url("/redirect")))
        assert (page.status, page.header("location"), len(site.heads)) == (302, "/ok", 1)

    on_site(scene)


@pytest.mark.parametrize(
    ("path", "encoding"),
    [
        ("/gzip", "gzip"),
        ("/x-gzip", "gzip"),
        ("/deflate", "deflate"),
        ("/deflate-raw", "deflate"),
        ("/brotli", "br"),
        ("/zstd", "zstd"),
        ("/encoded-twice", "deflate, gzip"),
    ],
)
def test_a_body_is_decoded_and_its_encoding_noted_per_15(path: str, encoding: str) -> None:
    page = answered(path)
    assert (page.body, page.encoding) == (PAGE, encoding)


def test_early_hints_and_trailers_are_not_headers_of_the_answer() -> None:
    assert answered("/hints").headers == (("content-length", str(len(PAGE))), ("x-frog", "green"))
    assert answered("/trailers").header("x-frog") is None


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/encoded-thrice", "bomb"),
        ("/bomb", "bomb"),
        ("/unasked-encoding", "bad_response"),
        ("/gzip-junk", "bad_response"),
        ("/bomb-in-transfer", "bad_response"),
        ("/gzip-cut", "body_incomplete"),
        ("/short", "body_incomplete"),
        ("/chunked-cut", "body_incomplete"),
        ("/endless", "body_too_large"),
        ("/declared-huge", "body_too_large"),
        ("/silent-close", "network_error"),
        ("/reset", "network_error"),
        ("/reset-in-body", "network_error"),
        ("/no-http", "bad_response"),
        ("/bare-body", "bad_response"),
        ("/bad-length", "bad_response"),
        ("/huge-header", "bad_response"),
        ("/large-headers", "bad_response"),
        ("/endless-headers", "bad_response"),
        ("/endless-hints", "bad_response"),
    ],
)
def test_a_bad_answer_ends_in_its_code_and_its_neighbour_succeeds(path: str, code: str) -> None:
    assert failed(path, body_bytes_max=10_000_000 if "bomb" in path else 100_000).code == code


@pytest.mark.parametrize("path", ["/big-headers", "/big-headers-no-body"])
def test_headers_above_the_budget_are_no_valid_answer(path: str) -> None:
    assert answered(path).status == 200
    assert str(failed(path, header_bytes_max=9000)) == "the headers are larger than 9000 bytes"


@pytest.mark.parametrize(
    ("path", "deadline", "sentence"),
    [
        ("/half-open", "first_byte_s", "no first byte for 0.3 s"),
        ("/slow-headers", "idle_s", "idle: no further byte for 0.3 s"),
        ("/stalls", "idle_s", "idle: no further byte for 0.3 s"),
        ("/trickle", "total_s", "total: not complete after 0.3 s"),
        ("/chunked-endless", "total_s", "total: not complete after 0.3 s"),
    ],
)
def test_each_deadline_ends_a_slow_answer_and_is_named(path: str, deadline: str, sentence: str) -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        began = asyncio.get_running_loop().time()
        end = await ending(fetcher, site.url(path))
        assert (getattr(end, "code", end), str(end)) == ("network_timeout", sentence)
        assert 0.29 <= asyncio.get_running_loop().time() - began < 0.3 + LATE_S_MAX

    on_site(scene, budget=Budget(**{deadline: 0.3}))


@pytest.mark.parametrize(
    ("budget", "sentence"),
    [
        (Budget(connect_s=0.3), "connect: no connection for 0.3 s"),
        (Budget(total_s=0.3), "total: not complete after 0.3 s"),
    ],
)
def test_a_handshake_that_is_never_answered_ends_by_the_nearest_deadline(budget: Budget, sentence: str) -> None:
    async def play() -> None:
        held: list[asyncio.StreamWriter] = []
        silent = await asyncio.start_server(lambda _reader, writer: held.append(writer), "127.0.0.1", 0)
        async with silent, fetching(Guard(allow_private=True), budget=budget) as fetcher:
            end = await ending(fetcher, "https://127.0.0.1:{}/".format(*silent.sockets[0].getsockname()[1:]))
            assert (getattr(end, "code", end), str(end)) == ("network_timeout", sentence)
            for writer in held:
                writer.close()

    asyncio.run(play())


def test_bytes_that_keep_coming_are_not_idle() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        end = await ending(fetcher, site.url("/trickle"))
        assert str(end) == "total: not complete after 3 s"

    on_site(scene, budget=Budget(connect_s=2, idle_s=2, first_byte_s=2, total_s=3))


def test_a_page_is_answered_while_its_neighbours_hang() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        hanging = [asyncio.create_task(ending(fetcher, site.url(path))) for path in ("/half-open", "/stalls")]
        for _ in hanging:
            await site.asked.acquire()
        assert (await fetcher.fetch(Request(site.url("/ok")))).body == PAGE
        assert not any(task.done() for task in hanging)
        assert {getattr(await task, "code", "") for task in hanging} == {"network_timeout"}

    on_site(scene, budget=Budget(first_byte_s=2, idle_s=2))


def test_a_refused_connection_is_a_network_error() -> None:
    async def scene(site: HostileSite, fetcher: HttpFetcher) -> None:
        async with HostileSite() as gone:
            pass
        async with fetching(Guard(allow_private=True)) as other:
            assert await code_of(other, gone.url("/ok")) == "network_error"

    on_site(scene)


def test_a_name_that_cannot_be_resolved_is_a_dns_error() -> None:
    async def scene(_site: HostileSite, fetcher: HttpFetcher) -> None:
        # RFC 7686: no resolver is asked for .onion, so this fails the same way on every computer.
        assert await code_of(fetcher, "http://frog.onion/") == "dns_error"

    on_site(scene)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://marsh.test/",
        "file:///etc/passwd",
        "marsh.test",
        "",
        "http://",
        "http://a b/",
        "http://u:p@marsh.test/",
        "http://{frog}/",
    ],
)
def test_what_is_no_http_url_is_refused_without_a_connection(url: str) -> None:
    async def scene(_site: HostileSite, fetcher: HttpFetcher) -> None:
        assert await code_of(fetcher, url) == "bad_url"

    on_site(scene)


def test_tls_is_verified_against_the_roots_and_the_name() -> None:
    async def play() -> None:
        async with HostileSite(tls=True) as site:
            guard = Guard(resolve={"world.test": site.address, "other.test": site.address})
            async with fetching(guard, route=Route(ca_file=str(CERTIFICATE))) as trusting:
                assert (await trusting.fetch(Request("https://world.test/ok"))).body == PAGE
                assert await code_of(trusting, "https://other.test/ok") == "tls_error"
            async with fetching(guard) as wary:
                assert await code_of(wary, "https://world.test/ok") == "tls_error"

    asyncio.run(play())


def test_a_server_that_speaks_no_tls_is_a_tls_error_and_a_cut_handshake_a_network_error() -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        reset(writer)

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.close()

    async def play() -> None:
        async with fetching(Guard(allow_private=True)) as fetcher:
            for behave, code in ((talk, "tls_error"), (cut, "network_error"), (hang_up, "network_error")):
                async with await asyncio.start_server(behave, "127.0.0.1", 0) as server:
                    port = server.sockets[0].getsockname()[1]
                    assert await code_of(fetcher, f"https://127.0.0.1:{port}/") == code

    asyncio.run(play())

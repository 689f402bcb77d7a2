"""The ways out: cookies of one job, proxies, secrets for the home only, HTTP/2 (SEC-06, H5, H6)."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pycurl
import pytest
from hypercorn.asyncio import serve
from hypercorn.config import Config

from fetch.fetching import TEST_S_MAX, code_of, ending, fetching
from fetch.hostile import CERTIFICATE, PAGE, HostileSite
from fetch.proxies import CERTIFICATE as OF_THE_PROXY
from fetch.proxies import Proxy
from holdfast.config import certificates
from holdfast.errors import BadParams
from holdfast.fetch.cookies import CookieJar
from holdfast.fetch.guard import Guard
from holdfast.fetch.http.fetcher import HttpFetcher
from holdfast.fetch.http.route import Route
from holdfast.fetch.http.secrets import PrivateHeaders
from holdfast.model.exchange import Request

PUBLIC = "93.184.215.14"  # nothing connects to it: the proxy of the test goes to the site whatever it is asked for
TOKEN = (("Authorization", "Bearer fern"),)


def play(scene: Callable[[HostileSite], Any], *, tls: bool = False) -> None:
    async def run() -> None:
        async with asyncio.timeout(TEST_S_MAX), HostileSite(tls=tls) as site:
            await scene(site)

    asyncio.run(run())


def header(head: bytes, name: str) -> str | None:
    lines = [line.decode() for line in head.split(b"\r\n") if line.lower().startswith(f"{name}:".encode())]
    return lines[0].partition(":")[2].strip() if lines else None


# Roots


class Handle(pycurl.Curl):
    """One that remembers what it was told."""

    def setopt(self, option: int, value: Any) -> None:
        self.told = {**getattr(self, "told", {}), option: value}
        super().setopt(option, value)


def test_roots_that_are_the_systems_already_are_read_from_its_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`SSL_CERT_FILE` often names the system's own: a blob of it, twice as long, would be parsed per connection."""
    system, more = CERTIFICATE.read_bytes(), OF_THE_PROXY.read_bytes()
    (tmp_path / "system.pem").write_bytes(system)
    monkeypatch.setattr(certificates, "system_roots", lambda: str(tmp_path / "system.pem"))
    for named, blob in (
        (system, None),
        (b"# managed by others\n" + system + b"# its end\n", None),
        (more, system + b"\n" + more),
        (more + b"\n" + system, system + b"\n" + more + b"\n"),
    ):
        (tmp_path / "named.pem").write_bytes(named)
        extra = certificates.more_roots("", {"SSL_CERT_FILE": str(tmp_path / "named.pem")})
        handle = Handle()
        Route(str(tmp_path / "system.pem"), more_roots=extra).apply(handle)
        assert handle.told.get(pycurl.CAINFO_BLOB) == handle.told.get(pycurl.PROXY_CAINFO_BLOB) == blob
        assert handle.told.get(pycurl.CAINFO) == (str(tmp_path / "system.pem") if blob is None else None)
        handle.close()


# Cookies


def cookies_sent(site: HostileSite) -> list[str | None]:
    return [header(head, "cookie") for head in site.heads]


def test_cookies_are_kept_for_the_length_of_one_fetcher_over_all_its_handles() -> None:
    async def scene(site: HostileSite) -> None:
        guard = Guard(allow=(site.address,))
        async with fetching(guard, route=Route(jar=CookieJar())) as fetcher:
            await fetcher.fetch(Request(site.url("/ok")))
            await asyncio.gather(*(fetcher.fetch(Request(site.url("/empty"))) for _ in range(3)))
        async with fetching(guard, route=Route(jar=CookieJar())) as another:
            await another.fetch(Request(site.url("/empty")))
        assert cookies_sent(site) == [None, *["tadpole=1"] * 3, None]

    play(scene)


def test_a_cookie_goes_to_no_other_host_and_none_is_taken_for_a_whole_suffix() -> None:
    async def scene(site: HostileSite) -> None:
        names = ("pond.co.uk", "lake.co.uk", "www.pond.co.uk")
        guard = Guard(resolve=dict.fromkeys(names, site.address))
        async with fetching(guard, route=Route(jar=CookieJar())) as fetcher:
            await fetcher.fetch(Request("http://pond.co.uk/cookies"))
            for name in names:
                await fetcher.fetch(Request(f"http://{name}/empty"))
        # own: this host only. shared: the host and those below it. suffix, foreign: refused. secret: not without TLS.
        assert [{*(sent or "").split("; ")} for sent in cookies_sent(site)[1:]] == [
            {"own=1", "shared=1"},
            {""},
            {"shared=1"},
        ]

    play(scene)


# Headers with secrets


@pytest.mark.parametrize(
    ("home", "asked", "sent"),
    [
        ("http://pond.test/a", "http://pond.test/empty", True),
        ("http://pond.test/", "http://lake.test/empty", False),
        ("http://pond.test/", "http://pond.test:81/empty", False),
        ("https://pond.test/", "http://pond.test/empty", False),
    ],
)
def test_a_secret_goes_to_the_origin_it_was_given_for_and_nowhere_else_h5(home: str, asked: str, sent: bool) -> None:
    """H5: Authorization and Cookie are dropped across origins and from https to http."""

    async def scene(site: HostileSite) -> None:
        guard = Guard(resolve={"pond.test": site.address, "lake.test": site.address})
        async with fetching(guard, private=PrivateHeaders(TOKEN, [home])) as fetcher:
            await fetcher.fetch(Request(asked))
            await fetcher.fetch(Request("http://lake.test/empty"))
        assert [header(head, "authorization") for head in site.heads] == ["Bearer fern" if sent else None, None]

    play(scene)


def test_a_secret_follows_a_site_from_http_to_https() -> None:
    private = PrivateHeaders(TOKEN, ["http://pond.test/", "http://[::1]/", "http://lake.test:8080/"])
    assert private.of("https://pond.test") == TOKEN
    assert private.of("https://lake.test") == private.of("https://lake.test:8080") == ()


@pytest.mark.parametrize("value", ["moss\r\nX-Frog: 1", "moss\0", "moss\n"])
def test_a_secret_that_would_become_two_headers_is_refused_and_not_repeated_h6(value: str) -> None:
    with pytest.raises(BadParams) as refusal:
        PrivateHeaders((("X-Key", value),), [])
    assert "moss" not in str(refusal.value)


# Proxies


@pytest.mark.parametrize(
    ("scheme", "password", "asked"),
    [
        ("http", "", f"GET http://{PUBLIC}/ok"),
        ("http", "moss", f"GET http://{PUBLIC}/ok"),
        ("socks5", "", f"{PUBLIC}:80"),
    ],
)
def test_a_page_comes_through_a_proxy_that_may_be_at_home(scheme: str, password: str, asked: str) -> None:
    async def scene(site: HostileSite) -> None:
        async with (
            Proxy(scheme, to=site.address, password=password) as proxy,
            fetching(Guard(), route=Route(proxy=proxy.url.replace("127.0.0.1", "localhost"))) as fetcher,
        ):
            assert (await fetcher.fetch(Request(f"http://{PUBLIC}/ok"))).body == PAGE
            assert proxy.asked == [asked]

    play(scene)


def test_a_proxy_with_tls_is_verified_like_a_site() -> None:
    async def scene(site: HostileSite) -> None:
        async with Proxy("https", to=site.address) as proxy:
            async with fetching(Guard(), route=Route(proxy=proxy.url)) as wary:
                assert await code_of(wary, f"http://{PUBLIC}/ok") == "tls_error"
            assert proxy.asked == []
            async with fetching(Guard(), route=Route(str(OF_THE_PROXY), proxy.url)) as trusting:
                assert (await trusting.fetch(Request(f"http://{PUBLIC}/ok"))).body == PAGE

    play(scene)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_tls_goes_through_a_proxy_end_to_end(scheme: str) -> None:
    async def scene(site: HostileSite) -> None:
        guard = Guard(resolve={"world.test": site.address})
        async with (
            Proxy(scheme, to=site.address) as proxy,
            fetching(guard, route=Route(str(CERTIFICATE), proxy.url)) as fetcher,
        ):
            assert (await fetcher.fetch(Request("https://world.test/ok"))).body == PAGE
            assert proxy.asked == [f"CONNECT {site.address}" if scheme == "http" else site.address]

    play(scene, tls=True)


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("127.0.0.1", "blocked_address"),
        ("169.254.169.254", "blocked_address"),
        ("[::ffff:10.0.0.1]", "blocked_address"),
        ("localhost", "blocked_address"),
        ("frog.onion", "dns_error"),
    ],
)
def test_a_proxy_is_not_asked_for_what_is_not_public_sec_06(scheme: str, host: str, code: str) -> None:
    """SEC-06: with --proxy, names are resolved and checked here first."""

    async def scene(site: HostileSite) -> None:
        async with (
            Proxy(scheme, to=site.address) as proxy,
            fetching(Guard(), route=Route(proxy=proxy.url)) as fetcher,
        ):
            assert await code_of(fetcher, f"http://{host}/ok") == code
            assert proxy.asked == []
            assert (await fetcher.fetch(Request(f"http://{PUBLIC}/ok"))).body == PAGE

    play(scene)


def test_what_may_be_reached_without_a_proxy_may_be_reached_through_it() -> None:
    async def scene(site: HostileSite) -> None:
        guard = Guard(allow=(site.address,))
        async with Proxy("socks5", to=site.address) as proxy, fetching(guard, route=Route(proxy=proxy.url)) as fetcher:
            assert (await fetcher.fetch(Request(f"http://localhost:{site.port}/ok"))).body == PAGE
            assert proxy.asked == [site.address]  # the address that was checked, not the name

    play(scene)


def test_a_proxy_that_refuses_is_told_as_the_proxy() -> None:
    async def scene(site: HostileSite) -> None:
        async with Proxy("http", to=site.address, password="moss") as proxy:
            nobody = f"http://127.0.0.1:{proxy.port}"
            async with fetching(Guard(), route=Route(proxy=nobody)) as fetcher:
                end = await ending(fetcher, f"http://{PUBLIC}/ok")
                assert (getattr(end, "code", ""), str(end)) == (
                    "network_error",
                    "the proxy wants a user and a password (407)",
                )
                secure = await ending(fetcher, f"https://{PUBLIC}/ok")
                assert (getattr(secure, "code", ""), "407" in str(secure)) == ("network_error", True)
        async with fetching(Guard(), route=Route(proxy="http://frog.onion:3128")) as lost:
            end = await ending(lost, f"http://{PUBLIC}/ok")
            assert str(end) == "the name of the proxy could not be resolved"

    play(scene)


# HTTP/2


async def tells_its_version(scope: Any, _receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        body = scope["http_version"].encode() + b" " + PAGE
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-frog", b"green")]})
        await send({"type": "http.response.body", "body": body})


def test_a_site_that_speaks_http_2_is_asked_in_http_2() -> None:
    async def on_http_2(scene: Callable[[HttpFetcher, int], Any]) -> None:
        config, done = Config(), asyncio.Event()
        config.certfile = config.keyfile = str(CERTIFICATE)
        config.bind, config.alpn_protocols = ["127.0.0.1:0"], ["h2", "http/1.1"]
        config.errorlog = config.accesslog = None
        sockets = config.create_sockets()
        sockets.secure_sockets[0].listen()
        config.create_sockets = lambda: sockets  # type: ignore[method-assign]
        port = sockets.secure_sockets[0].getsockname()[1]
        server = asyncio.create_task(serve(tells_its_version, config, shutdown_trigger=done.wait))  # type: ignore[arg-type]
        guard = Guard(resolve={"world.test": f"127.0.0.1:{port}"})
        try:
            async with asyncio.timeout(TEST_S_MAX), fetching(guard, route=Route(str(CERTIFICATE))) as fetcher:
                await scene(fetcher, port)
        finally:
            done.set()
            await server

    async def scene(fetcher: HttpFetcher, port: int) -> None:
        pages = await asyncio.gather(*(fetcher.fetch(Request(f"https://world.test/{n}")) for n in range(6)))
        assert {(page.status, page.body, page.header("x-frog")) for page in pages} == {(200, b"2 " + PAGE, "green")}
        context = ssl.create_default_context(cafile=str(CERTIFICATE))  # the server also speaks the older one
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="world.test")
        writer.write(b"GET / HTTP/1.1\r\nHost: world.test\r\nConnection: close\r\n\r\n")
        assert b"1.1 <p>" in await reader.read()
        writer.close()

    asyncio.run(on_http_2(scene))

"""How the browser's connections leave this computer: directly, or through the proxy of the job (CONNECT or SOCKS5)."""

from __future__ import annotations

import asyncio
import base64
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from holdfast.errors import FetchError
from holdfast.fetch.http.route import Route

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HEAD_BYTES_MAX = 16_384
PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}


class Upstream:
    """The route of a job, for connections that are not libcurl's."""

    def __init__(self, route: Route) -> None:
        self._route = route
        self._proxy = urlsplit(route.proxy)
        self.is_proxy = bool(route.proxy)

    async def connected(self, host: str, address: str, port: int) -> Streams:
        """To `address`, which was checked; an HTTP proxy is asked by the name."""
        if not self.is_proxy:
            return await asyncio.open_connection(address, port)
        scheme = self._proxy.scheme
        streams = await asyncio.open_connection(
            self._proxy.hostname,
            self._proxy.port or PORTS.get(scheme, 80),
            ssl=self._route.tls_context() if scheme == "https" else None,
        )
        try:
            if scheme.startswith("socks5"):
                await self._by_socks(streams, address, port)
            else:
                await self._by_connect(streams, host, port)
        except BaseException:
            streams[1].close()
            raise
        return streams

    async def _by_connect(self, streams: Streams, host: str, port: int) -> None:
        reader, writer = streams
        there = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        lines = [f"CONNECT {there} HTTP/1.1", f"Host: {there}"]
        if self._proxy.username:
            signed = f"{unquote(self._proxy.username)}:{unquote(self._proxy.password or '')}".encode()
            lines.append(f"Proxy-Authorization: Basic {base64.b64encode(signed).decode()}")
        writer.write("\r\n".join([*lines, "", ""]).encode())
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise FetchError("network_error", "the proxy gave no answer") from None
        status = head.split(b" ", 2)[1:2]
        if status != [b"200"]:
            raise FetchError("network_error", f"the proxy refused {there}")

    async def _by_socks(self, streams: Streams, address: str, port: int) -> None:
        reader, writer = streams
        user, password = unquote(self._proxy.username or "").encode(), unquote(self._proxy.password or "").encode()
        writer.write(b"\x05\x01" + (b"\x02" if user else b"\x00"))
        method = (await reader.readexactly(2))[1]
        if method == 2 and user:
            writer.write(b"\x01" + bytes([len(user)]) + user + bytes([len(password)]) + password)
            method = (await reader.readexactly(2))[1]
        there = ip_address(address)
        kind = b"\x01" if there.version == 4 else b"\x04"
        writer.write(b"\x05\x01\x00" + kind + there.packed + port.to_bytes(2, "big"))
        answer = await reader.readexactly(4)
        if method or answer[1]:
            raise FetchError("network_error", f"the proxy refused {address}")
        length = {1: 4, 4: 16}.get(answer[3]) or (await reader.readexactly(1))[0]
        await reader.readexactly(length + 2)

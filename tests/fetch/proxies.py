"""Proxies on a real socket: HTTP (with CONNECT), the same over TLS, and SOCKS5. Each notes what it was asked for."""

from __future__ import annotations

import asyncio
import base64
import socket
import ssl
import struct
from pathlib import Path
from types import TracebackType
from typing import Self

CERTIFICATE = Path(__file__).with_name("proxy_test.pem")  # key and certificate for 127.0.0.1
PIECE = 65_536


class Proxy:
    """`async with Proxy("http", to=site.address) as proxy`: whatever is asked for, it connects to `to`."""

    def __init__(self, scheme: str, *, to: str, password: str = "") -> None:
        self.scheme, self._to, self._password = scheme, to, password
        self.asked: list[str] = []
        self._tasks = set[asyncio.Task[None]]()

    async def __aenter__(self) -> Self:
        context = None
        if self.scheme == "https":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        user = f"frog:{self._password}@" if self._password else ""
        return f"{self.scheme}://{user}127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await (self._socks if self.scheme == "socks5" else self._http)(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client left, or the test is over
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(*self._to.split(":"))
        answers = asyncio.create_task(_pump(there, writer))
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                method, target, _ = head.split(b"\r\n")[0].decode().split()
                self.asked.append(f"{method} {target}")
                if not self._may(head):
                    writer.write(b"HTTP/1.1 407 No\r\nContent-Length: 0\r\nProxy-Authenticate: Basic realm=x\r\n\r\n")
                elif method == "CONNECT":
                    writer.write(b"HTTP/1.1 200 Go on\r\n\r\n")
                    await _pump(reader, back)
                else:
                    back.write(head.replace(target.encode(), b"/" + target.split("/", 3)[3].encode(), 1))
        finally:
            answers.cancel()
            back.close()

    def _may(self, head: bytes) -> bool:
        signed = base64.b64encode(f"frog:{self._password}".encode())
        return not self._password or b"Proxy-Authorization: Basic " + signed in head

    async def _socks(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _version, methods = await reader.readexactly(2)
        await reader.readexactly(methods)
        writer.write(b"\x05\x00")
        _version, _command, _reserved, kind = await reader.readexactly(4)
        length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
        where = await reader.readexactly(length)
        (port,) = struct.unpack(">H", await reader.readexactly(2))
        name = where.decode() if kind == 3 else socket.inet_ntop({1: socket.AF_INET, 4: socket.AF_INET6}[kind], where)
        self.asked.append(f"{name}:{port}")
        there, back = await asyncio.open_connection(*self._to.split(":"))
        writer.write(b"\x05\x00\x00\x01" + bytes(6))
        answers = asyncio.create_task(_pump(there, writer))
        try:
            await _pump(reader, back)
        finally:
            answers.cancel()
            back.close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while piece := await source.read(PIECE):
        sink.write(piece)
        await sink.drain()

"""A site on a real socket that behaves, by path, as badly as the outside does.

It speaks through a raw stream, so that no HTTP library mends what is meant to be broken. `world_test.pem` is its key
and certificate, for the made-up name world.test; nobody else trusts it.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import socket
import ssl
import struct
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import brotli
from backports import zstd

CERTIFICATE = Path(__file__).with_name("world_test.pem")
PAGE = b"<p>a frog in the marsh</p>" * 500
TICK_S = 0.05
TLS_HELLO = b"\x16"
Behaviour = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


class HostileSite:
    """`async with HostileSite() as site`: counts connections and keeps the head of every request."""

    def __init__(
        self,
        *,
        tls: bool = False,
        more: dict[str, Behaviour] | None = None,
        choose: Callable[[bytes], Behaviour] | None = None,
        certificate: Path = CERTIFICATE,
    ) -> None:
        self._behaviours = BEHAVIOURS | (more or {})
        self._choose = choose or self._by_path
        self.heads: list[bytes] = []
        self.connections = 0
        self.asked = asyncio.Semaphore(0)  # released for each request
        self.left = asyncio.Semaphore(0)  # released for each connection that ended
        self._tls, self._tasks = tls, set[asyncio.Task[None]]()
        self._certificate = certificate

    async def __aenter__(self) -> Self:
        context = None
        if self._tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self._certificate)
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        self.port = int(self.address.rpartition(":")[2])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def url(self, path: str) -> str:
        return f"http://{self.address}{path}"

    def _by_path(self, head: bytes) -> Behaviour:
        return self._behaviours.get(head.split()[1].decode().partition("?")[0], NOT_FOUND)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client left, or the test is over; Python 3.11 complains about a cancelled server task
        finally:
            self.left.release()
            writer.close()
            self._tasks.discard(task)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        first = await reader.readexactly(1)
        if first == TLS_HELLO:
            writer.write(answer(b"speak plainly", status="400 Bad Request"))
            return False
        head = first + await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        self.asked.release()
        behaviour = self._choose(head)
        if isinstance(behaviour, bytes):
            writer.write(behaviour)
            await writer.drain()
            return True
        hang_up = asyncio.create_task(reader.read(1))  # a client that leaves ends every behaviour
        act = asyncio.ensure_future(behaviour(writer))
        try:
            await asyncio.wait((hang_up, act), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in (hang_up, act):
                part.cancel()
            await asyncio.gather(hang_up, act, return_exceptions=True)
        return False


@contextmanager
def in_a_thread(server: AbstractAsyncContextManager[Any]) -> Iterator[None]:
    """Serve while the test waits for a command."""
    ready, ended = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with server:
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(10), "the site did not start"
    try:
        yield
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def answer(body: bytes = PAGE, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def encoded(body: bytes, *names: str) -> bytes:
    return answer(body, f"Content-Encoding: {', '.join(names)}")


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


async def hold(_writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


def then_hold(start: bytes) -> Callable[[asyncio.StreamWriter], Awaitable[None]]:
    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await hold(writer)

    return behave


def then_close(start: bytes) -> Callable[[asyncio.StreamWriter], Awaitable[None]]:
    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()

    return behave


def then_reset(start: bytes) -> Callable[[asyncio.StreamWriter], Awaitable[None]]:
    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()
        reset(writer)

    return behave


def reset(writer: asyncio.StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def endless(start: bytes, piece: bytes, pause_s: float = 0) -> Callable[[asyncio.StreamWriter], Awaitable[None]]:
    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return behave


@functools.cache
def zeros(size: int) -> bytes:
    return gzip.compress(bytes(size))


OK = "HTTP/1.1 200 OK\r\n"
CHUNKED = f"{OK}Transfer-Encoding: chunked\r\n".encode()
NOT_FOUND = answer(b"gone", status="404 Not Found")
BEHAVIOURS: dict[str, Behaviour] = {
    "/ok": answer(PAGE, "Content-Type: text/html; charset=utf-8", "X-Frog: green", "Set-Cookie: tadpole=1"),
    "/cookies": answer(
        b"",
        "Set-Cookie: own=1",
        "Set-Cookie: shared=1; Domain=pond.co.uk",
        "Set-Cookie: suffix=1; Domain=co.uk",
        "Set-Cookie: foreign=1; Domain=lake.co.uk",
        "Set-Cookie: secret=1; Secure",
    ),
    "/empty": answer(b""),
    "/204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "/206": answer(PAGE[:9], "Content-Range: bytes 0-8/99", status="206 Partial Content"),
    "/304": b"HTTP/1.1 304 Not Modified\r\nContent-Encoding: gzip\r\nETag: w\r\n\r\n",
    "/404": NOT_FOUND,
    "/503": answer(b"later", "Retry-After: 9", status="503 Service Unavailable"),
    "/redirect": answer(b"", "Location: /ok", status="302 Found"),
    "/longer": then_close(answer(PAGE + b"more than was declared", length=len(PAGE))),
    "/until-close": then_close(OK.encode() + b"\r\n" + PAGE),
    "/hints": b"HTTP/1.1 103 Early Hints\r\nContent-Encoding: br\r\n\r\n" + answer(PAGE, "X-Frog: green"),
    "/trailers": CHUNKED + b"Trailer: X-Frog\r\n\r\n4\r\nfrog\r\n0\r\nX-Frog: red\r\n\r\n",
    "/gzip": encoded(gzip.compress(PAGE), "gzip"),
    "/x-gzip": encoded(gzip.compress(PAGE), "X-GZIP"),
    "/deflate": encoded(zlib.compress(PAGE), "deflate"),
    "/deflate-raw": encoded(raw_deflate(PAGE), "deflate"),
    "/encoded-twice": encoded(gzip.compress(zlib.compress(PAGE)), "deflate", "gzip"),
    "/encoded-thrice": encoded(gzip.compress(gzip.compress(gzip.compress(PAGE))), "gzip", "gzip", "gzip"),
    "/brotli": encoded(brotli.compress(PAGE), "br"),
    "/zstd": encoded(zstd.compress(PAGE), "zstd"),
    "/unasked-encoding": encoded(PAGE, "compress"),
    "/gzip-cut": encoded(gzip.compress(PAGE)[:-9], "gzip"),
    "/gzip-junk": encoded(PAGE, "gzip"),
    "/bomb": encoded(zeros(5_000_000), "gzip"),
    "/bomb-in-transfer": CHUNKED.replace(b"chunked", b"gzip, chunked") + b"\r\n3\r\nabc\r\n0\r\n\r\n",
    "/declared-huge": then_hold(answer(b"", length=10**12)),
    "/endless": endless(OK.encode() + b"\r\n", PAGE),
    "/chunked-endless": endless(CHUNKED + b"\r\n", b"4\r\nfrog\r\n", TICK_S),
    "/trickle": endless(answer(b"", length=1000), b"f", TICK_S),
    "/half-open": hold,
    "/slow-headers": then_hold(OK.encode()),
    "/stalls": then_hold(answer(b"half a fr", length=99)),
    "/short": then_close(answer(b"half a fr", length=99)),
    "/chunked-cut": then_close(CHUNKED + b"\r\n4\r\nfrog\r\n"),
    "/silent-close": then_close(b""),
    "/closes-after": then_close(answer()),
    "/reset": then_reset(b""),
    "/reset-in-body": then_reset(answer(b"half a fr", length=99)),
    "/no-http": then_close(b"220 marsh.test ESMTP\r\n"),
    "/bare-body": then_close(b"<p>HTTP/0.9 had no headers</p>"),
    "/bad-length": b"HTTP/1.1 200 OK\r\nContent-Length: frog\r\n\r\n",
    "/big-headers": answer(PAGE, *(f"X-Frog-{n}: {'g' * 90}" for n in range(100))),
    "/big-headers-no-body": answer(b"", *(f"X-Frog-{n}: {'g' * 90}" for n in range(100))),
    "/huge-header": then_hold(OK.encode() + b"X-Frog: " + b"g" * 400_000),
    "/large-headers": then_hold(OK.encode() + (b"X-Frog: " + b"g" * 1000 + b"\r\n") * 400),
    "/endless-headers": endless(OK.encode(), b"X-Frog: green\r\n" * 100),
    "/endless-hints": endless(b"", b"HTTP/1.1 103 Early Hints\r\nX-Frog: green\r\n\r\n" * 100),
}

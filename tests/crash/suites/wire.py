"""A TCP wire to one server, to be cut, plugged or made deaf while it is used: what networks do to a database."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

READ_BYTES = 1 << 16
RESET_AT_ONCE = struct.pack("ii", 1, 0)
LOOP_S_MAX = 10.0


class Wire:
    """`port` is the near end. Everything passes until told otherwise; `mend` makes it whole again."""

    def __init__(self, server_port: int) -> None:
        self.port = 0
        self._server_port = server_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="wire")
        self._ends: set[asyncio.StreamWriter] = set()
        self._passes = asyncio.Event()
        self._is_cut = self._is_deaf = False

    def cut(self) -> None:
        """Every connection is reset, and every new one, until it is mended."""
        self._do(self._cut())

    def plug(self) -> None:
        """Nothing passes; what was sent waits in the wire."""
        self._do(self._set(passes=False))

    def deafen(self) -> None:
        """What is asked reaches the server, and its answers reach nobody."""
        self._do(self._set(is_deaf=True))

    def mend(self) -> None:
        """Who was answered and did not hear it gets a reset, as after a time-out."""
        if self._is_deaf:
            self.cut()
        self._do(self._set())

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._listen())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, what: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result(LOOP_S_MAX)

    async def _listen(self) -> None:
        self._passes.set()
        self._listener = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def _set(self, *, passes: bool = True, is_deaf: bool = False) -> None:
        self._is_cut, self._is_deaf = False, is_deaf
        if passes:
            self._passes.set()
        else:
            self._passes.clear()

    async def _cut(self) -> None:
        self._is_cut = True
        self._passes.set()
        for end in list(self._ends):
            _reset(end)

    async def _end(self) -> None:
        self._listener.close()
        await self._cut()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            _reset(writer)
            return
        with suppress(OSError):
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
            self._ends |= {writer, far_writer}
            try:
                await asyncio.gather(
                    self._pump(reader, far_writer, answers=False), self._pump(far_reader, writer, answers=True)
                )
            finally:
                self._ends -= {writer, far_writer}
                _reset(far_writer)
        _reset(writer)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, answers: bool) -> None:
        """Either direction ends with the other: a half-closed connection is none of PostgreSQL's."""
        while part := await source.read(READ_BYTES):
            await self._passes.wait()
            if not (answers and self._is_deaf):
                sink.write(part)
                await sink.drain()
        raise ConnectionResetError


def _reset(end: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_AT_ONCE)
    end.transport.abort()

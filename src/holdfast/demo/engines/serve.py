"""The world `engines` as a process: every host at the same port, on loopback addresses of its own."""

from __future__ import annotations

import logging
import socket

import uvicorn

from holdfast.demo.engines.origin import EnginesOrigin
from holdfast.demo.engines.world import HOSTS, POOL, EnginesWorld
from holdfast.demo.request_log import RequestLog

BACKLOG = 512
KEEP_ALIVE_S = 75
LAST_ANSWERS_S = 1
PORT_TRIES = 20


def serve_engines(log: RequestLog, *, seed: int, pool_size: int | None, port: int) -> None:
    """Answer until SIGTERM or SIGINT. Says `ready 127.0.0.1:PORT` once requests are answered."""
    listeners = _listeners(port)
    port = listeners[0].getsockname()[1]
    world = EnginesWorld(seed, port, POOL if pool_size is None else pool_size)
    config = uvicorn.Config(
        EnginesOrigin(world, log),
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=LAST_ANSWERS_S,
    )
    logging.getLogger("uvicorn.error").addFilter(_not_a_planned_cut)
    _Announcing(config).run(sockets=listeners)


def _listeners(port: int) -> list[socket.socket]:
    """One socket per host, all at one port: with port 0 at one that is free on all of them."""
    for _ in range(PORT_TRIES):
        first = _bound(HOSTS[0], port)
        chosen = first.getsockname()[1]
        listeners = [first]
        try:
            listeners += [_bound(host, chosen) for host in HOSTS[1:]]
        except OSError:
            for listener in listeners:
                listener.close()
            if port:
                raise
        else:
            return listeners
    raise OSError(f"no port is free on all of {HOSTS[0]} … {HOSTS[-1]}")


def _bound(host: str, port: int) -> socket.socket:
    # Named in full: asyncio sets TCP_NODELAY only on sockets that say TCP, and without it each answer waits 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


class _Announcing(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if sockets:
            host, port = sockets[0].getsockname()
            print(f"ready {host}:{port}", flush=True)


def _not_a_planned_cut(record: logging.LogRecord) -> bool:
    return "without completing response" not in record.getMessage()

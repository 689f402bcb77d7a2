"""Run one world as a process of its own: `python -m holdfast.demo.serve --world tree --pages 3000 --log PATH`.

Prints `ready HOST:PORT` once requests are answered. Ends on SIGTERM, and with its parent when `--parent` names it.
"""

import argparse
import ctypes
import logging
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from holdfast.demo import tree
from holdfast.demo.catalogue import SEED, WORLDS, make_world
from holdfast.demo.origin import Origin
from holdfast.demo.request_log import RequestLog
from holdfast.demo.service import Service, ServiceApp
from holdfast.demo.world import World

BACKLOG = 2048
KEEP_ALIVE_S = 75
LAST_ANSWERS_S = 1
PR_SET_PDEATHSIG = 1
PORT_TRIES = 20


def main(argv: list[str] | None = None) -> None:
    options = _parser().parse_args(argv)
    if options.parent:
        die_with(options.parent)
    if options.world == "engines":
        from holdfast.demo.engines.serve import serve_engines  # needs Pillow

        serve_engines(RequestLog(options.log), seed=options.seed, pool_size=options.pages, port=options.port)
        return
    world = make_world(options.world, seed=options.seed, pages=options.pages, delay_ms=options.delay_ms)
    serve(world, RequestLog(options.log), host=options.host, port=options.port)


def serve(world: World | Service, log: RequestLog, *, host: str, port: int) -> None:
    """Answer until SIGTERM or SIGINT. The port is bound here, so that port 0 can be announced as what it became."""
    further = world.hosts if isinstance(world, Service) else ()
    listeners = _listening((host, *further), port)
    config = uvicorn.Config(
        ServiceApp(world, log) if isinstance(world, Service) else Origin(world, log),
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,  # same seed, same bytes
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=LAST_ANSWERS_S,
    )
    logging.getLogger("uvicorn.error").addFilter(_not_a_planned_cut)
    _Announcing(config).run(sockets=listeners)


def _listening(hosts: tuple[str, ...], port: int) -> list[socket.socket]:
    """One socket per address, all on one port. A free port of the first may be taken at another: then once more."""
    for tries_left in range(PORT_TRIES - 1, -1, -1):
        listeners: list[socket.socket] = []
        try:
            for host in hosts:
                listeners.append(_listener(host, listeners[0].getsockname()[1] if listeners else port))
        except OSError:
            for listener in listeners:
                listener.close()
            if port or not tries_left:
                raise
        else:
            return listeners
    raise AssertionError("the last try raises")


def _listener(host: str, port: int) -> socket.socket:
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


def die_with(parent: int) -> None:
    """Have the kernel kill this process when `parent` dies, also by kill -9.

    The kernel watches the parent's *thread* that started us: start worlds from a thread that outlives them.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    # It may have died before the call above; then nobody is left to tell.
    if os.getppid() != parent:
        sys.exit(f"parent {parent} is gone")


class _Announcing(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            host, port = listener.getsockname()
            print(f"ready {host}:{port}", flush=True)


def _not_a_planned_cut(record: logging.LogRecord) -> bool:
    return "without completing response" not in record.getMessage()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m holdfast.demo.serve", description="Serve one simulated world.")
    parser.add_argument("--world", choices=(*WORLDS, "engines"), default="manual")
    parser.add_argument(
        "--pages", type=int, help=f"size of the tree (default {tree.PAGES}), or images per keyword (400)"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--delay-ms", type=int, help=f"wait before each answer (tree: {tree.DELAY_MS}, manual: 0)")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--log", type=Path, required=True, help="the request log, appended to")
    parser.add_argument("--parent", type=int, help="end when this process, our parent, ends")
    return parser


if __name__ == "__main__":
    main()

"""Serves a world that has state: sessions, forms, a clock that runs, faults of its own, several hosts.

Each request is witnessed under the key that the world names for it. `/__world/` is for tests and is never logged.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Literal, Protocol, runtime_checkable
from urllib.parse import parse_qsl

import msgspec

from holdfast.demo.request_log import RequestLog, read_log

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CONTROL = "/__world/"
BODY_BYTES_MAX = 64 * 1024
HTML = "text/html; charset=UTF-8"


class ServiceClock:
    """A world's own time in ms: from `start_ms` on it runs as ours does, and `ahead` sets it forward."""

    def __init__(self, start_ms: int, elapsed_ms: Callable[[], int] | None = None) -> None:
        began = time.monotonic()
        self._elapsed_ms = elapsed_ms or (lambda: int((time.monotonic() - began) * 1000))
        self._start_ms = start_ms

    def now_ms(self) -> int:
        return self._start_ms + self._elapsed_ms()

    def ahead(self, seconds: int) -> None:
        self._start_ms += seconds * 1000


class ServiceRequest(msgspec.Struct, frozen=True):
    """One request. `host` is the loopback address that took it, whatever the client called it."""

    method: str
    path: str
    query: str = ""
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)  # names in lower case
    body: bytes = b""
    host: str = "127.0.0.1"
    base: str = "http://127.0.0.1"  # scheme://host:port as the client called it

    def cookie(self, name: str) -> str:
        try:
            jar = SimpleCookie(self.headers.get("cookie", ""))
        except CookieError:
            return ""
        return jar[name].value if name in jar else ""

    def asked(self) -> dict[str, str]:
        """The query's fields; of a repeated one the last."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    def form(self) -> dict[str, str]:
        """The fields of an urlencoded body."""
        return dict(parse_qsl(self.body.decode("utf-8", "replace"), keep_blank_values=True))


class ServiceAnswer(msgspec.Struct, frozen=True):
    """`cut` sends half the body: `half` closes the connection there, `short` claims that half to be all of it.

    `none` closes before a byte of the body came.
    """

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("content-type", HTML),)
    wait_ms: int = 0
    cut: Literal["", "half", "short", "none"] = ""


@runtime_checkable
class Service(Protocol):
    """A world with state. `hosts` are further loopback addresses it is served from, all on one port."""

    @property
    def name(self) -> str: ...

    @property
    def seed(self) -> int: ...

    @property
    def edition(self) -> int: ...

    @property
    def hosts(self) -> tuple[str, ...]: ...

    def key(self, request: ServiceRequest) -> str:
        """What the request is about, as the log has it: a URL without anything that is new each time."""
        ...

    def answer(self, request: ServiceRequest) -> ServiceAnswer: ...

    def oracle(self, base: str) -> dict[str, Any]: ...

    def advance(self, order: dict[str, Any]) -> dict[str, Any]: ...

    def set_faults(self, order: dict[str, Any]) -> dict[str, Any]: ...


class ServiceApp:
    """The ASGI app around a service. One event loop: the order of arrival is the order of the log."""

    def __init__(self, service: Service, log: RequestLog) -> None:
        self.service, self.log = service, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"a world speaks only http, not {scope['type']!r}")
        request = await _request(scope, receive)
        if request.path.startswith(CONTROL):
            await _give_json(*self._obey(request), send)
        else:
            await self._witness(request, receive, send)

    async def _witness(self, request: ServiceRequest, receive: Receive, send: Send) -> None:
        key = self.service.key(request)
        seq, at_ns = self.log.ask(key)
        status, sent, complete = 0, 0, False
        try:
            answer = self.service.answer(request)
            if not answer.wait_ms or not await _client_left(receive, answer.wait_ms / 1000):
                sent, complete = await _give(answer, request.method, send)
                status = answer.status
        finally:
            self.log.sent(seq, at_ns, key, status=status, body_bytes=sent, complete=complete)

    def _obey(self, request: ServiceRequest) -> tuple[int, Any]:
        service, order = self.service, request.path.removeprefix(CONTROL)
        try:
            match request.method, order:
                case "GET", "ready":
                    return 200, {"world": service.name, "seed": service.seed, "edition": service.edition}
                case "GET", "oracle":
                    return 200, service.oracle(request.base)
                case "GET", "log":
                    return 200, read_log(self.log.path)
                case "POST", "faults":
                    return 200, service.set_faults(_order(request.body))
                case "POST", "advance":
                    return 200, service.advance(_order(request.body))
        except ValueError as error:
            return 400, {"error": str(error)}
        return 404, {"error": f"no {request.method} {CONTROL}{order}"}


def _order(body: bytes) -> dict[str, Any]:
    order = json.loads(body or b"{}")
    if not isinstance(order, dict):
        raise ValueError("an order is a JSON object")
    return order


def count_in(order: Mapping[str, Any], name: str, default: int) -> int:
    """A whole number from 1 in an order of a test."""
    value = order.get(name, default)
    if type(value) is not int or value < 1:
        raise ValueError(f"{name!r} must be a number from 1, not {value!r}")
    return value


async def _request(scope: Scope, receive: Receive) -> ServiceRequest:
    headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in scope["headers"]}
    host, port = scope["server"]
    body, more = b"", scope["method"] not in ("GET", "HEAD")
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False) and len(body) <= BODY_BYTES_MAX
    return ServiceRequest(
        method=scope["method"],
        path=scope["raw_path"].decode("latin-1"),
        query=scope["query_string"].decode("latin-1"),
        headers=headers,
        body=body[:BODY_BYTES_MAX],
        host=host,
        base=f"{scope['scheme']}://{headers.get('host') or f'{host}:{port}'}",
    )


async def _give(answer: ServiceAnswer, method: str, send: Send) -> tuple[int, bool]:
    """(bytes of the body sent, whether they were all)"""
    half = answer.body[: len(answer.body) // 2]
    part = {"": answer.body, "half": half, "short": half, "none": b""}[answer.cut]
    promised = len(part if answer.cut == "short" else answer.body)
    headers = [(name.encode("latin-1"), text.encode("latin-1")) for name, text in answer.headers]
    if answer.status not in (204, 304):
        headers.append((b"content-length", str(promised).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    # Promising more and then returning makes uvicorn close the connection: that is the cut.
    await send({"type": "http.response.body", "body": part, "more_body": len(part) < promised})
    return 0 if method == "HEAD" else len(part), not answer.cut


async def _give_json(status: int, answer: Any, send: Send) -> None:
    body = json.dumps(answer).encode()
    await _give(ServiceAnswer(status, body, (("content-type", "application/json"),)), "GET", send)


async def _client_left(receive: Receive, wait_s: float) -> bool:
    """Wait that long, or until the client has gone."""
    try:
        async with asyncio.timeout(wait_s):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True

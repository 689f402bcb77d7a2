"""The frame every world shares: a raw ASGI app that serves a world, witnesses each request and takes control orders.

It knows nothing of what the pages say. `/__world/` is for tests and the demo and is never logged.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from holdfast.demo.faults import CALM, Fault, Faults, fault_for, set_dial
from holdfast.demo.request_log import RequestLog, read_log
from holdfast.demo.world import BASE_MARK, MISSING, World, WorldPage, html_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CONTROL = "/__world/"
ORDER_BYTES_MAX = 64 * 1024

UNAVAILABLE = html_page("<title>Busy</title><p>Come back soon.</p>\n", title="Busy", links=(), status=503)
REFUSED = html_page("<title>Refused</title><p>Only GET and HEAD.</p>\n", title="Refused", links=(), status=405)


class Origin:
    """Serve `world`, writing to `log`. One event loop; the order of arrival is the order of the log."""

    def __init__(self, world: World, log: RequestLog) -> None:
        self.world = world
        self.log = log
        self.faults: Faults = CALM
        self._asks: Counter[str] = Counter()  # per path since the dial was last set; empty in calm weather

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"a world speaks only http, not {scope['type']!r}")
        path = scope["raw_path"].decode("latin-1")
        base = f"{scope['scheme']}://{_host(scope)}"
        if path.startswith(CONTROL):
            await self._obey(scope["method"], path.removeprefix(CONTROL), base, receive, send)
        else:
            await self._witness(scope, path, base, receive, send)

    async def _witness(self, scope: Scope, path: str, base: str, receive: Receive, send: Send) -> None:
        query = scope["query_string"].decode("latin-1")
        key = f"{base}{path}?{query}" if query else base + path
        seq, at_ns = self.log.ask(key)
        answer = _Answer()
        try:
            page, fault = self._choose(scope["method"], path, query)
            wait_ms = self.world.delay_ms + (self.faults.slow_ms if fault == "slow" else 0)
            if not wait_ms or not await _client_left(receive, wait_ms / 1000):
                await answer.give(page, base, scope["method"], send, cut=fault == "cut")
        finally:
            self.log.sent(seq, at_ns, key, status=answer.status, body_bytes=answer.body_bytes, complete=answer.complete)

    def _choose(self, method: str, path: str, query: str) -> tuple[WorldPage, Fault | None]:
        if method not in ("GET", "HEAD"):
            return REFUSED, None
        fault = self._fault(f"{path}?{query}" if query else path)
        if fault == "unavailable":
            return UNAVAILABLE, fault
        return self.world.page(path, query) or MISSING, fault

    def _fault(self, where: str) -> Fault | None:
        if self.faults == CALM:
            return None
        self._asks[where] += 1
        return fault_for(self.faults, self.world.seed, where, self._asks[where])

    async def _obey(self, method: str, order: str, base: str, receive: Receive, send: Send) -> None:
        match method, order:
            case "GET", "ready":
                answer: Any = {"world": self.world.name, "seed": self.world.seed, "edition": self.world.edition}
            case "GET", "oracle":
                answer = self.world.oracle(base)
            case "GET", "log":
                answer = read_log(self.log.path)
            case "POST", "faults" | "advance":
                await self._change(order, receive, send)
                return
            case _:
                await _send_json(send, 404, {"error": f"no {method} {CONTROL}{order}"})
                return
        await _send_json(send, 200, answer)

    async def _change(self, order: str, receive: Receive, send: Send) -> None:
        try:
            body = json.loads(await _read_order(receive) or b"{}")
            if not isinstance(body, dict):
                raise ValueError("an order is a JSON object")
            answer = self._set_faults(body) if order == "faults" else self._advance(body)
        except ValueError as error:
            await _send_json(send, 400, {"error": str(error)})
        else:
            await _send_json(send, 200, answer)

    def _set_faults(self, body: dict[str, Any]) -> dict[str, Any]:
        self.faults = set_dial(body)
        self._asks.clear()
        return {name: getattr(self.faults, name) for name in Faults.__dataclass_fields__}

    def _advance(self, body: dict[str, Any]) -> dict[str, Any]:
        editions = body.get("editions", 1)
        if type(editions) is not int or editions < 1 or set(body) - {"editions"}:
            raise ValueError('advance takes {"editions": n} with n of 1 or more')
        self.world = self.world.advanced(editions)
        return {"edition": self.world.edition}


class _Answer:
    """One answer on its way, and how far it got: status 0 means not a byte was sent."""

    def __init__(self) -> None:
        self.status = 0
        self.body_bytes = 0
        self.complete = False

    async def give(self, page: WorldPage, base: str, method: str, send: Send, *, cut: bool) -> None:
        body = page.body.replace(BASE_MARK, base.encode("latin-1")) if page.rooted else page.body
        headers = [(name.encode(), text.encode("latin-1")) for name, text in page.headers]
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": page.status, "headers": headers})
        self.status = page.status
        part = body[: len(body) // 2] if cut else body
        # Promised more and then returning makes uvicorn close the connection: that is the cut.
        await send({"type": "http.response.body", "body": part, "more_body": cut})
        self.body_bytes = 0 if method == "HEAD" else len(part)
        self.complete = not cut


async def _client_left(receive: Receive, wait_s: float) -> bool:
    """Wait that long, or until the client has gone: uvicorn would swallow an answer to nobody without a word."""
    try:
        async with asyncio.timeout(wait_s):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True


async def _read_order(receive: Receive) -> bytes:
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > ORDER_BYTES_MAX:
            raise ValueError(f"an order has at most {ORDER_BYTES_MAX} bytes")
    return body


async def _send_json(send: Send, status: int, answer: Any) -> None:
    body = json.dumps(answer).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _host(scope: Scope) -> str:
    for name, text in scope["headers"]:
        if name == b"host":
            return str(text.decode("latin-1"))
    host, port = scope["server"]
    return f"{host}:{port}"

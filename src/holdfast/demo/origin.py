"""The frame every world shares: a raw ASGI app that serves a world, witnesses each request and takes control orders.

It knows nothing of what the pages say. `/__world/` is for tests and the demo and is never logged.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from msgspec.structs import replace

from holdfast.demo.faults import CALM, Fault, Faults, fault_for, set_dial
from holdfast.demo.request_log import RequestLog, read_log
from holdfast.demo.world import MISSING, AnsweringWorld, World, WorldPage, WorldRequest, body_at, html_page

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CONTROL = "/__world/"
ORDER_BYTES_MAX = 64 * 1024

UNAVAILABLE = html_page("<title>Busy</title><p>Come back soon.</p>\n", title="Busy", links=(), status=503)
LIMITED = replace(UNAVAILABLE, status=429, headers=(*UNAVAILABLE.headers, ("retry-after", "1")))
BROKEN = html_page("<title>Error</title><p>Something broke.</p>\n", title="Error", links=(), status=500)
REFUSED = html_page("<title>Refused</title><p>Only GET and HEAD.</p>\n", title="Refused", links=(), status=405)


class Origin:
    """Serve `world`, writing to `log`. One event loop; the order of arrival is the order of the log."""

    def __init__(self, world: World, log: RequestLog) -> None:
        self.world = world
        self.log = log
        self.faults: Faults = CALM
        self._asks: Counter[str] = Counter()  # per path since the dial was last set; empty in calm weather
        self._counted: Counter[str] = Counter()  # per path ever, of those whose answer depends on it
        self._ahead_ms = 0  # how far the world's clock was advanced

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"a world speaks only http, not {scope['type']!r}")
        path = scope["raw_path"].decode("latin-1")
        base = f"{scope['scheme']}://{_host(scope)}"
        if path.startswith(CONTROL):
            await self._obey(scope, path.removeprefix(CONTROL), base, receive, send)
        else:
            await self._witness(scope, path, base, receive, send)

    async def _witness(self, scope: Scope, path: str, base: str, receive: Receive, send: Send) -> None:
        query = scope["query_string"].decode("latin-1")
        key = f"{base}{path}?{query}" if query else base + path
        seq, at_ns = self.log.ask(key)
        answer = _Answer()
        try:
            page, fault = await self._choose(scope, path, query, base, receive)
            wait_ms = self.world.delay_ms + page.wait_ms + (self.faults.slow_ms if fault == "slow" else 0)
            if not wait_ms or not await _client_left(receive, wait_ms / 1000):
                await answer.give(page, base, scope["method"], send, cut=fault == "cut")
        finally:
            self.log.sent(seq, at_ns, key, status=answer.status, body_bytes=answer.body_bytes, complete=answer.complete)

    async def _choose(
        self, scope: Scope, path: str, query: str, base: str, receive: Receive
    ) -> tuple[WorldPage, Fault | None]:
        method, where = scope["method"], f"{path}?{query}" if query else path
        answers = isinstance(self.world, AnsweringWorld)
        if not answers and method not in ("GET", "HEAD"):
            return REFUSED, None
        fault = self._fault(where)
        if fault == "unavailable" or fault == "limited":
            return UNAVAILABLE if fault == "unavailable" else LIMITED, fault
        headers = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in scope["headers"]}
        if answers:
            page = await self._answered(method, path, query, headers, base, receive) or MISSING
        else:
            page = self._healed(where, self.world.page(path, query) or MISSING)
        return (_not_modified(page) if _is_current(page, headers) else page), fault

    async def _answered(
        self, method: str, path: str, query: str, headers: dict[str, str], base: str, receive: Receive
    ) -> WorldPage | None:
        assert isinstance(self.world, AnsweringWorld)
        self._counted[f"{path}?{query}"] += 1
        body = await _read_order(receive) if method not in ("GET", "HEAD") else b""
        request = WorldRequest(method, path, query, headers, body, base, self.now_ms, self._counted[f"{path}?{query}"])
        return self.world.answer(request)

    def _healed(self, where: str, page: WorldPage) -> WorldPage:
        """The answer, or 500 while it is not yet asked for often enough."""
        if not page.fails_first:
            return page
        self._counted[where] += 1
        return BROKEN if self._counted[where] <= page.fails_first else page

    @property
    def now_ms(self) -> int:
        """The world's own clock: it runs as ours does, and `advance` sets it forward."""
        return time.time_ns() // 1_000_000 + self._ahead_ms

    def _fault(self, where: str) -> Fault | None:
        if self.faults == CALM:
            return None
        self._asks[where] += 1
        nth_of_all = self._asks.total() if self.faults.outage_every else 0
        return fault_for(self.faults, self.world.seed, where, self._asks[where], nth_of_all=nth_of_all)

    async def _obey(self, scope: Scope, order: str, base: str, receive: Receive, send: Send) -> None:
        method = scope["method"]
        match method, order:
            case "GET", "ready":
                answer: Any = {"world": self.world.name, "seed": self.world.seed, "edition": self.world.edition}
            case "GET", "oracle":
                answer = self._oracle(base, scope["query_string"].decode("latin-1"))
            case "GET", "log":
                answer = read_log(self.log.path)
            case "POST", "faults" | "advance":
                await self._change(order, receive, send)
                return
            case _:
                await _send_json(send, 404, {"error": f"no {method} {CONTROL}{order}"})
                return
        await _send_json(send, 200, answer)

    def _oracle(self, base: str, query: str) -> dict[str, Any]:
        """`?depth=2`: as far as a crawl with that limit comes."""
        depth = parse_qs(query).get("depth")
        return self.world.oracle(base, depth=int(depth[0])) if depth else self.world.oracle(base)

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
        return {name: getattr(self.faults, name) for name in Faults.__struct_fields__}

    def _advance(self, body: dict[str, Any]) -> dict[str, Any]:
        seconds = body.get("seconds", 0)
        editions = body.get("editions", 0 if "seconds" in body else 1)
        numbers = type(editions) is int and type(seconds) is int
        if not numbers or min(editions, seconds) < 0 or not editions + seconds or set(body) - {"editions", "seconds"}:
            raise ValueError('advance takes {"editions": n} or {"seconds": n} with n of 1 or more')
        self._ahead_ms += seconds * 1000
        if editions:
            self.world = self.world.advanced(editions)
        return {"edition": self.world.edition, "now_ms": self.now_ms}


class _Answer:
    """One answer on its way, and how far it got: status 0 means not a byte was sent."""

    def __init__(self) -> None:
        self.status = 0
        self.body_bytes = 0
        self.complete = False

    async def give(self, page: WorldPage, base: str, method: str, send: Send, *, cut: bool) -> None:
        body = body_at(page, base)
        headers = [(name.encode(), text.encode("latin-1")) for name, text in page.headers]
        if page.status != 304:
            headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": page.status, "headers": headers})
        self.status = page.status
        part = body[: len(body) // 2] if cut else body
        # Promised more and then returning makes uvicorn close the connection: that is the cut.
        await send({"type": "http.response.body", "body": part, "more_body": cut})
        self.body_bytes = 0 if method == "HEAD" else len(part)
        self.complete = not cut


def _is_current(page: WorldPage, headers: dict[str, str]) -> bool:
    """Whether the client has this page already, by the ETag or, without one, by the date it names."""
    mine = dict(page.headers)
    if page.status != 200:
        return False
    if "if-none-match" in headers:
        return bool(mine.get("etag")) and headers["if-none-match"] == mine["etag"]
    return bool(mine.get("last-modified")) and headers.get("if-modified-since") == mine["last-modified"]


def _not_modified(page: WorldPage) -> WorldPage:
    kept = tuple((name, text) for name, text in page.headers if name in ("etag", "last-modified"))
    return replace(page, status=304, headers=kept, body=b"")


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

"""The hosts of the world `engines` as one raw ASGI app: it answers, witnesses each request, and takes control orders.

Pictures are made in a thread, so that an engine answers while one is drawn. `/__world/` is never logged.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from msgspec.structs import asdict

from holdfast.demo.engines.replies import Replies, Reply
from holdfast.demo.engines.weather import CALM, Trouble, Weather, set_dial, trouble_for
from holdfast.demo.engines.world import ENGINE_HOSTS, IMAGE_HOSTS, KEYWORDS, EnginesWorld
from holdfast.demo.request_log import RequestLog, read_log

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

CONTROL = "/__world/"
ORDER_BYTES_MAX = 8 * 1024 * 1024
BUSY = Reply(503, b"<title>Busy</title><p>Come back soon.</p>\n")
NONSENSE = Reply(200, b"<!doctype html><title>Maintenance</title><p>We will be back.</p>\n")


class EnginesOrigin:
    """Serve `world` on all of its hosts. One event loop; the order of arrival is the order of the log."""

    def __init__(self, world: EnginesWorld, log: RequestLog) -> None:
        self._world = world
        self._log = log
        self._weather: Weather = CALM
        self._replies = Replies(world)
        self._asks: Counter[str] = Counter()  # by URL
        self._host_asks: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"a world speaks only http, not {scope['type']!r}")
        path = scope["raw_path"].decode("latin-1")
        if path.startswith(CONTROL):
            await self._obey(scope["method"], path.removeprefix(CONTROL), receive, send)
        else:
            await self._witness(scope, path, receive, send)

    async def _witness(self, scope: Scope, path: str, receive: Receive, send: Send) -> None:
        host, query = scope["server"][0], scope["query_string"].decode("latin-1")
        key = f"http://{host}:{self._world.port}{path}" + (f"?{query}" if query else "")
        seq, at_ns = self._log.ask(key)
        sent = _Sent()
        try:
            self._asks[key] += 1
            self._host_asks[host] += 1
            # By host and path: the port is chance, and the same seed has the same troubles.
            trouble = trouble_for(self._weather, self._world.seed, f"{host}{path}?{query}", self._asks[key])
            reply = await self._reply(scope["method"], host, path, query, key, trouble)
            if trouble != "slow" or not await _client_left(receive, self._weather.slow_ms / 1000):
                await sent.give(reply, scope["method"], receive, send, cut=trouble == "cut")
        finally:
            self._log.sent(seq, at_ns, key, status=sent.status, body_bytes=sent.body_bytes, complete=sent.complete)

    async def _reply(self, method: str, host: str, path: str, query: str, key: str, trouble: Trouble | None) -> Reply:
        if method not in ("GET", "HEAD"):
            return Reply(405, b"Only GET and HEAD.\n")
        if trouble == "unavailable" or self._is_out(host):
            return BUSY
        if trouble == "throttled":
            return self._replies.throttled(key, self._weather)
        if trouble == "nonsense" and host in ENGINE_HOSTS.values():
            return NONSENSE
        if host in IMAGE_HOSTS:
            return await asyncio.to_thread(self._replies.image, path, self._asks[key], self._weather)
        return self._replies.search(host, path, parse_qs(query), self._asks[key], self._weather)

    def _is_out(self, host: str) -> bool:
        every, length = self._weather.outage_every, self._weather.outage_length
        return bool(every) and self._host_asks[host] % (every + length) >= every

    async def _obey(self, method: str, order: str, receive: Receive, send: Send) -> None:
        try:
            body = await _read_order(receive) if method == "POST" else b""
            answer: Any = await asyncio.to_thread(self._answer, method, order, json.loads(body or b"{}"))
        except (ValueError, TypeError, KeyError) as error:
            await _send_json(send, 400, {"error": str(error)})
            return
        if answer is None:
            await _send_json(send, 404, {"error": f"no {method} {CONTROL}{order}"})
        else:
            await _send_json(send, 200, answer)

    def _answer(self, method: str, order: str, body: dict[str, Any]) -> Any:
        match method, order:
            case "GET", "ready":
                return {"world": "engines", "seed": self._world.seed, "edition": 1}
            case "GET", "oracle":
                return self._facts()
            case "POST", "oracle":
                rounds = [[(str(e), str(q), int(at)) for e, q, at in questions] for questions in body["rounds"]]
                return self._world.perfect_run(rounds, int(body["wanted"]))
            case "GET", "log":
                return read_log(self._log.path)
            case "POST", "faults":
                self._weather = set_dial(body)
                self._asks.clear()
                self._host_asks.clear()
                return asdict(self._weather)
            case _:
                return None

    def _facts(self) -> dict[str, Any]:
        return {
            "seed": self._world.seed,
            "engines": {engine: self._world.origin(engine) for engine in ENGINE_HOSTS},
            "hosts": [f"{host}:{self._world.port}" for host in (*ENGINE_HOSTS.values(), *IMAGE_HOSTS)],
            "keywords": {keyword: self._world.labels(keyword) for keyword in KEYWORDS},
        }


class _Sent:
    """One answer on its way, and how far it got: status 0 means not a byte was sent."""

    def __init__(self) -> None:
        self.status = 0
        self.body_bytes = 0
        self.complete = False

    async def give(self, reply: Reply, method: str, receive: Receive, send: Send, *, cut: bool) -> None:
        headers = [(name.encode(), text.encode("latin-1")) for name, text in reply.headers]
        headers.append((b"content-length", str(len(reply.body)).encode()))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        self.status = reply.status
        is_whole = not cut and not reply.never_ends
        part = reply.body if is_whole else reply.body[: len(reply.body) // 2]
        # Promised more and then returning makes uvicorn close the connection: that is the cut.
        await send({"type": "http.response.body", "body": part, "more_body": not is_whole})
        self.body_bytes = 0 if method == "HEAD" else len(part)
        if reply.never_ends:
            while (await receive())["type"] != "http.disconnect":
                pass
        self.complete = is_whole


async def _client_left(receive: Receive, wait_s: float) -> bool:
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

"""What the hosts of the world say: search pages in the shapes of four engines, and images in every condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from urllib.parse import quote

import msgspec

from holdfast.demo.engines import shapes
from holdfast.demo.engines.pool import PoolImage
from holdfast.demo.engines.ranking import drifted, page_of
from holdfast.demo.engines.weather import Weather
from holdfast.demo.engines.world import ENGINE_HOSTS, IMAGE_HOSTS, EnginesWorld
from holdfast.demo.faults import chance

TYPES = {
    "jpg": "image/jpeg", "png": "image/png", "webp": "image/webp", "gif": "image/gif", "bmp": "image/bmp",
    "tiff": "image/tiff",
}  # fmt: skip
RETRY_AFTER_S = (3, 20)


class Reply(msgspec.Struct, frozen=True):
    """An answer; `never_ends` sends half of the body and then nothing more."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = (("content-type", shapes.HTML),)
    never_ends: bool = False


MISSING = Reply(404, b"<title>Not found</title><p>No such page.</p>\n")
CAPTCHA = Reply(200, b"<title>Access denied</title><p>Please solve the captcha to go on.</p>\n")
FORBIDDEN = Reply(403, b"<title>Forbidden</title><p>Not for you.</p>\n")


class Replies:
    def __init__(self, world: EnginesWorld) -> None:
        self._world = world
        self._tokens: Counter[str] = Counter()  # how often each was used; a token that is not here is not valid

    def throttled(self, where: str, weather: Weather) -> Reply:
        low, high = RETRY_AFTER_S
        drawn = low + int(chance(self._world.seed, "patience", where) * (high - low + 1))
        wait_s = drawn if weather.retry_after_s is None else weather.retry_after_s
        return Reply(429, b"Too many requests.\n", (("content-type", "text/plain"), ("retry-after", str(wait_s))))

    def image(self, path: str, nth_ask: int, weather: Weather) -> Reply:
        entry = self._world.entry_at(path)
        if entry is None or entry.kind == "missing":
            return MISSING
        if path.startswith("/moved/"):
            host = IMAGE_HOSTS[(entry.host + 1) % len(IMAGE_HOSTS)]
            place = f"/img/{quote(entry.keyword)}/{entry.number:04d}.{entry.extension}"
            return Reply(302, b"", (("location", f"http://{host}:{self._world.port}{place}"),))
        if entry.kind == "forbidden":
            return FORBIDDEN
        if entry.kind == "throttled" and nth_ask == 1:
            return self.throttled(path, weather)
        return self._file(entry)

    def search(self, host: str, path: str, query: Mapping[str, Sequence[str]], nth_ask: int, weather: Weather) -> Reply:
        engine = next((name for name, address in ENGINE_HOSTS.items() if address == host), "")
        asked = {name: values[-1] for name, values in query.items()}
        place = list(ENGINE_HOSTS).index(engine) if engine else len(ENGINE_HOSTS)
        if place < weather.blocking:
            return CAPTCHA
        if place < weather.forbidding:
            return FORBIDDEN
        match engine, path:
            case "google", "/search" if asked.get("tbm") == "isch":
                results = self._results(engine, asked.get("q", ""), asked.get("start"), nth_ask, weather)
                return Reply(200, shapes.google(results, asked.get("q", ""), newer=weather.newer))
            case "bing", "/images/search":
                results = self._results(engine, asked.get("q", ""), asked.get("first"), nth_ask, weather)
                return Reply(200, shapes.bing(results, asked.get("q", ""), newer=weather.newer))
            case "baidu", "/search/acjson" if asked.get("tn") == "resultjson_com":
                word = asked.get("word", "")
                results = self._results(engine, word, asked.get("pn"), nth_ask, weather)
                total = len(self._world.numbers(engine, word))
                return Reply(200, shapes.baidu(results, word, total), (("content-type", shapes.JSON),))
            case "duckduckgo", "/" if asked.get("iax") == "images":
                return Reply(200, shapes.duckduckgo_page(asked.get("q", ""), self._new_token(asked.get("q", ""))))
            case "duckduckgo", "/i.js":
                return self._duckduckgo(asked, nth_ask, weather)
            case _:
                return MISSING

    def _duckduckgo(self, asked: Mapping[str, str], nth_ask: int, weather: Weather) -> Reply:
        query, token = asked.get("q", ""), asked.get("vqd", "")
        if token not in self._tokens or self._tokens[token] >= weather.token_uses or not _is_for(query, token):
            return FORBIDDEN
        self._tokens[token] += 1
        results = self._results("duckduckgo", query, asked.get("s"), nth_ask, weather)
        following = _offset(asked.get("s")) + shapes.SIZES["duckduckgo"]
        more = following if following < len(self._world.numbers("duckduckgo", query)) else None
        return Reply(200, shapes.duckduckgo(results, query, token, more), (("content-type", shapes.JSON),))

    def _new_token(self, query: str) -> str:
        token = f"4-{len(self._tokens) + 1}-{_mark(query)}"
        self._tokens[token] = 0
        return token

    def _results(
        self, engine: str, query: str, offset: str | None, nth_ask: int, weather: Weather
    ) -> list[shapes.SearchResult]:
        keyword = self._world.keyword_of(query)
        if keyword is None:
            return []
        numbers = self._world.numbers(engine, query)
        if weather.drift:
            numbers = drifted(self._world.seed, numbers, nth_ask)
        page = page_of(engine, numbers, _offset(offset), shapes.SIZES[engine])
        return [self._world.result(self._world.pools[keyword][number]) for number in page]

    def _file(self, entry: PoolImage) -> Reply:
        body = self._world.files.body(entry, self._world.pools[entry.keyword])
        headers = (("content-type", TYPES[entry.extension]), ("cache-control", "max-age=86400"))
        return Reply(200, body, headers, never_ends=entry.kind == "never_ends")


def _offset(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0


def _is_for(query: str, token: str) -> bool:
    return token.endswith(f"-{_mark(query)}")


def _mark(query: str) -> str:
    return blake2b(query.encode(), digest_size=8).hexdigest()

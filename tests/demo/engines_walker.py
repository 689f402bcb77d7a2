"""A run over the world `engines` that needs no Holdfast: a page of code that asks, reads and decides by itself."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import unescape
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import ProxyHandler, build_opener

from PIL import Image

OPEN = build_opener(ProxyHandler({})).open
TIMEOUT_S = 3.0
BAIDU = str.maketrans("wkv1ju2it3hs4g5rq6fp7eo8dn9cm0bla", "abcdefghijklmnopqrstuvw1234567890")
Question = tuple[str, str, int]


def walk(origins: dict[str, str], rounds: Sequence[Sequence[Question]], wanted: int) -> dict[str, dict[str, Any]]:
    """URL → its fate, for one keyword."""
    fates: dict[str, dict[str, Any]] = {}
    kept: list[tuple[str, str, bytes]] = []
    for questions in rounds:
        if len(kept) >= wanted:
            break
        pages = [list(search(origins, question)) for question in questions]
        for rank in range(max(map(len, pages))):
            for url in (page[rank] for page in pages if rank < len(page)):
                if url not in fates:
                    fates[url] = {"disposition": "surplus"} if len(kept) >= wanted else fate(url, kept)
    return fates


def search(origins: dict[str, str], question: Question) -> Iterator[str]:
    engine, query, offset = question
    base, words = origins[engine], quote(query)
    if engine == "google":
        page = text(f"{base}/search?q={words}&tbm=isch&ijn={offset // 100}&start={offset}&tbs=")
        for meta in re.findall(r'<div class="rg_meta notranslate">(.*?)</div>', page):
            yield json.loads(unescape(meta))["ou"]
    elif engine == "bing":
        page = unescape(text(f"{base}/images/search?q={words}&count=35&first={offset}"))
        yield from re.findall(r'imgurl:"([^"]+)"', page)
    elif engine == "baidu":
        page = text(f"{base}/search/acjson?tn=resultjson_com&ipn=rj&word={words}&pn={offset}&rn=30")
        for coded in re.findall(r'"objURL": "([^"]+)"', page):
            for letters, letter in (("_z2C$q", ":"), ("_z&e3B", "."), ("AzdH3F", "/")):
                coded = coded.replace(letters, letter)
            yield coded.translate(BAIDU)
    else:
        found = re.search(r'vqd="([^"]+)"', text(f"{base}/?q={words}&iax=images&ia=images"))
        assert found
        page = text(f"{base}/i.js?l=wt-wt&o=json&q={words}&vqd={found[1]}&f=,,,&p=1&s={offset}")
        yield from (result["image"] for result in json.loads(page)["results"])


def fate(url: str, kept: list[tuple[str, str, bytes]]) -> dict[str, Any]:
    try:
        body = fetched(url)
    except (OSError, TimeoutError):
        return {"disposition": "failed"}
    digest = sha256(body).hexdigest()
    try:
        assert 1_000 <= len(body) <= 10_000_000
        image = Image.open(io.BytesIO(body))
        assert getattr(image, "n_frames", 1) == 1
        small = image.convert("RGB").resize((24, 24), Image.Resampling.BOX).tobytes()
    except (AssertionError, OSError, SyntaxError):
        return {"disposition": "rejected"}
    for other, other_digest, other_small in kept:
        if (
            digest == other_digest or max(abs(a - b) for a, b in zip(small, other_small, strict=True)) < 60
        ):  # a palette of 256 colours alone is 28
            return {"disposition": "duplicate", "duplicate_of": other}
    kept.append((url, digest, small))
    return {"disposition": "image", "sha256": digest}


def fetched(url: str) -> bytes:
    try:
        with OPEN(url, timeout=TIMEOUT_S) as answer:
            return bytes(answer.read())
    except HTTPError as refused:
        refused.close()
        if refused.code != 429:
            raise
        time.sleep(float(refused.headers["Retry-After"]))
        return fetched(url)


def text(url: str) -> str:
    return fetched(url).decode()

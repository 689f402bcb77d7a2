"""The answers of the four engines, letter by letter as a browser gets them. Written apart from what reads them.

`newer` is a switch: google and bing have two shapes, and the world serves one of them at a time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from urllib.parse import urlencode

import msgspec

HTML = "text/html; charset=utf-8"
JSON = "application/json; charset=utf-8"
SIZES = {"google": 100, "bing": 35, "baidu": 30, "duckduckgo": 100}
_CODED = dict(zip("abcdefghijklmnopqrstuvw1234567890", "wkv1ju2it3hs4g5rq6fp7eo8dn9cm0bla", strict=True)) | {
    ":": "_z2C$q",
    ".": "_z&e3B",
    "/": "AzdH3F",
}


class SearchResult(msgspec.Struct, frozen=True):
    """One result as an engine tells it."""

    image: str
    thumbnail: str
    page: str
    title: str
    width: int
    height: int


def google(results: Sequence[SearchResult], query: str, *, newer: bool) -> bytes:
    if newer:
        return _google_script(results, query)
    parts = [
        '<div class="rg_di rg_bx"><a class="rg_l" href="#"><img></a><div class="rg_meta notranslate">'
        + escape(_google_meta(one), quote=False)
        + "</div></div>"
        for one in results
    ]
    body = f'<title>{escape(query)} - Search</title><div id="rg_s">{"".join(parts)}</div>'
    return f"<!doctype html><html><body>{body}</body></html>".encode()


def bing(results: Sequence[SearchResult], query: str, *, newer: bool) -> bytes:
    parts = [_bing_newer(one) if newer else _bing_older(one) for one in results]
    inner = "".join(parts) or '<div class="no_results">There are no results.</div>'
    body = f'<title>{escape(query)} - Images</title><div class="dgControl">{inner}</div>'
    return f"<!doctype html><html><body>{body}</body></html>".encode()


def baidu(results: Sequence[SearchResult], query: str, total: int) -> bytes:
    entries = [
        {
            "objURL": coded(one.image),
            "hoverURL": one.image,
            "thumbURL": one.thumbnail,
            "fromURL": coded(one.page),
            "fromPageTitle": one.title + "@quote@",
            "width": one.width,
            "height": one.height,
        }
        for one in results
    ]
    answer = {"queryExt": query, "listNum": total, "displayNum": total, "data": [*entries, {}]}
    # Escapes that JSON does not have, as they occur in titles.
    return json.dumps(answer).replace("@quote@", r" \'s \x").encode()


def duckduckgo_page(query: str, token: str) -> bytes:
    head = f"<!doctype html><html><head><title>{escape(query)}</title>"
    return f"{head}<script>nrj('/t.js?q=x&vqd={token}');vqd=\"{token}\";</script></head><body></body></html>".encode()


def duckduckgo(results: Sequence[SearchResult], query: str, token: str, following: int | None) -> bytes:
    entries = [
        {
            "title": one.title,
            "image": one.image,
            "thumbnail": one.thumbnail,
            "url": one.page,
            "width": one.width,
            "height": one.height,
            "source": "Bing",
        }
        for one in results
    ]
    answer: dict[str, object] = {"ads": None, "query": query, "queryEncoded": query, "results": entries}
    if following is not None:
        answer["next"] = "i.js?" + urlencode({"q": query, "o": "json", "p": 1, "s": following, "vqd": token})
    return json.dumps(answer).encode()


def coded(url: str) -> str:
    """The letters of a URL, exchanged as Baidu exchanges them."""
    return "".join(_CODED.get(letter, letter) for letter in url)


def _google_meta(one: SearchResult) -> str:
    meta = {"ou": one.image, "ow": one.width, "oh": one.height, "ru": one.page, "tu": one.thumbnail, "pt": one.title}
    return json.dumps(meta)


def _google_script(results: Sequence[SearchResult], query: str) -> bytes:
    rows = [
        [1, [0, f"id{place}", [one.thumbnail, 120, 160], [one.image, one.height, one.width], None, 0,
             "rgb(8,8,8)", None, 0, {"2000": [None, "x"], "2003": [None, f"id{place}", one.page, one.title]}]]
        for place, one in enumerate(results)
    ]  # fmt: skip
    # In a script `<` would end it sooner or later, so it is escaped there.
    data = json.dumps([None, [[query], [None, rows]], []]).replace("<", "\\u003c")
    call = f"AF_initDataCallback({{key: 'ds:1', hash: '2', data:{data}, sideChannel: {{}}}});"
    return f'<!doctype html><html><body><script nonce="n">{call}</script></body></html>'.encode()


def _bing_newer(one: SearchResult) -> str:
    about = json.dumps({"murl": one.image, "turl": one.thumbnail, "purl": one.page, "t": one.title})
    return f'<div class="imgpt"><a class="iusc" m="{escape(about)}" href="#"><img class="mimg"></a></div>'


def _bing_older(one: SearchResult) -> str:
    about = f'{{ns:"images",k:"5",surl:"{one.page}",imgurl:"{one.image}",turl:"{one.thumbnail}",oh:"{one.height}"}}'
    return f'<div class="dg_u"><a m="{escape(about)}" t1="{escape(one.title)}" href="#"><img></a></div>'

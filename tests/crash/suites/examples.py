"""Good examples for every parser of T13, and the words that its language is made of. Each is (seeds, words)."""

from __future__ import annotations

import gzip
import zlib

import brotli
import msgspec

from holdfast.clock import ManualClock
from holdfast.control.snapshot import load_zstd
from holdfast.model.bookmark import Bookmark
from holdfast.model.edit import Walk
from holdfast.model.job import Counts
from holdfast.model.logline import log_line
from holdfast.model.record import Checkpoint

Examples = tuple[tuple[bytes, ...], tuple[bytes, ...]]
NOW_MS = ManualClock().wall_ms()

URLS: Examples = (
    (
        b"https://marsh.test/frog/../7?leg=2#top", b"//fen.test:8080/%7ea", b"?x=1", b"../b;c", b"http://[::1]:80/",
        b"http://0x7f.1/", b"marsh.test/a", b"https://user:pw@fr\xc3\xb6g.test/", b"127.0.0.1:8000",
    ),
    (b"http://", b"https:", b"xn--", b"@", b"#", b"?", b"%2e", b"\\", b":443", b"file:", b"javascript:"),
)  # fmt: skip

ROBOTS: Examples = (
    (
        b"User-agent: *\nDisallow: /frog*7$\nAllow: /%66rog\nCrawl-delay: 1.5\nSitemap: https://marsh.test/s.xml\n",
        b"\xef\xbb\xbfuser-agent: Holdfast/1\r\ndisallow: *\r\n\r\nuser-agent: x\rdisallow:\r",
    ),
    (b"User-agent: *\n", b"Disallow: /", b"Allow: *", b"$", b"Crawl-delay: ", b"inf", b"#"),
)

_URLSET = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://marsh.test/a'
    b"?x=1&amp;y=&#50;</loc></url><url><loc><![CDATA[https://marsh.test/b]]></loc></url></urlset>"
)
SITEMAPS: Examples = (
    (
        _URLSET,
        b"<s:sitemapindex><s:sitemap><s:loc> https://marsh.test/s.xml </s:loc></s:sitemap></s:sitemapindex>",
        gzip.compress(_URLSET, mtime=0),
        b"https://marsh.test/a\nhttps://marsh.test/b\n",
        _URLSET.decode().encode("utf-16"),
        b"# Frogs\n\n- [seven](https://marsh.test/7): a frog\n",
    ),
    (b"<loc>", b"</loc>", b"<![CDATA[", b"]]>", b"<urlset>", b"&#", b"&amp;", b"<!DOCTYPE", b"]("),
)

_HTML = (
    b"<!doctype html><html><head><meta charset=utf-8><title>Frogs &amp; toads &#8211;</title><base href='/pond/'>"
    b"<link rel=canonical href=https://marsh.test/frogs></head><body><!-- c --><a href='7?leg=2&amp;x=1'>seven</a>"
    b'<p class="x"><a href="//fen.test/">fen</a><area href=&#x2f;a><svg><title>i</title></svg>'
    b"<script>if (a<b) x='</p>'</script><table><tr><td><b>1<i>2</table><textarea><a href=no></textarea></body></html>"
)
PAGES: Examples = ((_HTML,), (b"<a href=", b"<!--", b"-->", b"<svg>", b"<title>", b"&#", b"='"))
TREES: Examples = ((_HTML, b'{"frogs": [1, 2.5e3, null, "x"]}'), (b"<b>", b"<p>", b"<a ", b"<base href="))

HEADERS: Examples = (
    (
        b'Content-Type: text/html; charset="utf-8"\r\nRetry-After: 120\r\nLocation: /frog/8\r\nETag: W/"7"\r\n',
        b"content-type: text/html;charset= koi8-r\r\nretry-after: Mon, 02 Mar 2026 12:00:00 GMT\r\nLink: </a>\r\n",
        b"Content-Encoding: gzip, br\r\nLast-Modified: Mon, 02 Mar 2026 12:00:00 GMT\r\nSet-Cookie: a=b; Path=/\r\n",
        b"content-type: text/html; charset= ;\r\n",
        b"Retry-After: 2 Mar 26 12.00 EST\r\nContent-Disposition: attachment; filename*=UTF-8''fr%C3%B6g\r\n",
    ),
    (b"charset=", b"Content-Type: ", b"Retry-After: ", b"gzip,", b"\r\n "),
)

_CROAK = b"frog " * 300
BODIES: Examples = (
    (
        gzip.compress(_CROAK, mtime=0),
        zlib.compress(_CROAK),
        brotli.compress(_CROAK),
        load_zstd().compress(_CROAK),
        gzip.compress(bytes(3_000_000), mtime=0),
    ),
    (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"),
)

FILTERS: Examples = (
    (
        b'status:failed -code:http_404 depth:>2 url:"*/a b*"',
        b"found:<2h settled:>2026-03-01T14:00+01:00 bytes:>=1.5MB id:T-9f run:R-4 label:*",
    ),
    (b"found:>@", b"-url:", b'"', b",", b">=", b"w", b"chunk:C-"),
)

TYPED: Examples = (
    (
        b"IMM-1-25..IMM-5000-25", b"IMM-0007-25", b"IMM-*-25", b"1.5GB", b"90m", b"url,title,+text", b"-settled_at",
        b"/guide/*", b"re:^/([^/]++/)*(?:index|[a-c]{2,3})$",
    ),
    (b"re:", b"(?:", b")", b"{1,2}", b"..", b"-", b"*"),
)  # fmt: skip

SETTINGS: Examples = (
    (
        b'data = "x"\n[http]\ntimeout = "60s"\n[job.frogs]\nkind = "site"\nurls = ["https://marsh.test"]\n',
        b'kind = "cases"\nranges = ["IMM-1-25..IMM-9-25"]\nurl = "https://marsh.test/{number}"\ndelay = "1s"\n',
    ),
    (b"[[job]]\n", b"a.b", b" = 1\n", b"2026-03-01", b"{", b"'''", b"0x"),
)

HOSTS: Examples = ((b"https://marsh.test:8080/a", b"http://[::]/", b"a.b.c_d"), (b"..",))

CHECKPOINT = msgspec.json.encode(
    Checkpoint(
        job=1, number=7, reason="manual", at=NOW_MS, run=1, phase="crawling", generation=1, cursor=3,
        commits={"2": 5}, counts=Counts(discovered=3, succeeded=2, pending=1, by_type={"page": {"succeeded": 2}}),
        active_ms=10, previous=b"0",
    )
)  # fmt: skip
_WALK = msgspec.json.encode(Walk(where=(("status", True, ("failed",)),), commits={"2": 5}, exclusion=1))
DOCUMENTS: Examples = ((CHECKPOINT, Bookmark({1: 5, 2: 7}, 2, 1).encoded(), _WALK), (b'":', b"1e9"))

LOG: Examples = (
    (log_line(NOW_MS, "warning", "ERROR", {"job": "J-7f3a", "message": 'a "frog"\n'}).encode(),),
    (b'="', b"\\u", b" x=", b"[HOLDFAST]"),
)

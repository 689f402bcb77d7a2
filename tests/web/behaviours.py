"""How badly a web behaves: one made-up host per behaviour, what it does, and what a crawl of it must end in.

Every host has a start page at `/` that links to `/bad` and to `/neighbour`. What is done at `/bad` is the behaviour;
the neighbour must be fetched whatever happens there. The right endings are those of worlds.md §6.
"""

from __future__ import annotations

import asyncio
import functools
import gzip
import zlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from time import time

import brotli
from backports import zstd

from fetch.hostile import CHUNKED, OK, answer, endless, hold, then_close, then_hold, then_reset

HTML = "Content-Type: text/html"
SLOW_S = 3.0  # the whole exchange, where a deadline is what must end it
Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]
Lazy = Callable[[], bytes]
OTHER = "other:"
JOB = "job"


@dataclass(frozen=True)
class Wall:
    """An answer for those who bring the cookie, and one for those who do not."""

    cookie: bytes
    without: bytes
    behind: bytes


@dataclass(frozen=True)
class Link:
    """A page that leads to the second host's `/page`."""

    headers: tuple[str, ...] = ()


WorldPage = Answer | list[Answer] | functools.partial[bytes] | Wall | Link


@dataclass(frozen=True)
class Behaviour:
    """`ends` is `succeeded`, `skipped/…` or the failure code of `/bad` (or of `of`), `says` a part of the reason.

    Of the whole job (`of` is JOB) it is what paused it. `asked` is how often the site may be asked for `/bad`, None
    where that is not told by the number of attempts. With a `recipe` it is `holdfast run` that is played, again and
    again where the recipe kills it.
    """

    group: str
    what: str
    bad: WorldPage
    ends: str
    says: str = ""
    of: str = "/bad"
    more: dict[str, WorldPage] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    asked: int | None = 1
    cpu_s_max: float = 20.0
    rss_mb_max: int = 90
    tls: bool = False
    other: dict[str, WorldPage] = field(default_factory=dict)  # pages of a second host; `of` then begins with OTHER
    job: str = "completed"
    settings: dict[str, str] = field(default_factory=dict)
    seconds_min: float = 0.0
    recipe: str = ""

    @property
    def name(self) -> str:
        """The host's name, made from what it does."""
        words = "".join(char if char.isalnum() else " " for char in self.what.lower()).split()
        return "-".join(words)[:50].strip("-")


def html(body: bytes = b"<p>a frog</p>", *headers: str, status: str = "200 OK", kind: str = HTML) -> bytes:
    return answer(body, kind, *headers, status=status)


def packed(body: bytes, *encodings: str) -> bytes:
    return html(body, f"Content-Encoding: {', '.join(encodings)}")


def made(make: Lazy) -> functools.partial[bytes]:
    """An answer made when it is asked for: some are large."""
    return functools.partial(make)


def to(where: str, status: str = "302 Found") -> bytes:
    return answer(b"", f"Location: {where}", status=status)


@functools.cache
def zeros(pack: Callable[[bytes], bytes]) -> bytes:
    """A bomb: 30 MB of nothing."""
    return pack(bytes(30_000_000))


def quick_brotli(body: bytes) -> bytes:
    return brotli.compress(body, quality=4)


def wide_zstd() -> bytes:
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 27})
    return packer.compress(b"frog" * 1000) + packer.flush()


def links(count: int) -> bytes:
    return html(b"".join(b"<a href=%x>" % n for n in range(count)))


def hops(count: int) -> dict[str, WorldPage]:
    return {f"/hop{n}": to(f"/hop{n + 1}") for n in range(1, count)} | {f"/hop{count}": html()}


def retry_after(seconds: float) -> bytes:
    return html(b"later", f"Retry-After: {formatdate(time() + seconds, usegmt=True)}", status="429 Slow down")


CAPTCHAS = ("/a", "/b", "/c", "/d")


def captchas() -> bytes:
    """A page that leads to nothing but block pages."""
    return html(b"".join(b"<a href=%s>" % path.encode() for path in CAPTCHAS))


def recipe(at_bad: str) -> str:
    """A recipe that follows the links of the start page and does this with `/bad`, once it has fetched it."""
    return f"""
import os, signal
from holdfast.recipe import Recipe, record, target

web = Recipe("web")

@web.plan
def plan(params):
    yield target(params["start"])

@web.step("page")
async def page(here, fetch):
    page = await fetch(here.url)
    if here.url.endswith("/bad"):
        {at_bad}
    yield record(bytes=len(page.body))
    for url in page.links():
        yield target(url)
"""


ONCE = ("--max-attempts", "1")
TWICE = ("--max-attempts", "2")
ANY = ("--scope", "any")
AUTO = ("--sitemap", "auto")
LINK = Link()
DEADLINE = ("--timeout", f"{SLOW_S:g}s", *ONCE)
LATER = html(b"later", status="429 Slow down")
BUSY = html(b"busy", status="503 Busy")
NOISE = bytes(range(256)) * 40
FORBIDDEN = {f"/no{n}": html(status="403 No") for n in range(30)}
CAPTCHA = b"<title>Access denied</title><p>Checking your browser. Please solve the captcha.</p>"
DEEPER = html(b"<a href=a/>deeper</a>")

# fmt: off
HTTP = (
    ("429, Retry-After in seconds, then well", [html(b"later", "Retry-After: 1", status="429 Slow down"), html()],
     "succeeded", {"asked": 2}),
    ("429, Retry-After as a date, then well", [functools.partial(retry_after, 2), html()], "succeeded", {"asked": 2}),
    ("429 without Retry-After, then well", [LATER, html()], "succeeded", {"asked": 2}),
    ("429 for ever", LATER, "http_429", {"asked": 2, "options": TWICE}),
    ("429, Retry-After of ten years", html(b"", "Retry-After: 315360000", status="429 Slow down"), "pending",
     {"says": "waits 24 h", "options": ("--time-limit", "6s"), "job": "timeout"}),
    ("503 twice, then well", [BUSY, BUSY, html()], "succeeded", {"asked": 3}),
    ("503 for ever", BUSY, "http_5xx", {"asked": 2, "options": TWICE}),
    ("500", html(status="500 Oh"), "http_5xx", {"options": ONCE}),
    ("401", html(status="401 Who"), "http_401", {}),
    ("403", html(status="403 No"), "http_403", {}),
    ("403 for thirty pages", html(b"".join(b"<a href=%s>" % path.encode() for path in FORBIDDEN)), "blocked",
     {"of": JOB, "says": "answered 403 1", "more": FORBIDDEN, "options": ("--concurrency", "1"), "job": "paused"}),
    ("404", html(status="404 None"), "http_404", {}),
    ("410", html(status="410 Gone"), "http_410", {}),
    ("451", html(status="451 Law"), "http_4xx", {}),
    ("204, nothing", b"HTTP/1.1 204 None\r\n\r\n", "succeeded", {}),
    ("206 unasked", answer(b"frog", "Content-Range: bytes 0-3/9", status="206 Part"), "bad_response", {"asked": 2}),
    ("304 unasked", b"HTTP/1.1 304 Same\r\n\r\n", "bad_response", {"asked": 2}),
    ("a status nobody knows", html(status="799 Frog"), "bad_response", {"asked": 2}),
    ("200 with an error page", html(b"<title>Not found</title>"), "succeeded", {}),
    ("200 with a sign-in page", html(b"<form><input type=password></form>"), "succeeded", {}),
    ("100 and 103 before the answer", b"HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </x>\r\n\r\n" + html(),
     "succeeded", {}),
    ("101 unasked", b"HTTP/1.1 101 Switch\r\nUpgrade: frog\r\n\r\n", "network_timeout", {"options": DEADLINE}),
)
TRANSPORT = (
    ("connection refused", to("http://refused.test/"), "network_error",
     {"of": "http://refused.test/", "options": ("--scope", "any", *ONCE)}),
    ("reset before the headers", then_reset(b""), "network_error", {"options": ONCE, "asked": None}),
    ("reset in the body", then_reset(answer(b"half", length=99)), "network_error", {"options": ONCE}),
    ("closed without a word", then_close(b""), "network_error", {"options": ONCE, "asked": None}),
    ("body shorter than declared", then_close(answer(b"half", length=99)), "body_incomplete", {"options": ONCE}),
    ("body longer than declared", then_close(answer(b"<p>a frog</p>more", HTML, length=13)), "succeeded", {}),
    ("chunked, cut off", then_close(CHUNKED + b"\r\n4\r\nfrog\r\n"), "body_incomplete", {"options": ONCE}),
    ("chunked with a size that is none", then_close(CHUNKED + b"\r\nfrog\r\nfrog\r\n"), "body_incomplete",
     {"options": ONCE}),
    ("chunked without end", endless(CHUNKED + b"\r\n", b"4\r\nfrog\r\n", 0.05), "network_timeout",
     {"says": "total: not complete", "options": DEADLINE}),
    ("one byte at a time", endless(answer(b"", length=10_000), b"f", 0.05), "network_timeout",
     {"says": "total: not complete", "options": DEADLINE}),
    ("no answer at all", hold, "network_timeout", {"options": DEADLINE}),
    ("no first byte, by its own deadline", hold, "network_timeout",
     {"says": "first byte", "options": ONCE, "settings": {"HOLDFAST_HTTP__FIRST_BYTE_TIMEOUT": "1s"}}),
    ("a silence in the body, by its own deadline", then_hold(answer(b"half", length=99)), "network_timeout",
     {"says": "idle", "options": ONCE, "settings": {"HOLDFAST_HTTP__IDLE_TIMEOUT": "1s"}}),
    ("headers that never end", then_hold(OK.encode()), "network_timeout", {"options": DEADLINE}),
    ("a body that stalls", then_hold(answer(b"half", length=99)), "network_timeout", {"options": DEADLINE}),
    ("a body without end", endless(OK.encode() + b"\r\n", bytes(65_536)), "body_too_large",
     {"says": "larger than 20000000 bytes", "options": ("--max-bytes", "20MB")}),
    ("a length of a terabyte", then_hold(answer(b"", length=10**12)), "body_too_large", {}),
    ("TLS that nobody vouches for", to("https://secure.test/"), "tls_error",
     {"of": "https://secure.test/", "options": ("--scope", "any"), "tls": True}),
    ("TLS that is never answered", to("https://silent.test/"), "network_timeout",
     {"of": "https://silent.test/", "options": ("--scope", "any", "--ignore-robots", *DEADLINE)}),
    ("no TLS behind https", to("https://plain.test/"), "tls_error",
     {"of": "https://plain.test/", "options": ("--scope", "any")}),
    ("a name that does not exist", to("http://frog.onion/"), "dns_error",
     {"of": "http://frog.onion/", "options": ("--scope", "any", *ONCE)}),
)
NO_HTTP = (
    ("another protocol's greeting", then_close(b"220 marsh.test ESMTP\r\n"), "bad_response", {"asked": 2}),
    ("a body without headers", then_close(b"<p>HTTP/0.9</p>"), "bad_response", {"asked": 2}),
    ("a length that is no number", b"HTTP/1.1 200 OK\r\nContent-Length: frog\r\n\r\n", "bad_response", {"asked": 2}),
    ("two lengths", then_close(answer(b"frog", "Content-Length: 99")), "bad_response", {"asked": 2}),
    ("400 headers of a kilobyte", then_hold(OK.encode() + (b"X: " + b"g" * 1000 + b"\r\n") * 400), "bad_response",
     {"asked": 2}),
    ("a header of 400 kB", then_hold(OK.encode() + b"X: " + b"g" * 400_000), "bad_response", {"asked": 2}),
    ("headers without end", endless(OK.encode(), b"X: green\r\n" * 100), "bad_response", {"asked": 2}),
    ("hints without end", endless(b"", b"HTTP/1.1 103 H\r\nX: y\r\n\r\n" * 100), "bad_response", {"asked": 2}),
    ("a header with NUL", html(b"<p>x</p>", "X-Frog: gr\0en"), "bad_response", {"asked": 2}),
    ("lines that are no headers", html(b"<p>x</p>", "just words", ": nameless"), "succeeded", {"asked": 2}),
)
REDIRECTS = (
    ("redirect to itself", to("/bad"), "too_many_redirects", {}),
    ("a chain of 12 hops", to("/hop1"), "too_many_redirects", {"of": "/hop10", "more": hops(12)}),
    ("a loop over two URLs", to("/b"), "skipped/duplicate", {"more": {"/b": to("/bad")}}),
    ("to no http URL", to("ftp://marsh.test/"), "bad_url", {}),
    ("to a script", to("javascript:alert(1)"), "bad_url", {}),
    ("redirect without a Location", answer(b"", status="302 Found"), "bad_url", {}),
    ("Location of 100 kB", to("/" + "x" * 90_000), "bad_url", {}),
    ("to a loopback address", to("http://127.0.0.1:9/"), "blocked_address", {}),
    ("to a link-local address", to("http://169.254.1.1/"), "blocked_address", {"options": ("--scope", "any")}),
    ("to a cloud metadata address", to("http://169.254.169.254/latest/"), "blocked_address",
     {"options": ("--scope", "any", "--allow-private")}),
    ("to an address spelled oddly", to("http://0x7f.1:9/"), "blocked_address", {}),
    ("a link to a loopback address", html(b"<a href=http://127.0.0.1:9/x>x</a>"), "blocked_address",
     {"options": ("--scope", "any"), "of": "http://127.0.0.1:9/x"}),
    ("to another host, out of scope", to("http://elsewhere.test/"), "skipped/out_of_scope", {}),
)
ENCODINGS = (
    ("gzip bomb", lambda: packed(zeros(gzip.compress), "gzip"), "bomb", {}),
    ("deflate bomb", lambda: packed(zeros(zlib.compress), "deflate"), "bomb", {}),
    ("brotli bomb", lambda: packed(zeros(quick_brotli), "br"), "bomb", {}),
    ("zstd bomb", lambda: packed(zeros(zstd.compress), "zstd"), "bomb", {}),
    ("gzip bomb in gzip", lambda: packed(gzip.compress(zeros(gzip.compress)), "gzip", "gzip"), "bomb", {}),
    ("74,000 empty zstd frames", lambda: packed(zstd.compress(b"") * 74_000, "zstd"), "bomb", {}),
    ("100,000 empty zstd frames in gzip", lambda: packed(gzip.compress(zstd.compress(b"") * 100_000), "zstd", "gzip"),
     "bomb", {}),
    ("zstd that wants 128 MB of memory", lambda: packed(wide_zstd(), "zstd"), "bad_response", {"asked": 2}),
    ("encodings three deep", packed(b"x", "gzip", "gzip", "gzip"), "bomb", {}),
    ("an encoding that was not asked for", packed(b"frog", "compress"), "bad_response", {"asked": 2}),
    ("gzip that is none", packed(b"<p>plain</p>", "gzip"), "bad_response", {"asked": 2}),
    ("gzip cut short", packed(gzip.compress(NOISE)[:-9], "gzip"), "body_incomplete", {"options": ONCE}),
)
CONTENT = (
    ("wrong charset", html("Möwe".encode("latin-1"), kind=f"{HTML}; charset=utf-8"), "succeeded", {}),
    ("a charset that does not exist", html("Möwe".encode(), kind=f"{HTML}; charset=frog"), "succeeded", {}),
    ("invalid UTF-8", html(b"<title>\xff\xfe\x80 frog</title><a href=/\xff>x</a>"), "succeeded", {}),
    ("NUL bytes", html(b"<ti\0tle>a\0b</title><a href='/x\0y'>x</a>\0\0"), "succeeded", {}),
    ("a picture that says it is HTML", html(NOISE * 100), "succeeded", {}),
    ("500,000 links", made(lambda: links(500_000)), "succeeded",
     {"says": '"limit":48', "options": ("--max-depth", "1"), "rss_mb_max": 160, "cpu_s_max": 40}),
    ("HTML over 10 MB", made(lambda: links(1_000_000)), "succeeded",
     {"says": "stored, not parsed", "rss_mb_max": 150}),
    ("100,000 nested tags", made(lambda: html(b"<div>" * 100_000)), "succeeded", {}),
    ("200,000 attributes", made(lambda: html(b"<a " + b"x=1 " * 200_000 + b">")), "succeeded", {}),
    ("markup that multiplies in a tree", made(lambda: html(b"<b id=x><p>" * 3000)), "succeeded", {}),
    ("comments that never close", made(lambda: html(b"<!--" * 500_000)), "succeeded", {}),
    ("a tag that never closes", made(lambda: html(b"<a href='" + b"x" * 5_000_000)), "succeeded", {"rss_mb_max": 130}),
    ("an href of a megabyte", made(lambda: html(b"<a href='/" + b"x" * 1_000_000 + b"'>x</a>")), "succeeded", {}),
    ("hrefs that lead nowhere", html(b"<a href='http://[::1'>a</a><a href='http://:0/'>b</a><a href='//'>c</a>"
                                     b"<a href='data:,x'>d</a><a href='javascript:x'>e</a><a href='mailto:f@g'>f</a>"),
     "succeeded", {}),
    ("a title of a megabyte", made(lambda: html(b"<title>" + b"x" * 1_000_000)), "succeeded", {}),
    ("a file name that climbs", html(b"%PDF", 'Content-Disposition: attachment; filename="../../../etc/passwd"',
                                     kind="Content-Type: application/pdf"), "succeeded", {}),
    ("a path that repeats itself for ever", html(b"<a href=/a/>a</a>"), "skipped/limit",
     {"of": "/a/a/a/a/", "more": {"/a/": DEEPER, "/a/a/": DEEPER, "/a/a/a/": DEEPER}}),
    ("a path that climbs", to("/a/../../../../etc/passwd"), "succeeded",
     {"of": "/etc/passwd", "more": {"/etc/passwd": html()}}),
    ("control characters in what is shown", html(b"<title>\x1b]0;frog\x07\x1b[31m</title>",
                                                 kind=f"{HTML}; x=\x1b[31m"), "succeeded", {}),
)
SESSIONS = (
    ("a cookie wall, with --cookies", Wall(b"tadpole=1", answer(b"", "Location: /bad", "Set-Cookie: tadpole=1",
                                                                status="302 Found"), html()),
     "succeeded", {"asked": 2, "options": ("--cookies",)}),
    ("a cookie wall, without", Wall(b"tadpole=1", answer(b"", "Location: /bad", "Set-Cookie: tadpole=1",
                                                         status="302 Found"), html()), "too_many_redirects", {}),
    ("a cookie that never satisfies", answer(b"", "Location: /bad", "Set-Cookie: a=b", status="302 Found"),
     "too_many_redirects", {"asked": 2, "options": ("--cookies",)}),
    ("cookies without end", html(b"<p>x</p>", *(f"Set-Cookie: c{n}={'x' * 500}" for n in range(400))), "succeeded",
     {"options": ("--cookies",)}),
    ("a cookie for another host", Link(("Set-Cookie: tadpole=1", "Set-Cookie: tadpole=1; Domain=test")), "succeeded",
     {"of": "other:/page", "options": (*ANY, "--cookies"),
      "other": {"/page": Wall(b"tadpole=1", html(), html(status="500 A cookie that is not mine"))}}),
    ("a captcha with status 200", captchas(), "blocked", {
        "of": JOB, "says": "with a block page", "job": "paused", "more": dict.fromkeys(CAPTCHAS, html(CAPTCHA))}),
    ("a captcha with status 403", captchas(), "blocked", {
        "of": JOB, "says": "with a block page", "job": "paused",
        "more": dict.fromkeys(CAPTCHAS, html(CAPTCHA, status="403 No"))}),
    ("one page that speaks of captchas", html(CAPTCHA), "succeeded", {"asked": 2}),
)
OWN_SIDE = (
    ("a step that raises", html(), "recipe_error",
     {"recipe": recipe("raise ValueError('no frog here')"), "says": "ValueError: no frog here", "options": TWICE,
      "asked": 2}),
    ("a page that kills its worker", html(), "poison",
     {"recipe": recipe("os.kill(os.getpid(), signal.SIGKILL)"), "asked": 4, "cpu_s_max": 60}),
)
LISTS = (
    ("robots.txt answers 500", LINK, "robots_unreachable",
     {"of": "other:/page", "options": ANY, "other": {"/robots.txt": html(status="500 Oh")}}),
    ("robots.txt never answers", LINK, "robots_unreachable",
     {"of": "other:/page", "options": (*ANY, "--timeout", "1s"), "other": {"/robots.txt": hold}}),
    ("robots.txt is forbidden", LINK, "succeeded",
     {"of": "other:/page", "options": ANY, "other": {"/robots.txt": html(status="403 No"), "/page": html()}}),
    ("robots.txt that moves for ever", LINK, "succeeded",
     {"of": "other:/page", "options": ANY, "other": {"/robots.txt": to("/robots.txt?"), "/robots.txt?":
      to("/robots.txt"), "/page": html()}}),
    ("robots.txt of 4 MB", LINK, "succeeded",
     {"of": "other:/page", "options": ANY, "other": {"/page": html(), "/robots.txt": answer(
         b"User-agent: *\nDisallow: /private\n" + b"# frog\n" * 600_000 + b"Disallow: /\n")}}),
    ("robots.txt that contradicts itself", html(), "succeeded",
     {"more": {"/robots.txt": answer(b"User-agent: *\nDisallow: /\n\nUser-agent: holdfast\nAllow: /\nDisallow: /")}}),
    ("robots.txt with a million stars", html(), "succeeded",
     {"more": {"/robots.txt": answer(b"User-agent: *\n" + b"Disallow: /*a*a*a*a*a*a*a*a*a*a*a*b\n" * 5000)}}),
    ("robots.txt of pictures and NULs", html(), "succeeded", {"more": {"/robots.txt": answer(NOISE * 20)}}),
    ("Crawl-delay", html(), "succeeded",
     {"more": {"/robots.txt": answer(b"User-agent: *\nCrawl-delay: 2\n")}, "seconds_min": 4.0}),
    ("a sitemap index of itself", html(), "succeeded", {"of": "/list.xml", "options": AUTO, "more": {
        "/robots.txt": answer(b"Sitemap: /list.xml"),
        "/list.xml": answer(b"<sitemapindex><sitemap><loc>/list.xml</loc></sitemap></sitemapindex>")}}),
    ("a packed sitemap that is a bomb", html(), "bomb", {"of": "/list.xml.gz", "options": AUTO, "more": {
        "/robots.txt": answer(b"Sitemap: /list.xml.gz"), "/list.xml.gz": made(lambda: answer(zeros(gzip.compress)))}}),
    ("a sitemap that is a page", html(), "answer_unreadable", {"of": "/list.xml", "options": AUTO, "more":
        {"/robots.txt": answer(b"Sitemap: /list.xml"), "/list.xml": html()}}),
    ("a sitemap with dates to come", html(), "succeeded", {"of": "/listed", "options": AUTO, "more": {
        "/robots.txt": answer(b"Sitemap: /list.xml"), "/listed": html(),
        "/list.xml": answer(b"<urlset><url><loc>/listed</loc><lastmod>2999-01-01</lastmod></url></urlset>")}}),
    ("entities that multiply in a sitemap", html(), "succeeded", {"of": "/list.xml", "options": AUTO,
        "more": {"/robots.txt": answer(b"Sitemap: /list.xml"), "/list.xml": answer(
            b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
            b'<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>/&b;&f;</loc></url></urlset>')}}),
)
# fmt: on


def _group(name: str, rows: Sequence[tuple[str, object, str, dict[str, object]]]) -> tuple[Behaviour, ...]:
    return tuple(Behaviour(name, what, bad, ends, **more) for what, bad, ends, more in rows)  # type: ignore[arg-type]


BEHAVIOURS = (
    *_group("answers", HTTP),
    *_group("connections", TRANSPORT),
    *_group("no valid HTTP", NO_HTTP),
    *_group("redirects", REDIRECTS),
    *_group("encodings", ENCODINGS),
    *_group("content", CONTENT),
    *_group("sessions", SESSIONS),
    *_group("robots.txt and sitemaps", LISTS),
    *_group("on our own side", OWN_SIDE),
)

# Near twins of another row: played by `make hostile`, and left out of every change's tests for their time.
TWINS = frozenset(
    {
        "429 without Retry-After, then well", "503 for ever", "500", "451", "204, nothing", "200 with an error page",
        "200 with a sign-in page", "closed without a word", "headers that never end", "a body that stalls",
        "a length of a terabyte", "a body without headers", "two lengths", "hints without end", "a header with NUL",
        "to a script", "redirect without a Location", "Location of 100 kB",
        "deflate bomb", "gzip bomb in gzip", "gzip that is none", "a charset that does not exist",
        "a picture that says it is HTML", "comments that never close", "an href of a megabyte", "a title of a megabyte",
        "a cookie wall, without", "cookies without end", "robots.txt of pictures and NULs",
        "a sitemap with dates to come", "a captcha with status 403",
    }
)  # fmt: skip
EVERY_CHANGE = tuple(row for row in BEHAVIOURS if row.what not in TWINS)

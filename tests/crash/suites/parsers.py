"""Every parser that reads what strangers or people wrote, and what must hold of the answer of each.

`ask` comes back, or raises a HoldfastError, whatever it is given. `Wrong` says that an answer came, and what is wrong
with it; anything else that it raises has escaped from the parser.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

import ada_url
import msgspec

from crash.suites import examples
from holdfast.blobs.warc import member, payload
from holdfast.clock import ManualClock
from holdfast.config.files import parse as read_toml_text
from holdfast.config.jobfile import job_in
from holdfast.config.reading import Reading, add_document
from holdfast.errors import HoldfastError
from holdfast.fetch.guard import endpoint_of
from holdfast.fetch.http.decode import Decoder, encodings_of
from holdfast.fetch.http.headers import header_lines, parse_headers
from holdfast.fetch.http.unpackers import ENCODINGS
from holdfast.ledger.books import read_checkpoint
from holdfast.model.bookmark import read_bookmark
from holdfast.model.edit import read_walk
from holdfast.model.exchange import Budget, Response
from holdfast.model.job import check_name
from holdfast.model.keys import Address, address_of, canonical, key_of, seed_address
from holdfast.model.logline import log_line, read_line
from holdfast.model.outcome import Body, BodyRef
from holdfast.model.units import duration, seconds_ago, size
from holdfast.policy import filters
from holdfast.policy.blocking import block_page
from holdfast.policy.listings import SitemapRefused
from holdfast.policy.patterns import read_pattern
from holdfast.policy.retry import RETRY_AFTER_MAX_S, read_retry_after
from holdfast.policy.robots import read_robots
from holdfast.policy.sitemaps import read_llms_txt, read_sitemap
from holdfast.policy.traps import trap
from holdfast.recipe import Page
from holdfast.recipes.cases.ids import is_range, read_range
from holdfast.recipes.site.charset import decode
from holdfast.recipes.site.links import resolve
from holdfast.recipes.site.page import read_page
from holdfast.recipes.site.recipe import SiteRecipe
from holdfast.recipes.site.text import visible_text
from holdfast.recipes.site.validators import asking_again, validators_of
from holdfast.views.ordering import parse_sort
from holdfast.views.results import parse_fields
from tidy.source_tree import ROOT

SALT = bytes(16)
INT64 = range(-(1 << 63), 1 << 63)
PAGE = seed_address("https://marsh.test/frog/7?leg=2")
BUDGET = Budget(body_bytes_max=2_000_000)
PATHS = ("/", "/frog/7?leg=2", "/%66rog", "/frög \ud800", "", "/" + "a/" * 1_000)


class Wrong(Exception):
    """The parser has given an answer that cannot be right."""


def must(holds: object, what: str) -> None:
    if not holds:
        raise Wrong(what)


@dataclass(frozen=True)
class Parser:
    """`seeds` are read well; `words` are what its language is made of."""

    name: str
    ask: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()
    inputs: int = 300  # in a batch: as many as take about a third of a second


def ask_url(data: bytes) -> None:
    """A canonical address is its own canonical form, and the parts are the whole."""
    text = _typed(data)
    for base in (None, PAGE.url):
        if address := canonical(text, base):
            _check_address(address)
    if address := resolve(text, PAGE):
        _check_address(address)
    _check_address(seed_address(text))


def _check_address(address: Address) -> None:
    must(address.url == address.origin + address.path and address.path[:1] == "/", f"parts of {address}")
    must(canonical(address.url) == address, f"{canonical(address.url)} is the canonical form of {address}")
    must(ada_url.normalize_url(address.url) == address.url, f"a browser spells {address.url!r} otherwise")
    must(address_of(address.url, address.host) == address, f"{address} is taken apart otherwise")
    must("#" not in address.url and "@" not in address.host, f"fragment or credentials in {address}")
    must(0 <= endpoint_of(address.url)[1] < 65_536, f"the port of {address.url!r}")
    key_of(address, SALT)
    trap(address)


def ask_robots(data: bytes) -> None:
    rules = read_robots(data)
    for path in (*PATHS, _text(data)[:500]):
        barring = rules.barring(path)
        must(not barring or barring.startswith("Disallow: "), f"{path[:100]!r} is barred by {barring!r}")
    must(rules.barring("/robots.txt") == "", "robots.txt forbids itself")
    must(rules.crawl_delay_ms is None or 0 <= rules.crawl_delay_ms <= 60_000, f"delay {rules.crawl_delay_ms}")


def ask_sitemap(data: bytes) -> None:
    try:
        listed = read_sitemap(data)
    except SitemapRefused:
        return
    _, links = read_llms_txt(_text(data))
    for url in (*(listed.urls if listed else ()), *links):
        canonical(url, PAGE.url)


def ask_links(data: bytes) -> None:
    """The page as the site recipe reads it: by its tokens."""
    text = decode(data, "text/html")
    page = read_page(text)
    must("" not in page.hrefs and len(set(page.hrefs)) == len(page.hrefs), "links that are none, or twice")
    (page.title or "").encode()
    for href in page.hrefs:
        if address := resolve(href, PAGE):
            _check_address(address)
    (visible_text(data, "text/html") or "").encode()
    block_page(Response(url=PAGE.url, status=403, headers=(), body=data))


def ask_tree(data: bytes) -> None:
    """The page as a recipe of one's own reads it: by its elements."""
    page = Page(Response(url=PAGE.url, status=200, headers=(("content-type", "text/html"),), body=data), decode)
    for url in page.links():
        must(canonical(url) is not None, f"a link to {url!r}")
    page.text("title")
    page.json()


def ask_headers(data: bytes) -> None:
    """Whatever is read from an answer's headers."""
    fields = parse_headers([b"HTTP/1.1 200 OK\r\n", *data.splitlines(keepends=True), b"\r\n"])
    response = Response(url=PAGE.url, status=200, headers=fields, body=b"<p>fr\xf6g")
    for name, value in fields:
        must(name == name.strip().lower() and "\n" not in value, f"the field {name!r}")
    decode(response.body, response.header("content-type") or "")
    wait_s = read_retry_after(response.header("retry-after"), examples.NOW_MS)
    must(wait_s is None or 0 <= wait_s <= RETRY_AFTER_MAX_S, f"Retry-After means {wait_s}")
    canonical(response.header("location") or "about:blank", PAGE.url)
    header_lines(asking_again(msgspec.json.encode(validators_of(response.first()))))
    digest = sha256(response.body).digest()
    stored = Body(PAGE.url, 200, fields, response.body, digest, response.media, examples.NOW_MS)
    reference = BodyRef("frogs.warc.gz", 0, 0, len(stored.content), digest, stored.media)
    _must_read(member(stored), reference)
    Decoder(encodings_of(fields), BUDGET)


def _must_read(packed: bytes, reference: BodyRef) -> None:
    try:
        payload(packed, reference)
    except HoldfastError as error:
        raise Wrong(f"what was stored cannot be read: {error}") from error


def ask_body(data: bytes) -> None:
    """A packed body, in every encoding that we ask for; and as a stored page."""
    for encoding in ENCODINGS:
        decoder = Decoder((encoding,), BUDGET)
        with suppress(HoldfastError):
            decoder.feed(data[:1_000])
            decoder.feed(data[1_000:])
            must(len(decoder.finish()) <= BUDGET.body_bytes_max, "more than the budget")
    payload(data, BodyRef("frogs.warc.gz", 0, len(data), 4, sha256(b"frog").digest(), "text/html"))


def ask_where(data: bytes) -> None:
    """A filter means the same tomorrow, in numbers that a ledger holds and texts that it stores."""
    text = _typed(data)
    kept = filters.resolved(filters.parse(text), examples.NOW_MS)
    must(filters.resolved(kept, examples.NOW_MS + 1) == kept, "what was resolved is resolved again")
    for key, _, values in kept:
        for value in values:
            meant = filters.reading(key, value).value
            must(meant in INT64 if isinstance(meant, int) else meant.encode() is not None, f"{key} {meant!r}")


def ask_typed(data: bytes) -> None:
    """What is typed behind other options."""
    text = _typed(data)
    is_range(text)
    seconds_ago(text)
    for read in (_ask_units, read_range, parse_fields, parse_sort, check_name, _ask_pattern):
        with suppress(HoldfastError):
            read(text)


def _ask_units(text: str) -> None:
    for read in (duration(0, 86_400), size(0, 10**12)):
        try:
            read(text)
        except ValueError as error:  # how these refuse, in a sentence of their own
            must(str(error).startswith(("must be from ", repr(text))), repr(error))


def _ask_pattern(text: str) -> None:
    """A glob and an expression alike are matched in bounded time (SEC-07)."""
    read_pattern(text).matches(PAGE.path)


def ask_settings(data: bytes) -> None:
    document = read_toml_text(_text(data), where="holdfast.toml")
    for read in (lambda: add_document(Reading(), document, ROOT / "holdfast.toml"), lambda: job_in(document, ROOT)):
        with suppress(HoldfastError):
            read()


def ask_names(data: bytes) -> None:
    """The name of a job that is made from a host: one that can be typed, and lie in a folder."""
    name = SiteRecipe(ManualClock()).default_name({"seeds": [_typed(data)]})
    must(0 < len(name.encode()) <= 100 and "/" not in name and name not in (".", ".."), f"the name {name!r}")
    try:
        check_name(name)
    except HoldfastError as error:
        raise Wrong(str(error)) from error


def ask_kept(data: bytes) -> None:
    """Documents of the ledger. A checkpoint whose hash is not that of its bytes is none."""
    whole = read_checkpoint(7, data, sha256(examples.CHECKPOINT).digest())
    must(whole is None or data == examples.CHECKPOINT, "a damaged checkpoint is taken for whole")
    read_checkpoint(7, data, sha256(data).digest())
    asking_again(data)
    for read in (read_bookmark, read_walk):
        with suppress(HoldfastError):
            read(data)


def ask_log(data: bytes) -> None:
    """Any value comes back from its line; any line is one of ours or is none."""
    text = _text(data)
    read_line(text)
    line = log_line(examples.NOW_MS, "info", "RUN", {"said": text[:500]})
    must((read_line(line) or {}).get("said") == text[:500], "a value is read back otherwise")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _typed(data: bytes) -> str:
    """As Python hands on what was typed: bytes that are no text are lone surrogates."""
    return data.decode("utf-8", "surrogateescape")


PARSERS = (
    Parser("url", ask_url, *examples.URLS, 2_000),
    Parser("robots.txt", ask_robots, *examples.ROBOTS, 1_200),
    Parser("sitemap", ask_sitemap, *examples.SITEMAPS, 3_000),
    Parser("links of a page", ask_links, *examples.PAGES, 600),
    Parser("elements of a page", ask_tree, *examples.TREES, 1_000),
    Parser("headers", ask_headers, *examples.HEADERS, 2_000),
    Parser("packed bodies", ask_body, *examples.BODIES, 300),
    Parser("filter", ask_where, *examples.FILTERS, 600),
    Parser("what is typed", ask_typed, *examples.TYPED, 300),
    Parser("settings", ask_settings, *examples.SETTINGS, 1_000),
    Parser("names of jobs", ask_names, *examples.HOSTS, 3_000),
    Parser("documents", ask_kept, *examples.DOCUMENTS, 5_000),
    Parser("log", ask_log, *examples.LOG, 2_000),
)

"""Attacks by a site: answers that cost time or memory, and pages that get secrets or stop a job."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable
from functools import partial

from backports import zstd

from bench.attack import Attack
from bench.attack_stage import Ended, Pages, Stage, counted, html, links
from fetch.hostile import answer, encoded

CHECKED_LINKS = 300
COOKIE_PAGES, COOKIES_EACH = 1_500, 45
BODIES, BODY_BYTES = 24, 49_000_000
CAPTCHA = b"<title>Help</title><p>Access denied? Then please solve the captcha.</p>"

SELECTS = """
from holdfast.recipe import Recipe, record, target
pond = Recipe("pond")

@pond.plan
def plan(params):
    yield target("http://marsh.test/", type="page")

@pond.step("page")
async def step(here, fetch):
    yield record(found=len((await fetch(here.url)).css("p")))
"""


def robots(rules: Callable[[], bytes]) -> Pages:
    paths = [f"/frogs/of/the/pond/number-{n}-{'g' * 40}" for n in range(CHECKED_LINKS)]
    pages = dict.fromkeys(paths, html(b"<p>a frog</p>"))
    return {"/": links(paths), "/robots.txt": answer(b"User-agent: *\n" + rules(), "Content-Type: text/plain"), **pages}


def many_stars() -> bytes:
    return b"Disallow: /" + b"*" * 500_000 + b"x\n"


def starred_rules() -> bytes:
    return b"".join(b"Disallow: /*%x*z\n" % n for n in range(33_000))


def with_start(body: bytes, *headers: str) -> Pages:
    return {"/": html(body, *headers)}


def beside(bad: bytes) -> Pages:
    """A start page that leads to a bad answer and to twenty others."""
    paths = [f"/{n}" for n in range(20)]
    return {"/": links(["/bad", *paths]), "/bad": bad, **dict.fromkeys(paths, html(b"<p>a frog</p>"))}


def short_lines() -> Pages:
    noise = random.Random(7).randbytes(16_600_000).hex("\n", 1).encode()
    packed = gzip.compress(b"http://marsh.test/\n" * 10 + noise, 1)
    return {
        "/": html(b"<p>a frog</p>"),
        "/robots.txt": answer(b"Sitemap: /list.txt.gz"),
        "/list.txt.gz": answer(packed),
    }


def cookies(_host: str, path: str) -> bytes:
    if path == "/":
        return links([f"/{n}" for n in range(COOKIE_PAGES)])
    return html(b"<p>a frog</p>", *(f"Set-Cookie: c{path[1:]}-{n}={'x' * 40}" for n in range(COOKIES_EACH)))


def large_bodies() -> Pages:
    body = answer(random.Random(7).randbytes(BODY_BYTES), "Content-Type: application/octet-stream")
    paths = [f"/{n}" for n in range(BODIES)]
    return {"/": links(paths), **dict.fromkeys(paths, body)}


def elsewhere(host: str, path: str) -> bytes | None:
    if path == "/robots.txt":
        return None
    return html(b"<a href=http://lake.test/page>x</a>") if host == "marsh.test" else html(b"<p>a toad</p>")


def help_page() -> Pages:
    paths = [f"/{n}" for n in range(30)]
    return {"/": links([*paths, "/help"]), "/help": html(CAPTCHA), **dict.fromkeys(paths, html(b"<p>a frog</p>"))}


def crawled(stage: Stage, *words: str) -> Ended:
    took = stage.crawl(*words)
    return Ended(counted(stage.job()) if took.in_time else "not ended", took)


def selected(stage: Stage) -> Ended:
    took = stage.run(SELECTS)
    return Ended(counted(stage.job()) if took.in_time else "not ended", took)


def leaked(stage: Stage, name: str) -> Ended:
    """A typed header, and what it was seen by."""
    done = stage.crawl("--header", f"{name}: a frog", "--scope", "any", hosts=("marsh.test", "lake.test"))
    seen = {host for host, path, head in stage.heads if f"{name}: a frog" in head and path != "/robots.txt"}
    if done.code == 2:
        return Ended("refused: a secret in the clear")
    return Ended(
        "goes to every host" if "lake.test" in seen else f"goes to {', '.join(sorted(seen)) or 'nobody'} alone"
    )


def paused(stage: Stage) -> Ended:
    stage.crawl()
    return Ended(counted(stage.job()))


def metadata(stage: Stage) -> Ended:
    """Addresses that hand out a machine's credentials: are they asked for, under `--allow-private`?"""
    refused = 0
    for address in METADATA:
        begin = ["crawl", f"http://{address}/", "--delay", "0", "--allow-private", "--timeout", "2s"]
        done = stage.plain(*begin, "--max-attempts", "1", "--ignore-robots")
        refused += "always refused" in done.stderr
    return Ended(f"{refused} of {len(METADATA)} refused")


METADATA = ("169.254.42.42", "[fd00:ec2::254]", "192.0.0.192", "[fd00:42::42]")
EMPTY_FRAME = zstd.compress(b"")
ROBOTS = "test_a_hostile_file_is_read_and_asked_in_bounded_time"
SHAPES = "test_a_hostile_shape_is_refused_or_costs_little"
BODY = "test_no_body_keeps_the_event_loop_or_much_of_the_processor"
LIST = "test_a_list_of_any_make_costs_bounded_memory_and_time_sec_07"
HEADER = "test_a_typed_header_reaches_the_seed_and_no_host_that_a_page_names"
B_IN_P = b"".join(b"<p><b id=%d></i>" % n for n in range(3_500))
LONG_PATH = "".join(f"/{n:x}" for n in range(300))[:780]  # no part twice: that would be a trap of its own
LONG_LINK = html(f"<a href={LONG_PATH}>x</a>".encode())
REGEX = ("--exclude", r"re:/.*/.*/.*/.*\.pdf$")

WEB = (
    Attack(9, f"robots.txt of 500,000 stars, {CHECKED_LINKS} links", ROBOTS, partial(robots, many_stars), crawled),
    Attack(9, f"robots.txt of 33,000 starred rules, {CHECKED_LINKS} links", ROBOTS, partial(robots, starred_rules),
           crawled),
    Attack(10, "53 kB of `<p><b id=N></i>` in a recipe", SHAPES, partial(with_start, B_IN_P), selected),
    Attack(10, "`<rt>` 100,000 times in a recipe", SHAPES, partial(with_start, b"<rt>" * 100_000), selected),
    Attack(11, "665 kB of empty zstd frames", BODY, lambda: beside(encoded(EMPTY_FRAME * 74_000, "zstd")), crawled),
    Attack(11, "900 kB of empty zstd frames, in gzip", BODY,
           lambda: beside(encoded(gzip.compress(EMPTY_FRAME * 100_000), "zstd", "gzip")), crawled),
    Attack(14, "one help page with *captcha* and *access denied*",
           "test_a_help_page_about_captchas_is_a_page_and_pauses_nothing", help_page, paused),
    Attack(14, r"`--exclude 're:/.*/.*/.*/.*\.pdf$'`, a link of 780 characters",
           "test_no_url_makes_a_pattern_slow_sec_07",
           lambda: {"/": LONG_LINK}, lambda stage: crawled(stage, *REGEX)),
    Attack(14, "a packed sitemap of 50 MB of short lines", LIST, short_lines, lambda stage: crawled(stage,
           "--sitemap", "auto")),
    Attack(14, f"{COOKIE_PAGES:,} pages that set {COOKIES_EACH} cookies each",
           "test_a_site_that_sets_new_cookies_with_every_page_costs_no_more_for_each",
           lambda: cookies, lambda stage: crawled(stage, "--cookies")),
    Attack(14, f"{BODIES} bodies of 49 MB at once", "test_bodies_wait_for_each_other_where_they_would_fill_the_memory",
           large_bodies, lambda stage: crawled(stage, "--concurrency", "24", "--per-host", "24")),
    *(Attack(14, f"`--header '{name}: …'` in the clear, a link to another host", HEADER, lambda: elsewhere,
             partial(leaked, name=name)) for name in ("PRIVATE-TOKEN", "X-Team")),
    Attack(16, "metadata addresses under `--allow-private`", "test_a_metadata_address_is_never_let_through",
           dict, metadata),
)  # fmt: skip

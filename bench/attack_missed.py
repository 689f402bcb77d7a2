"""Sites that nobody made to harm: their pages were missed in silence, or fetched against their robots.txt."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import partial

from bench.attack import Attack
from bench.attack_stage import Ended, Pages, Stage, html, links
from fetch.hostile import answer

HOST = "http://marsh.test"
FROG = html(b"<p>a frog</p>")
XML, TEXT = "Content-Type: application/xml", "Content-Type: text/plain"
LISTS = ("/robots.txt", "/list")  # and what begins so
SITEMAPS = 1_200
NUMBERED = tuple(f"/frogs/number-{n}" for n in range(100, 140))
LEADS_ON = b'<a href="/a">a</a><a href="/b">b</a>'
XHTML = b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>%s</body></html>'
RSS = b"<rss><channel><item><link>http://marsh.test/a</link></item><item><link>http://marsh.test/b</link></item></channel></rss>"
ATOM = (
    b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="http://marsh.test/a"/></entry>'
    b'<entry><link href="http://marsh.test/b"/></entry></feed>'
)


def site(start: bytes, *paths: str) -> Pages:
    """A start page, and pages that lead nowhere."""
    return {"/": start, **dict.fromkeys(paths, FROG)}


def two(start: bytes) -> Pages:
    return site(start, "/a", "/b")


def refreshing() -> Pages:
    return {
        "/": html(b'<meta http-equiv="refresh" content="0;url=api/index.html">'),
        "/api/index.html": links(["/a", "/b", "/c"]),
        **dict.fromkeys(("/a", "/b", "/c"), FROG),
    }


def frameset() -> Pages:
    return {
        "/": html(b"<frameset><frame src=list.html><frame src=main.html></frameset>"),
        "/list.html": links(["/a", "/b"]),
        **dict.fromkeys(("/main.html", "/a", "/b"), FROG),
    }


def listed(body: bytes, *kind: str, paths: tuple[str, ...] = ("/a", "/b"), name: str = "/list.xml") -> Pages:
    """A start page without links, and a list of the others that robots.txt names."""
    lists = {"/robots.txt": answer(f"Sitemap: {HOST}{name}".encode(), TEXT), name: answer(body, *(kind or (XML,)))}
    return site(FROG, *paths) | lists


def urlset(*places: str) -> bytes:
    return f"<urlset>{''.join(f'<url>{place}</url>' for place in places)}</urlset>".encode()


def locs(*paths: str) -> list[str]:
    return [f"<loc>{HOST}{path}</loc>" for path in paths]


def in_two_members(whole: bytes, name: str) -> Pages:
    """A gzip of which the first member ends inside a URL."""
    half = whole.index(b"number-119") + len(b"number-11")
    packed = gzip.compress(whole[:half]) + gzip.compress(whole[half:])
    return listed(packed, "Content-Type: application/x-gzip", paths=NUMBERED, name=name)


def cut_short() -> Pages:
    whole = urlset(A, *locs("/frogs"))
    return listed(whole[: whole.index(b"ogs<")], paths=("/a", "/frogs"))


def many_sitemaps() -> Pages:
    """Each names one page."""
    numbers = range(SITEMAPS)
    robots = "".join(f"Sitemap: {HOST}/list-{n}.xml\n" for n in numbers)
    lists = {f"/list-{n}.xml": answer(urlset(*locs(f"/{n}")), XML) for n in numbers}
    return site(FROG, *(f"/{n}" for n in numbers)) | lists | {"/robots.txt": answer(robots.encode(), TEXT)}


def untyped(body: bytes) -> Pages:
    return two(answer(body))


def encoded_query() -> Pages:
    """A search that understands the charset of its page alone."""
    start = answer("<a href=/search?q=тест>тест</a>".encode("cp1251"), "Content-Type: text/html; charset=windows-1251")
    return site(start, "/search?q=%F2%E5%F1%F2")


def barring(robots: bytes, *paths: str) -> Pages:
    """`/` leads to all of them."""
    return {"/robots.txt": answer(robots, TEXT), **site(links(paths), *paths)}


def asked(stage: Stage) -> set[str]:
    return {path for _, path, _ in stage.heads if not path.startswith(LISTS)}


def found(stage: Stage, make: Callable[[], Pages], *words: str, told: str = "") -> Ended:
    """How many of the site's pages were asked for, whether `told` was, and how the command ended."""
    took = stage.crawl(*words)
    pages = {path for path in make() if not path.startswith(LISTS)}
    others = len(asked(stage) - pages)
    wrong = f" and {others} that {'is' if others == 1 else 'are'} not there" if others else ""
    said = f", {'told' if told in took.err else 'not told'}" if told else ""
    return Ended(f"{len(asked(stage) & pages)} of {len(pages)} pages{wrong}{said}, exit code {took.code}")


def kept_to(stage: Stage, *words: str, path: str = "/private") -> Ended:
    """Is what the site does not want asked for?"""
    took = stage.crawl(*words)
    if took.code == 2:
        return Ended("no such option, exit code 2")
    return Ended(f"{path} is {'fetched' if path in asked(stage) else 'not fetched'}, exit code {took.code}")


def dead_end(stage: Stage) -> Ended:
    took = stage.crawl()
    why = ", and says why" if "nothing but what it began with" in took.err else ""
    return Ended(f"health {stage.job().get('health')}{why}, exit code {took.code}")


def noted(stage: Stage) -> Ended:
    stage.crawl()
    done = stage.plain("export", "pond", "-o", "-", "--fields", "url,noindex")
    if done.returncode == 2:
        return Ended("no such field, exit code 2")
    return Ended("told" if '"noindex":true' in done.stdout else "not told")


def text_of(stage: Stage, words: tuple[str, ...]) -> Ended:
    """Which of these words are in the text of the start page."""
    stage.crawl()
    out = stage.plain("export", "pond", "-o", "-", "--fields", "url,text").stdout
    there = sum(word in out for word in words)
    return Ended(f"{there} of {len(words)} words in its text")


def missed(point: int, what: str, guard: str, make: Callable[[], Pages], *words: str) -> Attack:
    return Attack(point, what, guard, make, lambda stage: found(stage, make, *words))


def barred(what: str, robots: bytes, path: str = "/private", guard: str = "") -> Attack:
    guard = guard or "test_a_robots_txt_is_read_leniently_where_its_wish_is_plain"
    return Attack(5, what, guard, partial(barring, robots, path), partial(kept_to, path=path))


def shy(*headers: str, tag: bytes = b"", link: bytes = b"") -> Pages:
    page = html(tag + (link or b"<a href=/private>x</a>"), *headers)
    return {"/": links(["/shy", "/a"]), "/shy": page, "/a": FROG, "/private": FROG}


REFRESH = "test_a_site_behind_a_refresh_and_a_frameset_is_crawled"
FRAMES = "test_frames_and_what_stands_beside_them_are_links"
LINKS = "test_links_are_read_by_the_rules_of_html"
SITEMAP = "test_a_sitemap_is_read_in_every_form_sit_02"
FEED = "test_a_feed_is_a_list_of_what_its_entries_lead_to_fro_15"
SNIFFED = "test_a_body_of_no_known_type_is_html_if_it_begins_like_html"
VISIBLE = "test_what_a_reader_would_see"
NOFOLLOW = "test_links_of_a_page_with_nofollow_are_left_told_and_explained"
AUTO = ("--sitemap", "auto")
A, B = locs("/a", "/b")
ATTRIBUTED = [place.replace("<loc>", '<loc priority="1">') for place in (A, B)]
CDATA = [f"<loc>{HOST}/<![CDATA[{name}]]></loc>" for name in ("a", "b")]
LATE_ROOT = b"<!--" + b"a frog " * 700 + b"-->" + urlset(A, B)

MISSED = (
    missed(1, "a start page of `<meta http-equiv=refresh>`", REFRESH, refreshing),
    missed(1, "a start page of a frameset", REFRESH, frameset),
    missed(1, "a link in `<noframes>`", FRAMES,
           lambda: two(html(b"<a href=/a>a</a><noframes><a href=/b>b</a></noframes>"))),
    missed(1, "a link in `<noscript>`", LINKS,
           lambda: two(html(b"<a href=/a>a</a><noscript><a href=/b>b</a></noscript>"))),
    missed(1, "an `<iframe>`", LINKS, lambda: two(html(b"<a href=/a>a</a><iframe src=/b></iframe>"))),
    missed(1, "a `<link rel=next>`, and one of `rel=alternate hreflang=fi`", LINKS,
           lambda: two(html(b"<link rel=next href=/a><link rel=alternate hreflang=fi href=/b>"))),
    Attack(1, "a start page of one script, and nothing else",
           "test_a_job_of_nothing_but_its_html_seed_exits_with_3_and_says_why",
           lambda: {"/": html(b"<div id=root></div><script src=/app.js></script>")}, dead_end),
    missed(2, "a sitemap of 40 pages, a gzip of two members", SITEMAP,
           lambda: in_two_members(urlset(*locs(*NUMBERED)), "/list.xml.gz"), *AUTO),
    missed(2, "a list of 40 lines, a gzip of two members", SITEMAP,
           lambda: in_two_members("\n".join(f"{HOST}{path}" for path in NUMBERED).encode(), "/list.txt.gz"), *AUTO),
    missed(2, f"robots.txt of {SITEMAPS:,} `Sitemap:` lines, a page in each",
           "test_robots_txt_may_name_any_number_of_sitemaps_fro_15", many_sitemaps, *AUTO),
    missed(2, "a sitemap with a commented-out entry", SITEMAP,
           lambda: listed(urlset(A, f"<!-- {locs('/old')[0]} -->", B)), *AUTO),
    missed(2, "a sitemap whose `<loc>` are of text and CDATA", SITEMAP, lambda: listed(urlset(*CDATA)), *AUTO),
    missed(2, "a sitemap whose `<loc>` have an attribute", SITEMAP, lambda: listed(urlset(*ATTRIBUTED)), *AUTO),
    missed(2, "a sitemap whose root stands behind 4,900 bytes of comment", SITEMAP, lambda: listed(LATE_ROOT), *AUTO),
    missed(2, "an RSS feed as sitemap", FEED, lambda: listed(RSS), *AUTO),
    missed(2, "an Atom feed as sitemap", FEED, lambda: listed(ATOM), *AUTO),
    Attack(2, "a sitemap that ends inside an entry", "test_a_list_that_is_cut_says_so_and_gives_what_it_has_fro_15",
           cut_short, lambda stage: found(stage, cut_short, *AUTO, told="ends before")),
    missed(3, "a page without Content-Type that begins with a byte order mark", SNIFFED,
           lambda: untyped(b"\xef\xbb\xbf<!doctype html>" + LEADS_ON)),
    missed(3, "a page without Content-Type that begins with a comment", SNIFFED,
           lambda: untyped(b"<!-- a frog --><html>" + LEADS_ON)),
    missed(3, "a page without Content-Type that begins with `<head>`", SNIFFED,
           lambda: untyped(b"<head><title>x</title></head>" + LEADS_ON)),
    missed(3, "XHTML sent as `application/xml`", "test_xml_whose_root_is_html_of_xhtml_is_a_page",
           lambda: two(answer(XHTML % LEADS_ON, XML))),
    Attack(4, "text behind a self-closed `<svg/>`", VISIBLE, lambda: {"/": html(b"<p>frog</p><svg/><p>toad</p>")},
           partial(text_of, words=("frog", "toad"))),
    Attack(4, "text behind a comment that ends with `--!>`", VISIBLE,
           lambda: {"/": html(b"<p>frog</p><!-- x --!><p>toad</p>")}, partial(text_of, words=("frog", "toad"))),
    missed(4, "a link to `?q=тест` on a page in windows-1251",
           "test_the_query_of_a_link_is_encoded_in_the_charset_of_its_page", encoded_query),
    missed(5, "`User-agent: *Fetch*` and `Disallow: /`, which is another crawler's",
           "test_a_wish_that_is_not_plain_or_not_to_us_forbids_nothing",
           lambda: barring(b"User-agent: *Fetch*\nDisallow: /\n", "/a", "/b")),
    barred("robots.txt in UTF-16", "\ufeffUser-agent: *\r\nDisallow: /private\r\n".encode("utf-16-le")),
    barred("`Disallow: /{frog}`, and a link that escapes the braces", b"User-agent: *\nDisallow: /{frog}\n",
           "/%7Bfrog%7D", "test_escaped_or_not_a_rule_means_the_same_path"),
    barred("`Disallow /private`, without its colon", b"User-agent: *\nDisallow /private\n"),
    barred("`Disalow: /private`", b"User-agent: *\nDisalow: /private\n"),
    barred("`User agent: *`", b"User agent: *\nDisallow: /private\n"),
    Attack(5, "`<meta name=robots content=nofollow>` and a link to /private", NOFOLLOW,
           lambda: shy(tag=b"<meta name=robots content=nofollow>"), kept_to),
    Attack(5, "`X-Robots-Tag: nofollow` and a link to /private", NOFOLLOW,
           lambda: shy("X-Robots-Tag: nofollow"), kept_to),
    Attack(5, "`rel=nofollow` of a link to /private, `--nofollow all`",
           "test_single_links_with_nofollow_are_followed_unless_asked_otherwise",
           lambda: shy(link=b"<a rel=nofollow href=/private>x</a>"),
           lambda stage: kept_to(stage, "--nofollow", "all")),
    Attack(5, "`<meta name=robots content=noindex>`, `export --fields url,noindex`",
           "test_pages_that_want_no_index_say_so_where_that_field_is_named",
           lambda: {"/": html(b"<meta name=robots content=noindex><p>x</p>")}, noted),
)  # fmt: skip

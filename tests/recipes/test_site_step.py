"""One page of a site worked by the real step over a made-up web: what comes of every kind of answer."""

from __future__ import annotations

import asyncio
import gzip
import json
from typing import Any

import pytest

from holdfast.clock import ManualClock
from holdfast.errors import FetchError
from holdfast.model.exchange import Headers, Response
from holdfast.model.keys import key_of, seed_address
from holdfast.model.outcome import Done, Failed, Outcome, Skipped
from holdfast.model.target import Claimed
from holdfast.recipe import Context
from holdfast.recipes.site.recipe import SiteRecipe

SALT = b"0123456789abcdef"
HTML = "text/html; charset=utf-8"
FROG = "https://marsh.test/frog/7"


class Web:
    """Answers by URL and notes what was asked for."""

    def __init__(self, **answers: Any) -> None:
        self.asked: list[str] = []
        self.sent: Headers = ()
        self.status, self.body = answers.pop("status", 200), answers.pop("body", b"")
        self.headers = {name.replace("_", "-"): value for name, value in answers.items()}

    async def fetch(self, url: str, headers: Headers = ()) -> Response:
        self.asked.append(url)
        self.sent = headers
        answered = {"content-type": HTML} | self.headers
        return Response(url=url, status=self.status, headers=tuple(answered.items()), body=self.body)


def work(web: Web, **place: Any) -> Outcome:
    return asyncio.run(step(web, **place))


async def step(
    web: Web,
    *,
    url: str = FROG,
    depth: int = 1,
    hops: int = 0,
    before: bytes = b"",
    kind: str = "page",
    nofollow: str = "pages",
    attempts: tuple[int, int] = (1, 1),
    **params: Any,
) -> Outcome:
    recipe = SiteRecipe(ManualClock(wall_ms=1_900_000_000_000))
    checked = recipe.check({"seeds": ["https://marsh.test/"]} | params)
    context = Context(
        params=checked, salt=SALT, chunking=recipe.chunking(checked), nofollow=nofollow, max_attempts=attempts[1]
    )
    address = seed_address(url)
    key = key_of(address, SALT)
    here = Claimed(1, 1, 1, key, address.url, address.host, kind, depth, None, hops, attempts[0], 0, before=before)
    return await recipe.step(here, web.fetch, context)


def urls(outcome: Done | Skipped) -> list[str]:
    return [each.origin + each.path for each in outcome.found]


def record_of(outcome: Outcome) -> dict[str, Any]:
    assert isinstance(outcome, Done)
    assert [record.kind for record in outcome.records] == ["page"]
    read: dict[str, Any] = json.loads(outcome.records[0].doc)
    return read


def test_a_page_gives_its_body_its_record_and_its_links_in_one_outcome() -> None:
    """FRO-03, CHK-05: what commits together is returned together."""
    body = b"<title>Frog 7</title><link rel=canonical href=/frog><a href=8>8</a><a href=//pond.test/>p</a>"
    outcome = work(Web(body=body))
    assert isinstance(outcome, Done)
    assert (outcome.disposition, outcome.status_code) == ("page", 200)
    assert outcome.body is not None
    assert outcome.body.content == body
    assert [(each.path, each.depth, each.hops) for each in outcome.found] == [("/frog/8", 2, 0)]
    assert [each.url for each in outcome.external] == ["https://pond.test/"]
    assert record_of(outcome) == {
        "title": "Frog 7",
        "status_code": 200,
        "fetched_at": 1_900_000_000_000,
        "content_type": HTML,
        "links": 2,
        "canonical": "https://marsh.test/frog",
    }


def test_a_canonical_link_is_a_field_and_skips_nothing() -> None:
    """FRO-09."""
    assert isinstance(work(Web(body=b"<link rel=canonical href=https://pond.test/>")), Done)


def test_base_href_is_honoured_unless_it_is_no_web_address() -> None:
    done = work(Web(body=b"<base href=/docs/><a href=a>"))
    assert isinstance(done, Done)
    assert urls(done) == ["https://marsh.test/docs/a"]
    done = work(Web(body=b"<base href=data:x><a href=a>"))
    assert isinstance(done, Done)
    assert urls(done) == ["https://marsh.test/frog/a"]


@pytest.mark.parametrize("media", ["application/pdf", "image/png", "text/plain"])
def test_what_is_not_html_is_stored_and_gives_no_links(media: str) -> None:
    outcome = work(Web(body=b"<a href=/x>", content_type=media))
    assert isinstance(outcome, Done)
    assert outcome.body is not None
    assert (outcome.disposition, outcome.body.media, outcome.found) == ("page", media, ())
    assert record_of(outcome)["title"] is None


def test_html_over_ten_megabytes_is_stored_not_parsed_and_says_so() -> None:
    """FRO-11, H4."""
    outcome = work(Web(body=b"<a href=/x>" + b" " * 10_000_000))
    assert isinstance(outcome, Done)
    assert outcome.body is not None
    assert outcome.found == ()
    assert record_of(outcome)["not_parsed"] == "HTML over 10 MB: stored, not parsed"


def test_links_beyond_the_cap_are_a_number_on_the_page() -> None:
    """FRO-11, H10: 10,000 in page order, the rest counted under `limit`."""
    outcome = work(Web(body="".join(f"<a href=/n/{n}>" for n in range(10_100)).encode()))
    assert (record_of(outcome)["links"], record_of(outcome)["limit"]) == (10_000, 100)


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "http_401"), (403, "http_403"), (404, "http_404"), (410, "http_410"), (429, "http_429"), (503, "http_5xx"),
     (206, "bad_response"), (304, "bad_response"), (300, "bad_response"), (101, "bad_response"), (999, "bad_response")],
)  # fmt: skip
def test_a_status_that_is_no_success_is_a_failure_with_its_code(status: int, code: str) -> None:
    outcome = work(Web(status=status, body=b"<a href=/x>"))
    assert outcome == Failed(code, f"HTTP {status}", status, None)


def test_a_failure_carries_the_retry_after_of_the_host() -> None:
    outcome = work(Web(status=429, retry_after="90"))
    assert isinstance(outcome, Failed)
    assert outcome.retry_after_s == 90.0


def test_a_failed_fetch_is_not_swallowed() -> None:
    class Dead(Web):
        async def fetch(self, url: str, headers: Headers = ()) -> Response:
            raise FetchError("network_error", "refused")

    with pytest.raises(FetchError, match="refused"):
        work(Dead())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_key_is_not_followed(status: int) -> None:
    """FRO-09: the target is a duplicate, the other one is enqueued at the same depth: one request each."""
    web = Web(status=status, location="/pond?x=1#part", body=b"<a href=/no>")
    outcome = work(web, depth=3, hops=4)
    assert isinstance(outcome, Skipped)
    assert (outcome.disposition, outcome.because) == ("duplicate", "redirects to https://marsh.test/pond?x=1")
    assert [(each.path, each.depth, each.hops, each.disposition) for each in outcome.found] == [("/pond?x=1", 3, 5, "")]
    assert web.asked == [FROG]


@pytest.mark.parametrize("location", ["http://marsh.test/frog/7", "https://marsh.test/frog/7/"])
def test_another_scheme_or_a_slash_is_another_key(location: str) -> None:
    """FRO-09."""
    outcome = work(Web(status=301, location=location))
    assert isinstance(outcome, Skipped)
    assert urls(outcome) == [location]


def test_a_redirect_to_itself_is_not_asked_again() -> None:
    """FRO-09, H5, L4: one request per attempt; without cookies the answer would stay the same."""
    web = Web(status=302, location="#again")
    outcome = work(web)
    assert isinstance(outcome, Failed)
    assert outcome.code == "too_many_redirects"
    assert len(web.asked) == 1


def test_a_chain_of_more_than_ten_hops_ends() -> None:
    """FRO-09: the hops are carried with the target."""
    assert isinstance(work(Web(status=301, location="/x"), hops=9), Skipped)
    outcome = work(Web(status=301, location="/x"), hops=10)
    assert isinstance(outcome, Failed)
    assert outcome.code == "too_many_redirects"


def test_a_redirect_out_of_scope_becomes_an_external_link() -> None:
    """FRO-09."""
    outcome = work(Web(status=301, location="https://pond.test/x"))
    assert isinstance(outcome, Skipped)
    assert (outcome.disposition, outcome.found) == ("out_of_scope", ())
    assert [each.url for each in outcome.external] == ["https://pond.test/x"]


def test_a_redirecting_seed_takes_its_scope_along() -> None:
    """FRO-09: scope follows the seed's final host; what stands on that host's pages belongs to the site."""
    moved = work(Web(status=301, location="https://www.marsh.test/"), url="https://marsh.test/", depth=0)
    assert isinstance(moved, Skipped)
    assert (moved.disposition, [each.depth for each in moved.found]) == ("duplicate", [0])
    page = work(Web(body=b"<a href=/x>"), url=urls(moved)[0], depth=0, hops=1)
    assert isinstance(page, Done)
    assert urls(page) == ["https://www.marsh.test/x"]


def test_a_redirect_to_an_excluded_page_records_it_as_excluded() -> None:
    outcome = work(Web(status=301, location="/private/x"), exclude=["/private/*"])
    assert isinstance(outcome, Skipped)
    assert outcome.disposition == "duplicate"
    assert [(each.disposition, each.rule) for each in outcome.found] == [("excluded", "exclude")]


@pytest.mark.parametrize(
    "location", [None, "", "ftp://marsh.test/", "javascript:x", "http://", "https://u:p@marsh.test/"]
)
def test_a_redirect_to_no_usable_url_fails(location: str | None) -> None:
    """worlds §6: `bad_url`."""
    outcome = work(Web(status=302) if location is None else Web(status=302, location=location))
    assert isinstance(outcome, Failed)
    assert outcome.code == "bad_url"


def test_a_header_that_no_json_can_hold_does_not_break_the_record() -> None:
    assert record_of(work(Web(content_type="text/html; x=\udcff")))["content_type"] == "text/html; x=?"


TAG, WEAK, DATE = '"f7-19"', 'W/"f7-19"', "Tue, 17 Nov 2026 02:46:25 GMT"


@pytest.mark.parametrize("tag", [TAG, WEAK])
def test_what_the_answer_says_of_its_version_is_kept_and_asked_by(tag: str) -> None:
    first = work(Web(body=b"<title>Frogs</title>", etag=tag, last_modified=DATE))
    kept = record_of(first)
    assert (kept["etag"], kept["last_modified"]) == (tag, DATE)
    web = Web(status=304)
    again = work(web, before=json.dumps(kept).encode())
    assert web.sent == (("if-none-match", tag), ("if-modified-since", DATE))
    assert isinstance(again, Done)
    assert again == Done("unchanged", status_code=304)


def test_an_answer_that_says_nothing_of_its_version_adds_nothing_to_the_record() -> None:
    kept = record_of(work(Web(body=b"<title>Frogs</title>")))
    assert not {"etag", "last_modified"} & set(kept)
    web = Web(body=b"<title>Frogs</title>")
    work(web, before=json.dumps(kept).encode())
    assert web.sent == ()


def test_a_date_of_the_second_of_the_answer_is_not_asked_by() -> None:
    """The page may change once more within that second, and would be called unchanged for ever."""
    assert "last_modified" not in record_of(work(Web(last_modified=DATE, date=DATE)))
    assert record_of(work(Web(last_modified=DATE, date="Tue, 17 Nov 2026 02:46:26 GMT")))["last_modified"] == DATE


@pytest.mark.parametrize("tag", ["*", "f7-19", '""', '"' + "f" * 201 + '"', '"f"\r\nx: y', '"frö"', '"f", "g"'])
@pytest.mark.parametrize("date", ["yesterday", "17 Nov 2026", DATE + "\r\nx: y", "Tue, 17 Nov 2026 02:46:25 CET"])
def test_a_version_without_the_form_of_one_is_neither_kept_nor_sent(tag: str, date: str) -> None:
    """`*` would mean any page at all, and a line break another header; a record may come from anybody's snapshot."""
    kept = record_of(work(Web(etag=tag, last_modified=date)))
    assert not {"etag", "last_modified"} & set(kept)
    web = Web()
    work(web, before=json.dumps({"etag": tag, "last_modified": date}).encode())
    assert web.sent == ()


@pytest.mark.parametrize("before", [b"", b"{}", b"[]", b"{", b'{"etag":7}'])
def test_a_304_that_nobody_asked_for_is_no_answer(before: bytes) -> None:
    outcome = work(Web(status=304), before=before)
    assert isinstance(outcome, Failed)
    assert (outcome.code, outcome.status_code) == ("bad_response", 304)


def test_a_page_that_changed_is_read_anew_although_it_was_asked_by_its_version() -> None:
    web = Web(body=b"<title>Toads</title><a href=/toad>x</a>", etag='"8"')
    outcome = work(web, before=json.dumps({"etag": TAG}).encode())
    assert isinstance(outcome, Done)
    assert (web.sent, outcome.disposition, urls(outcome)) == (
        (("if-none-match", TAG),), "page", ["https://marsh.test/toad"],
    )  # fmt: skip
    assert record_of(outcome)["etag"] == '"8"'


def test_a_long_list_is_read_beside_the_loop_and_not_on_it_sec_07() -> None:
    """SEC-07: whatever else is in hand goes on meanwhile, the heartbeat of the lease above all."""
    body = "".join(f"<url><loc>https://marsh.test/p/{n}</loc></url>" for n in range(40_000)).encode()

    async def beside() -> tuple[Outcome, int]:
        reading = asyncio.create_task(step(Web(body=b"<urlset>" + body + b"</urlset>"), kind="sitemap"))
        turns = 0
        while not reading.done():
            await asyncio.sleep(0.01)
            turns += 1
        return reading.result(), turns

    outcome, turns = asyncio.run(beside())
    assert isinstance(outcome, Done)
    assert (outcome.disposition, len(outcome.found), outcome.because) == ("sitemap", 40_000, "")
    assert turns > 5


def test_what_a_list_has_and_is_not_taken_is_counted_fro_15() -> None:
    listed = ["https://marsh.test/a", "/b", "https://elsewhere.test/", "ftp://marsh.test/c", "", "https://marsh.test/a"]
    body = "".join(f"<url><loc>{url}</loc></url>" for url in listed)
    outcome = work(Web(body=f"<urlset>{body}".encode()), kind="sitemap")
    assert isinstance(outcome, Done)
    assert outcome.disposition == "in_part"
    said = "lists 2 pages of this site; left out: 1 of other sites, 2 that can be read as no URL; not read to its end: "
    assert outcome.because == said + "it ends before its <urlset> does"
    index = work(Web(body=f"<sitemapindex>{body}</sitemapindex>".encode()), kind="sitemap")
    assert isinstance(index, Done)
    assert index.because == "lists 2 sitemaps of this site; left out: 1 of other sites, 2 that can be read as no URL"


@pytest.mark.parametrize("cut", [b"gzip", b"xml"])
def test_a_list_that_ends_early_is_asked_for_again_and_taken_in_part_at_last_fro_15(cut: bytes) -> None:
    """FRO-15: a connection that broke once is no reason to miss the rest of a site."""
    whole = b"<urlset>" + b"".join(b"<url><loc>/%d</loc></url>" % n for n in range(500)) + b"</urlset>"
    web = Web(body=whole[:-40] if cut == b"xml" else gzip.compress(whole)[:-20])
    for attempt in (1, 2):
        early = work(web, kind="sitemap", attempts=(attempt, 3))
        assert isinstance(early, Failed)
        assert early.code == "body_incomplete"
    last = work(web, kind="sitemap", attempts=(3, 3))
    assert isinstance(last, Done)
    assert last.disposition == "in_part"
    assert len(last.found) > 400


def test_robots_txt_that_names_more_sitemaps_than_are_taken_says_so_fro_15() -> None:
    lines = "\n".join(f"Sitemap: https://marsh.test/{n}.xml" for n in range(50_002))
    outcome = work(Web(body=lines.encode()), url="https://marsh.test/robots.txt", kind="robots")
    assert isinstance(outcome, Skipped)
    assert len(outcome.found) == 50_000
    assert (outcome.disposition, outcome.because) == (
        "in_part",
        "names 50000 sitemaps of this site; left out: 2 behind the first 50000",
    )


REFRESH = b'<title>Gone</title><meta http-equiv="refresh" content="0; url=/pond"><a href=/frog/8>8</a>'


def done(web: Web, **more: Any) -> Done:
    outcome = work(web, **more)
    assert isinstance(outcome, Done)
    return outcome


@pytest.mark.parametrize("seconds", [0, 5, 300])
def test_a_refresh_is_a_redirect_that_keeps_its_page(seconds: int) -> None:
    """FRO-13: the other URL is a target of the same depth, one hop further; links are one deeper as ever."""
    outcome = done(Web(body=REFRESH.replace(b'"0;', f'"{seconds};'.encode())), depth=3, hops=2)
    assert (outcome.disposition, outcome.because) == ("page", "refreshes to https://marsh.test/pond")
    assert outcome.body is not None
    assert [(each.path, each.depth, each.hops) for each in outcome.found] == [("/pond", 3, 3), ("/frog/8", 4, 0)]
    assert record_of(outcome)["refresh"] == "https://marsh.test/pond"


def test_the_refresh_header_is_a_refresh() -> None:
    """FRO-13."""
    assert urls(done(Web(body=b"<p>x", refresh="0;url=/pond"))) == ["https://marsh.test/pond"]


@pytest.mark.parametrize("content", ["300", "0; url=", "0; url=/frog/7#top", "0;url=javascript:x", "soon"])
def test_a_page_that_only_loads_itself_again_is_a_page(content: str) -> None:
    outcome = done(Web(body=f'<meta http-equiv=refresh content="{content}"><a href=8>'.encode()))
    assert (urls(outcome), outcome.because) == (["https://marsh.test/frog/8"], "")


def test_a_link_to_where_the_page_refreshes_to_is_no_second_target() -> None:
    outcome = done(Web(body=REFRESH + b"<a href=/pond>"))
    assert [(each.path, each.depth) for each in outcome.found] == [("/pond", 1), ("/frog/8", 2)]


def test_a_chain_of_refreshes_ends_after_ten_hops_and_is_told() -> None:
    """FRO-13: bounded as redirects are; the page is kept, and what was not followed counted."""
    assert urls(done(Web(body=REFRESH), hops=9))[0] == "https://marsh.test/pond"
    outcome = done(Web(body=REFRESH), hops=10)
    assert urls(outcome) == ["https://marsh.test/frog/8"]
    assert "hop 11 of a chain, not followed" in outcome.because
    assert record_of(outcome)["limit"] == 1


def test_a_refresh_is_judged_by_the_scope_unless_a_seed_leads_there_at_once() -> None:
    """FRO-13, FRO-09: a seed that moves at once takes its scope along; one that stays to be read does not."""
    away = b'<meta http-equiv=refresh content="%d;url=https://pond.test/x">'
    outcome = done(Web(body=away % 0))
    assert (outcome.found, [each.url for each in outcome.external]) == ((), ["https://pond.test/x"])
    moved = done(Web(body=away % 0), depth=0)
    assert [(each.origin, each.depth, each.hops) for each in moved.found] == [("https://pond.test", 0, 1)]
    assert done(Web(body=away % 60), depth=0).found == ()
    left = done(Web(body=REFRESH), exclude=["/pond"])
    assert [(each.path, each.disposition) for each in left.found] == [("/pond", "excluded"), ("/frog/8", "")]


def test_a_frameset_leads_to_its_frames() -> None:
    """FRO-13."""
    body = b"<base href=/docs/><frameset><frame src=a.html><noframes><a href=b.html></noframes></frameset>"
    assert urls(done(Web(body=body))) == ["https://marsh.test/docs/a.html", "https://marsh.test/docs/b.html"]


@pytest.mark.parametrize(
    ("charset", "href", "path"),
    [
        ("windows-1251", "/p?q=тест#х", "/p?q=%F2%E5%F1%F2"),
        ("windows-1251", "/тест?q=a", "/%D1%82%D0%B5%D1%81%D1%82?q=a"),
        ("windows-1251", "/p?q=a&amp;b=é€", "/p?q=a&b=%26%23233%3B%88"),
        ("shift_jis", "/p?q=表", "/p?q=%95\\"),
        ("iso-2022-jp", "/p?q=あ", "/p?q=%1B$B$%22%1B(B"),
        ("utf-8", "/p?q=тест", "/p?q=%D1%82%D0%B5%D1%81%D1%82"),
        ("utf-16le", "/p?q=тест", "/p?q=%D1%82%D0%B5%D1%81%D1%82"),
    ],
)
def test_the_query_of_a_link_is_encoded_in_the_charset_of_its_page(charset: str, href: str, path: str) -> None:
    """FRO-14: the query and nothing else; what the charset cannot spell becomes a character reference."""
    body = f"<a href='{href}'>x</a>".encode(charset, "xmlcharrefreplace")
    outcome = done(Web(body=body, content_type=f"text/html; charset={charset}"))
    assert [each.path for each in outcome.found] == [path]


@pytest.mark.parametrize(
    ("headers", "body", "count"),
    [
        ({"content_type": ""}, b"\xef\xbb\xbf<!-- frogs --><html><a href=/x>", 1),
        ({"content_type": "", "x_content_type_options": "nosniff"}, b"<html><a href=/x>", 0),
        ({"content_type": "application/xml"}, b"<html xmlns='http://www.w3.org/1999/xhtml'><script/><a href='/x'/>", 1),
        ({"content_type": "application/xml"}, b"<rss><a href='/x'/></rss>", 0),
        ({"content_type": "text/plain"}, b"<html><a href=/x>", 0),
    ],
)
def test_links_are_read_from_what_is_html_by_its_bytes(headers: dict[str, str], body: bytes, count: int) -> None:
    """FRO-14."""
    assert len(done(Web(body=body, **headers)).found) == count


LINKS = b"<a href=8>8</a><a href=9>9</a><a href=//pond.test/>p</a>"
NOFOLLOW = b'<meta name="robots" content="noindex, nofollow">' + LINKS


@pytest.mark.parametrize("web", [Web(body=NOFOLLOW), Web(body=LINKS, x_robots_tag="none")])
def test_the_links_of_a_page_that_asks_so_are_left_counted_and_told(web: Web) -> None:
    outcome = done(web)
    assert (outcome.disposition, outcome.rule, outcome.found) == ("nofollow", "nofollow", ())
    assert "2 of this site were left" in outcome.because
    assert [each.url for each in outcome.external] == ["https://pond.test/"]
    assert (record_of(outcome)["nofollow"], record_of(outcome)["noindex"]) == (2, True)


def test_nofollow_off_follows_and_noindex_is_still_noted() -> None:
    outcome = done(Web(body=NOFOLLOW), nofollow="off")
    assert (outcome.disposition, len(outcome.found), outcome.because) == ("page", 2, "")
    assert record_of(outcome)["noindex"] is True
    assert "nofollow" not in record_of(outcome)


def test_a_redirect_by_refresh_is_no_link_and_nofollow_does_not_stop_it() -> None:
    outcome = done(Web(body=REFRESH, x_robots_tag="nofollow"))
    assert urls(outcome) == ["https://marsh.test/pond"]


def test_single_links_with_nofollow_are_followed_unless_asked_otherwise() -> None:
    body = b'<a href="8" rel="nofollow">8</a><a href="9">9</a>'
    assert [each.path for each in done(Web(body=body)).found] == ["/frog/8", "/frog/9"]
    outcome = done(Web(body=body), nofollow="all")
    assert [each.path for each in outcome.found] == ["/frog/9"]
    assert (outcome.disposition, outcome.rule, record_of(outcome)["nofollow"]) == ("page", "nofollow", 1)


@pytest.mark.parametrize(
    ("body", "rule", "because"),
    [
        (b"<div id=root></div><script src=app.js></script>", "dead_end", "no link to another page stands in its HTML"),
        (b"<a href=#top><a href=/frog/7><a href=mailto:frog@marsh.test>", "dead_end", "no link to another page"),
        (b"<a href=https://pond.test/1><a href=https://pond.test/2>", "dead_end", "all 2 links of its HTML lead out"),
        (b"<meta name=robots content=nofollow><a href=/x>", "dead_end", "it asks for its links not to be followed"),
        (b"<meta http-equiv=refresh content=0;/app>", "refresh", "refreshes to https://marsh.test/app"),
        (b"<a href=/x>" + b" " * 10_000_000, "dead_end", "HTML over 10 MB"),
        (b"<a href=/x>", "", ""),
        (b"<a href=/private>", "", ""),
    ],
    ids=["scripts", "itself", "elsewhere", "nofollow", "refresh", "large", "link", "left out"],
)  # fmt: skip
def test_a_seed_whose_html_leads_nowhere_is_marked_with_the_cause(body: bytes, rule: str, because: str) -> None:
    """FRO-13."""
    outcome = done(Web(body=body), depth=0, exclude=["/private"])
    assert outcome.rule == rule
    assert outcome.because.startswith(because)
    assert done(Web(body=body), depth=1, exclude=["/private"]).rule in ("", "nofollow")


def test_a_seed_that_was_asked_for_alone_is_no_dead_end() -> None:
    """FRO-13: neither by --max-depth 0, nor by a prefix that a person drew, nor where it is no HTML."""
    assert done(Web(body=b"<p>x"), depth=0, max_depth=0).rule == ""
    assert done(Web(body=b"<p>x"), depth=0, sitemap="only").rule == ""
    assert done(Web(body=b"<a href=/x>"), depth=0, seeds=["https://marsh.test/frog/"], scope="prefix").rule == ""
    assert done(Web(body=b"<p>x"), depth=0, seeds=["https://marsh.test/frog/"], scope="prefix").rule == "dead_end"
    assert done(Web(body=b"x", content_type="text/plain"), depth=0).rule == ""
